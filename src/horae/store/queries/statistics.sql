-- What became of a task's jobs over time: from sums of hours or minutes where these will do, and what is not summed up yet
-- from the smaller ones. Minutes and hours are summed up over all tenants too, as tenant 0.

-- name: statistics_steps
-- One task or one queue, step by step.
-- $1 tenant or null for any, $2 task or null for any, $3 from, $4 until, $5 seconds of a step, $6 the seconds of the
-- longest sums that will do, $7 queue or null for any
with summed as (
    select coalesce((select max(bucket) + interval '1 hour' from rollup_hour where $6::int >= 3600), '-infinity') as hours,
           coalesce((select max(bucket) + interval '1 minute' from rollup_minute where $6::int >= 60), '-infinity') as minutes
), parts as (
    select h.* from rollup_hour h
    where h.bucket >= $3 and h.bucket < least($4, (select hours from summed))
      and h.tenant_id = coalesce($1, 0) and ($2::text is null or h.task = $2)
      and ($7::text is null or h.queue = $7)
    union all
    select m.* from rollup_minute m
    where m.bucket >= greatest($3, (select hours from summed)) and m.bucket < least($4, (select minutes from summed))
      and m.tenant_id = coalesce($1, 0) and ($2::text is null or m.task = $2)
      and ($7::text is null or m.queue = $7)
    union all
    select r.* from rollup r
    where r.bucket >= greatest($3, (select greatest(hours, minutes) from summed)) and r.bucket < $4
      and ($1::int is null or r.tenant_id = $1) and ($2::text is null or r.task = $2)
      and ($7::text is null or r.queue = $7)
), sums as ( -- by their own beginnings first: the step of each would be reckoned too often
    select bucket, sum(submitted) as submitted, sum(started) as started, sum(succeeded) as succeeded,
           sum(failed) as failed, sum(cancelled) as cancelled, sum(other) as other, sum(retried) as retried,
           sum(runs) as runs, sum(run_seconds) as run_seconds, sum(run_squares) as run_squares,
           sum(waits) as waits, sum(wait_seconds) as wait_seconds
    from parts
    group by bucket
)
select date_bin($5 * interval '1 second', bucket, $3) as at, sum(submitted)::bigint as submitted,
       sum(started)::bigint as started, sum(succeeded)::bigint as succeeded, sum(failed)::bigint as failed,
       sum(cancelled)::bigint as cancelled, sum(other)::bigint as other, sum(retried)::bigint as retried,
       sum(runs)::bigint as runs, sum(run_seconds) as run_seconds, sum(run_squares) as run_squares,
       sum(waits)::bigint as waits, sum(wait_seconds) as wait_seconds
from sums
group by 1
order by 1;

-- name: statistics_tasks
-- Every task, summed up over the whole time; those with most to tell first.
-- $1 tenant or null for any, $2 from, $3 until, $4 the seconds of the longest sums that will do, $5 rows
with summed as (
    select coalesce((select max(bucket) + interval '1 hour' from rollup_hour where $4::int >= 3600), '-infinity') as hours,
           coalesce((select max(bucket) + interval '1 minute' from rollup_minute where $4::int >= 60), '-infinity') as minutes
), parts as (
    select h.* from rollup_hour h
    where h.bucket >= $2 and h.bucket < least($3, (select hours from summed))
      and h.tenant_id <> 0 and ($1::int is null or h.tenant_id = $1)
    union all
    select m.* from rollup_minute m
    where m.bucket >= greatest($2, (select hours from summed)) and m.bucket < least($3, (select minutes from summed))
      and m.tenant_id <> 0 and ($1::int is null or m.tenant_id = $1)
    union all
    select r.* from rollup r
    where r.bucket >= greatest($2, (select greatest(hours, minutes) from summed)) and r.bucket < $3
      and ($1::int is null or r.tenant_id = $1)
), sums as ( -- by number before the names come in: there may be half a million parts
    select tenant_id, task, sum(submitted)::bigint as submitted, sum(started)::bigint as started,
           sum(succeeded)::bigint as succeeded, sum(failed)::bigint as failed, sum(cancelled)::bigint as cancelled,
           sum(other)::bigint as other, sum(retried)::bigint as retried, sum(runs)::bigint as runs,
           sum(run_seconds) as run_seconds, sum(run_squares) as run_squares, sum(waits)::bigint as waits,
           sum(wait_seconds) as wait_seconds
    from parts
    group by tenant_id, task
)
select n.name as tenant, s.task, s.submitted, s.started, s.succeeded, s.failed, s.cancelled, s.other, s.retried, s.runs,
       s.run_seconds, s.run_squares, s.waits, s.wait_seconds
from sums s join tenant n on n.id = s.tenant_id
order by s.submitted + s.started desc, s.task, n.name
limit $5;
