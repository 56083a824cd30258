-- Quotas, the servers that share them, and what overload drops.

-- name: quota_load
-- All quotas, with the keys that each user's is about.
select q.scope, q.tenant_id, q.name, q.submit_rate, q.burst, q.max_pending,
       array(select k.id from api_key k
             where q.scope = 'user' and k.name = q.name and coalesce(k.tenant_id, 0) = q.tenant_id) as keys
from quota q
order by q.scope, q.tenant_id, q.name;

-- name: quota_list
-- $1 tenant or null for any
select q.scope, t.name as tenant, q.name, q.submit_rate, q.burst, q.max_pending, q.updated_at, q.updated_by
from quota q left join tenant t on t.id = q.tenant_id
where $1::int is null or q.tenant_id = $1
order by q.scope, t.name nulls first, q.name
limit 10000;

-- name: quota_put
-- $1 scope, $2 tenant, $3 name, $4 rate, $5 burst, $6 max pending, $7 who
insert into quota (scope, tenant_id, name, submit_rate, burst, max_pending, updated_by)
values ($1, $2, $3, $4, $5, $6, $7)
on conflict (scope, tenant_id, name) do update
set submit_rate = $4, burst = $5, max_pending = $6, updated_by = $7, updated_at = clock_timestamp()
returning scope, (select t.name from tenant t where t.id = quota.tenant_id) as tenant, name, submit_rate, burst,
          max_pending, updated_at, updated_by;

-- name: quota_remove
-- $1 scope, $2 tenant, $3 name
delete from quota where scope = $1 and tenant_id = $2 and name = $3 returning name;

-- name: hold_add
-- Jobs of users who may have only so many pending ones.
-- $1 tenants, $2 keys, $3 ids
insert into quota_hold (tenant_id, key_id, id) select * from unnest($1::int[], $2::int[], $3::uuid[])
on conflict do nothing;

-- name: hold_clean
-- Forgets jobs that no longer wait, and those of users who are free again.
-- $1 keys that are held to a number
delete from quota_hold h
where h.key_id <> all ($1::int[]) or not exists (
    select from job j
    where j.tenant_id = h.tenant_id and j.id = h.id and (
        exists (select from ready r where r.lane_id = j.lane_id and r.rank = j.rank and r.id = j.id)
        or exists (select from timer t where t.lane_id = j.lane_id and t.id = j.id)
        or exists (select from blocked b where b.lane_id = j.lane_id and b.id = j.id)));

-- name: hold_count
-- $1 keys
select key_id, count(*) as jobs from quota_hold where key_id = any ($1::int[]) group by key_id;

-- name: server_beat
-- A server says that it lives. Returns how many do.
-- $1 id, $2 host, $3 pid, $4 version, $5 load, $6 seconds after which a silent one no longer counts
with mine as (
    insert into server (id, host, pid, version, load) values ($1, $2, $3, $4, $5)
    on conflict (id) do update set seen_at = clock_timestamp(), load = excluded.load
), gone as (
    delete from server where seen_at < clock_timestamp() - interval '1 day'
)
select 1 + count(*) as alive from server
where id <> $1 and seen_at > clock_timestamp() - $6 * interval '1 second';

-- name: server_leave
-- $1 id
delete from server where id = $1;

-- name: shed_candidates
-- Ready jobs of at most priority $5 in a stretch of `ready`, in the order of its key; and where the stretch ended.
-- $1 lane, $2 rank, $3 id to start after, $4 rows, $5 priority
with stretch as materialized (
    select lane_id, rank, id from ready
    where (lane_id, rank, id) > ($1::int, $2::bigint, $3::uuid)
    order by lane_id, rank, id
    limit $4
)
select l.tenant_id, s.lane_id, s.rank, s.id, false as is_end
from stretch s
cross join lateral (select tenant_id from lane where lane.id = s.lane_id limit 1) l
cross join lateral (
    select priority from job where job.tenant_id = l.tenant_id and job.id = s.id limit 1
) j
where j.priority <= $5
union all
(select null, lane_id, rank, id, true from stretch order by lane_id desc, rank desc, id desc limit 1);

-- name: job_shed
-- Ends ready jobs as dropped. Those that a worker got first are left alone. Returns what was dropped.
-- $1 tenants, $2 lanes, $3 ranks, $4 ids, $5 error
with asked as materialized (
    select r.place, a.tenant_id, a.lane_id, a.id, r.attempt
    from unnest($1::int[], $2::int[], $3::bigint[], $4::uuid[]) as a (tenant_id, lane_id, rank, id)
    cross join lateral (
        select ready.ctid as place, attempt from ready
        where ready.lane_id = a.lane_id and ready.rank = a.rank and ready.id = a.id
        limit 1
        for update skip locked
    ) r
), gone as (
    delete from ready where ctid = any (array(select place from asked)) -- all of them: we hold their locks
), ended as (
    insert into outcome (id, finished_at, tenant_id, attempt, state, ending, error)
    select id, clock_timestamp(), tenant_id, attempt, 'dropped', 'cancelled', $5 from asked
)
select id::text as id, lane_id, attempt from asked;
