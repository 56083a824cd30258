-- Tenants, keys, tasks and lanes: small tables, read through caches.

-- name: tenant_list
select id, name, weight, created_at from tenant order by name;

-- name: tenant_create
-- $1 name, $2 weight
insert into tenant (name, weight) values ($1, $2) on conflict do nothing returning id, name, weight, created_at;

-- name: tenant_change
-- $1 name, $2 weight
update tenant set weight = $2 where name = $1 returning id, name, weight, created_at;

-- name: key_find
-- A key by its hash, if it may be used now.
-- $1 hash
select k.id, k.tenant_id, k.name, k.role, t.name as tenant, k.expires_at, clock_timestamp() as now
from api_key k left join tenant t on t.id = k.tenant_id
where k.hash = $1 and k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp());

-- name: key_create
-- $1 tenant or null, $2 name, $3 role, $4 prefix, $5 hash, $6 seconds to live or null
insert into api_key (tenant_id, name, role, prefix, hash, expires_at)
values ($1, $2, $3, $4, $5, clock_timestamp() + $6::float * interval '1 second')
returning id, tenant_id, name, role, prefix, created_at, expires_at, revoked_at, last_used_at;

-- name: key_list
-- $1 tenant or null for any
select k.id, k.name, k.role, k.prefix, k.created_at, k.expires_at, k.revoked_at, k.last_used_at, t.name as tenant
from api_key k left join tenant t on t.id = k.tenant_id
where $1::int is null or k.tenant_id = $1
order by k.id desc
limit 1000;

-- name: key_revoke
-- $1 key, $2 tenant or null for any
update api_key set revoked_at = coalesce(revoked_at, clock_timestamp())
where id = $1 and ($2::int is null or tenant_id = $2)
returning id, tenant_id, name, role, prefix, created_at, expires_at, revoked_at, last_used_at;

-- name: key_touch
-- $1 keys that were used of late
update api_key set last_used_at = clock_timestamp() where id = any ($1::int[]);

-- name: key_by_name
-- All keys of a name: a rotated key leaves its predecessor's jobs behind.
-- $1 tenant or null for any, $2 name
select id from api_key where name = $2 and ($1::int is null or tenant_id = $1 or tenant_id is null);

-- name: task_put
-- A function takes no place of a task that is data, nor the other way round: then nothing is done.
-- $1 tenant, $2 name, $3 queue, $4 priority, $5 max attempts, $6 timeout seconds, $7 retry, $8 params schema,
-- $9 description, $10 the rest as JSON, $11 placement, $12 secrets, $13 version, 0 for a function
with put as (
    insert into task (tenant_id, name, queue, priority, max_attempts, timeout_seconds, retry, params_schema,
                      description, extra, placement, secrets, version)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
    on conflict (tenant_id, name) do update
    set queue = $3, priority = $4, max_attempts = $5, timeout_seconds = $6, retry = $7, params_schema = $8,
        description = $9, extra = $10, placement = $11, secrets = $12, version = $13, updated_at = clock_timestamp()
    where (task.version = 0) = ($13::int = 0)
      and (task.queue, task.priority, task.max_attempts, task.timeout_seconds, task.retry, task.params_schema,
           task.description, task.extra, task.placement, task.version)
          is distinct from ($3, $4::smallint, $5::int, $6::float, $7, $8, $9, $10, $11, $13::int)
    returning version
)
select version, true as done from put
union all
select t.version, false from task t where t.tenant_id = $1 and t.name = $2 and not exists (select from put);

-- name: task_lanes
-- Makes the usual lanes of a task ahead, so that a user's own transaction need not: it would keep others waiting.
-- $1 tenant, or 0 for all, $2 task, $3 queue, $4 placement, $5 whether its jobs are emergencies
insert into lane (tenant_id, queue, task, requires, urgent)
select t.id, $3, $2, $4, $5 from tenant t
where (t.id = $1 or $1 = 0)
  and not exists (select from lane l where l.tenant_id = t.id and l.task = $2 and l.queue = $3
                    and l.concurrency_key = '' and l.requires = $4 and l.urgent = $5)
on conflict do nothing;

-- name: task_get
-- The task that the tenant means by a name.
-- $1 tenant, $2 name
select t.*, n.name as tenant, o.with_secrets, false as cut
from task_meant($1, $2) o
join task t on t.tenant_id = o.owner_id and t.name = $2
left join tenant n on n.id = t.tenant_id;

-- name: task_get_many
-- The same of many tenants and names, `asked_by` telling which.
-- $1 tenants, $2 names
select w.tenant_id as asked_by, t.*
from unnest($1::int[], $2::text[]) as w (tenant_id, name)
cross join lateral task_meant(w.tenant_id, w.name) o
join task t on t.tenant_id = o.owner_id and t.name = w.name;

-- name: task_overview
-- A long definition is left out: a list of a thousand scripts must not be a gigabyte.
-- $1 tenant or null for any; those of tenant 0 belong to everybody, and some are shared
select t.tenant_id, t.name, t.queue, t.priority, t.max_attempts, t.timeout_seconds, t.retry, t.params_schema,
       t.description, case when octet_length(t.extra) <= 16384 then t.extra end as extra, t.placement, t.updated_at,
       t.version, coalesce(octet_length(t.extra) > 16384, false) as cut,
       n.name as tenant, coalesce(s.with_secrets, false) as with_secrets
from task t
left join tenant n on n.id = t.tenant_id
left join lateral (
    select with_secrets from task_share
    where guest_id in ($1, 0) and task_share.task = t.name and task_share.tenant_id = t.tenant_id
    order by guest_id desc
    limit 1
) s on t.tenant_id <> $1
where $1::int is null or t.tenant_id in ($1, 0) or s.with_secrets is not null
order by t.tenant_id, t.name
limit 5000;

-- name: lane_intern
-- The ids of lanes, made where they are new. One statement, safe with any number of servers at once.
-- $1 tenants, $2 queues, $3 tasks, $4 concurrency keys, $5 placements, $6 whether they are for emergencies
with wanted as (
    select distinct * from unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bool[])
        as w (tenant_id, queue, task, concurrency_key, requires, urgent)
), made as (
    insert into lane (tenant_id, queue, task, concurrency_key, requires, urgent)
    select tenant_id, queue, task, concurrency_key, requires, urgent from wanted
    on conflict do nothing
    returning id, tenant_id, queue, task, concurrency_key, requires, urgent
)
select id, tenant_id, queue, task, concurrency_key, requires, urgent from made
union
select l.id, l.tenant_id, l.queue, l.task, l.concurrency_key, l.requires, l.urgent
from wanted w join lane l using (tenant_id, queue, task, concurrency_key, requires, urgent);

-- name: lane_load
-- $1 lanes
select id, tenant_id, queue, task, concurrency_key, requires, urgent from lane where id = any ($1::int[]);

-- name: lane_select
-- The lanes of tenants that match a filter.
-- $1 tenants, $2 queue or null, $3 task or null
select id from lane where tenant_id = any ($1::int[]) and ($2::text is null or queue = $2) and ($3::text is null or task = $3);
