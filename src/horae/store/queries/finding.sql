-- Finding things by a part of their name or id, as people type it.

-- name: find_tasks
-- Tasks that a tenant may use whose name has a text in it; those that begin with it first, the shortest of them first.
-- $1 tenant or null for any, $2 the text in lower case, $3 rows
select t.name, n.name as tenant, t.description as note
from task t left join tenant n on n.id = t.tenant_id
where strpos(lower(t.name), $2) > 0
  and ($1::int is null or t.tenant_id in ($1, 0) or exists (
      select from task_share s where s.guest_id in ($1, 0) and s.task = t.name and s.tenant_id = t.tenant_id))
order by not starts_with(lower(t.name), $2), length(t.name), lower(t.name), t.tenant_id
limit $3;

-- name: find_schedules
-- The same of schedules; the note is the task.
-- $1 tenant or null for any, $2 the text in lower case, $3 rows
select s.name, n.name as tenant, s.task as note
from schedule s join tenant n on n.id = s.tenant_id
where strpos(lower(s.name), $2) > 0 and ($1::int is null or s.tenant_id = $1)
order by not starts_with(lower(s.name), $2), length(s.name), lower(s.name), s.tenant_id
limit $3;

-- name: find_workers
-- The same of workers that are there, by name, host or number; the note is the host.
-- $1 tenant or null for any, $2 the text in lower case, $3 rows
select w.id::text as id, w.name, n.name as tenant, w.host as note
from worker w left join tenant n on n.id = w.tenant_id
where w.state in ('active', 'draining') and ($1::int is null or w.tenant_id = $1 or w.tenant_id is null)
  and (strpos(lower(w.name), $2) > 0 or strpos(lower(w.host), $2) > 0 or w.id::text = $2)
order by w.id::text <> $2, not starts_with(lower(w.name), $2), w.name, w.id desc
limit $3;

-- name: find_queues
-- The same of queues that have or had jobs lately.
-- $1 tenant or null for any, $2 the text in lower case, $3 rows
select d.queue as name, n.name as tenant
from depth d join tenant n on n.id = d.tenant_id
where strpos(lower(d.queue), $2) > 0 and ($1::int is null or d.tenant_id = $1)
order by not starts_with(lower(d.queue), $2), length(d.queue), lower(d.queue), d.tenant_id
limit $3;

-- name: find_jobs
-- Jobs whose id lies between two, newest first: a look into the index for each tenant.
-- $1 tenant or null for any, $2 the lowest id, $3 the highest, $4 rows
select j.id::text as id, l.task as name, n.name as tenant
from tenant n
cross join lateral (
    select id, lane_id from job where job.tenant_id = n.id and job.id >= $2 and job.id <= $3 order by id desc limit $4
) j
join lane l on l.id = j.lane_id
where $1::int is null or n.id = $1
order by j.id desc
limit $4;
