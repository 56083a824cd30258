-- Tasks that are data: their versions, who shares them, and what a worker must know to run one of their jobs.

-- name: brief_get
-- The task of a job, for the worker that holds this very attempt. No row: it does not. Null names: the task is gone.
-- $1 worker, $2 lane, $3 id, $4 attempt
select l.tenant_id as lane_tenant_id, n.name as lane_tenant, l.task as lane_task, l.requires as lane_requires,
       w.tenant_id as worker_tenant_id, o.with_secrets, t.*
from lease le
join worker w on w.id = le.worker_id
join lane l on l.id = le.lane_id
join tenant n on n.id = l.tenant_id
cross join lateral task_meant(l.tenant_id, l.task) o
left join task t on t.tenant_id = o.owner_id and t.name = l.task
where le.lane_id = $2 and le.id = $3 and le.attempt = $4 and le.worker_id = $1;

-- name: task_lock
-- One change of a task at a time.
-- $1 tenant, $2 task
select pg_advisory_xact_lock(hashtextextended('tenant ' || $1::int || ' task ' || $2::text, 0));

-- name: task_current
-- What is in force under a name, and the last version there ever was. Null version: there is no such task now.
-- $1 tenant, $2 task
select t.version, v.definition, t.updated_at,
       coalesce((select max(o.version) from task_version o where o.tenant_id = $1 and o.task = $2), 0) as last
from (select $1::int as tenant_id, $2::text as name) w
left join task t on t.tenant_id = w.tenant_id and t.name = w.name
left join task_version v on v.tenant_id = t.tenant_id and v.task = t.name and v.version = t.version;

-- name: task_own
-- The definitions in force of a tenant's own tasks that are data.
-- $1 tenant, $2 task, or null for all
select v.definition
from task t join task_version v on v.tenant_id = t.tenant_id and v.task = t.name and v.version = t.version
where t.tenant_id = $1 and ($2::text is null or t.name = $2)
order by t.name
limit 5000;

-- name: task_version_add
-- $1 tenant, $2 task, $3 version, $4 definition, $5 by, $6 reason
insert into task_version (tenant_id, task, version, definition, made_by, reason) values ($1, $2, $3, $4, $5, $6);

-- name: task_version_trim
-- $1 tenant, $2 task, $3 the last that is not kept
delete from task_version where tenant_id = $1 and task = $2 and version <= $3;

-- name: task_version_list
-- Latest first. Of a name that the tenant never used, those of the task for all tenants.
-- $1 tenant, $2 task, $3 rows
select v.version, v.made_at, v.made_by, v.reason, t.version = v.version as current
from task_version v
left join task t on t.tenant_id = v.tenant_id and t.name = v.task
where v.tenant_id = (select max(o.tenant_id) from task_version o where o.tenant_id in ($1, 0) and o.task = $2)
  and v.task = $2
order by v.version desc
limit $3;

-- name: task_version_get
-- $1 tenant, $2 task, $3 version
select v.tenant_id, v.version, v.made_at, v.made_by, v.reason, v.definition, t.version = v.version as current
from task_version v
left join task t on t.tenant_id = v.tenant_id and t.name = v.task
where v.tenant_id = (select max(o.tenant_id) from task_version o where o.tenant_id in ($1, 0) and o.task = $2)
  and v.task = $2 and v.version = $3;

-- name: task_use
-- Who needs a task: jobs that have not ended (counted up to a thousand a state) and schedules (some of their names),
-- of its tenant and of all that mean it by the name.
-- $1 tenant, $2 task
with lanes as (
    select l.id from lane l where l.task = $2 and (task_meant(l.tenant_id, $2)).owner_id = $1
)
select
    (select count(*) from (select from lanes l join ready r on r.lane_id = l.id limit 1000) c)
    + (select count(*) from (select from lanes l join timer r on r.lane_id = l.id limit 1000) c)
    + (select count(*) from (select from lanes l join blocked r on r.lane_id = l.id limit 1000) c)
    + (select count(*) from (select from lanes l join lease r on r.lane_id = l.id limit 1000) c) as jobs,
    array(
        select s.name from schedule s where s.task = $2 and (task_meant(s.tenant_id, $2)).owner_id = $1
        order by s.name limit 10
    ) as schedules;

-- name: task_delete
-- Its versions stay, so that it can be brought back.
-- $1 tenant, $2 task
delete from task where tenant_id = $1 and name = $2 returning version;

-- name: task_share_put
-- $1 tenant, $2 task, $3 guests, 0 for all, $4 whether with the owner's secrets, $5 by
insert into task_share (tenant_id, task, guest_id, with_secrets, made_by)
select $1, $2, g.id, $4, $5 from unnest($3::int[]) as g (id)
on conflict (guest_id, task, tenant_id) do update
set with_secrets = excluded.with_secrets, made_by = excluded.made_by;

-- name: task_share_remove
-- $1 tenant, $2 task, $3 guests, or null for every share
delete from task_share where tenant_id = $1 and task = $2 and ($3::int[] is null or guest_id = any ($3));

-- name: task_share_list
-- $1 tenant, $2 task
select s.guest_id, n.name as guest, s.with_secrets, s.made_at, s.made_by
from task_share s left join tenant n on n.id = s.guest_id
where s.tenant_id = $1 and s.task = $2
order by s.guest_id <> 0, n.name;
