-- Circuit breakers: the tasks that have one, how their attempts end, and the gates they closed.

-- name: breaker_tasks
-- The definitions, of every tenant, of tasks that have a breaker somewhere. Tenant 0: shared with all.
select t.tenant_id, t.name, t.extra::jsonb ->> 'breaker' as breaker
from task t
where t.name in (select b.name from task b where b.extra::jsonb ? 'breaker');

-- name: breaker_ends
-- How attempts of these tasks ended, in spans of ten seconds.
-- $1 tasks, $2 seconds to look back
select tenant_id, task, bucket, sum(succeeded)::bigint as succeeded, sum(failed + retried)::bigint as failed
from rollup
where bucket >= (select clock_timestamp()) - $2 * interval '1 second' and task = any ($1::text[])
group by tenant_id, task, bucket
having sum(succeeded + failed + retried) > 0;

-- name: breaker_gates
-- The latest gate of each task's breaker.
select distinct on (tenant_id, task) id, tenant_id, task, made_at, released_at, drained_at
from gate where kind = 'breaker'
order by tenant_id, task, id desc;

-- name: breaker_pause
-- The group of a gate's trial jobs begins empty, so that the first of them waits as well.
-- $1 group
insert into bucket (group_id, tokens, at) values ($1, 0, clock_timestamp())
on conflict (group_id) do update set tokens = 0, at = excluded.at;
