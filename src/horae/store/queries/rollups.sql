-- Sums of what happened, depths of queues, and what learns from them.

-- name: rollup_add
-- Adds what a server counted to the ten seconds of now, and to the depths. Rows are locked in one order for all servers.
-- $1 tenants, $2 tasks, $3 queues, $4 submitted, $5 started, $6 succeeded, $7 failed, $8 cancelled, $9 other, $10 retried,
-- $11 runs, $12 run seconds, $13 their squares, $14 waits, $15 wait seconds, $16 change of pending, $17 change of running.
-- Numbers come as the text of an array (see store.database.numbers).
with counted as materialized (
    select * from unnest($1::text::int[], $2::text[], $3::text[], $4::text::bigint[], $5::text::bigint[],
                         $6::text::bigint[], $7::text::bigint[], $8::text::bigint[], $9::text::bigint[],
                         $10::text::bigint[], $11::text::bigint[], $12::text::float[], $13::text::float[],
                         $14::text::bigint[], $15::text::float[], $16::text::bigint[], $17::text::bigint[])
        as c (tenant_id, task, queue, submitted, started, succeeded, failed, cancelled, other, retried, runs,
              run_seconds, run_squares, waits, wait_seconds, pending, running)
), deepened as (
    insert into depth (tenant_id, queue, pending, running)
    select tenant_id, queue, sum(pending), sum(running) from counted
    group by tenant_id, queue
    order by tenant_id, queue
    on conflict (tenant_id, queue) do update
    set pending = depth.pending + excluded.pending, running = depth.running + excluded.running
    where excluded.pending <> 0 or excluded.running <> 0 -- else it is only there, so that the queue is listed
)
insert into rollup (bucket, tenant_id, task, queue, submitted, started, succeeded, failed, cancelled, other, retried,
                    runs, run_seconds, run_squares, waits, wait_seconds)
select date_bin('10 seconds', clock_timestamp(), 'epoch'), tenant_id, task, queue, submitted, started, succeeded, failed,
       cancelled, other, retried, runs, run_seconds, run_squares, waits, wait_seconds
from counted
order by tenant_id, task, queue
on conflict (bucket, tenant_id, task, queue) do update
set submitted = rollup.submitted + excluded.submitted, started = rollup.started + excluded.started,
    succeeded = rollup.succeeded + excluded.succeeded, failed = rollup.failed + excluded.failed,
    cancelled = rollup.cancelled + excluded.cancelled, other = rollup.other + excluded.other,
    retried = rollup.retried + excluded.retried, runs = rollup.runs + excluded.runs,
    run_seconds = rollup.run_seconds + excluded.run_seconds, run_squares = rollup.run_squares + excluded.run_squares,
    waits = rollup.waits + excluded.waits, wait_seconds = rollup.wait_seconds + excluded.wait_seconds;

-- name: rollup_durations
-- How long tasks ran, in the sums that are complete: those after $1, up to a few seconds ago.
-- One row without a tenant: there were none.
-- $1 the last bucket that was read, or null: all that is kept
with read as (
    select coalesce($1::timestamptz, clock_timestamp() - interval '2 days') as since,
           date_bin('10 seconds', clock_timestamp() - interval '15 seconds', 'epoch') as until
)
select r.tenant_id, r.task, sum(r.runs)::bigint as runs, sum(r.run_seconds) as seconds, sum(r.run_squares) as squares,
       max(read.until) as until
from read left join rollup r on r.bucket > read.since and r.bucket <= read.until and r.runs > 0
group by r.tenant_id, r.task;

-- name: rollup_fold_minutes
-- Sums up minutes that are over, by tenant and of all of them (tenant 0), from the last one that was: done again, it gives
-- the same. Servers add to the ten seconds of now, but one that had to wait for a lock is late.
insert into rollup_minute (bucket, tenant_id, task, queue, submitted, started, succeeded, failed, cancelled, other, retried,
                     runs, run_seconds, run_squares, waits, wait_seconds)
select date_trunc('minute', bucket), coalesce(tenant_id, 0), task, queue, sum(submitted), sum(started), sum(succeeded),
       sum(failed), sum(cancelled), sum(other), sum(retried), sum(runs), sum(run_seconds), sum(run_squares), sum(waits),
       sum(wait_seconds)
from rollup
where bucket >= coalesce((select max(bucket) from rollup_minute), '-infinity')
  and bucket < (select date_trunc('minute', clock_timestamp() - interval '15 seconds'))
group by date_trunc('minute', bucket), task, queue, grouping sets ((tenant_id), ())
on conflict (bucket, tenant_id, task, queue) do update
set submitted = excluded.submitted, started = excluded.started, succeeded = excluded.succeeded,
    failed = excluded.failed, cancelled = excluded.cancelled, other = excluded.other, retried = excluded.retried,
    runs = excluded.runs, run_seconds = excluded.run_seconds, run_squares = excluded.run_squares,
    waits = excluded.waits, wait_seconds = excluded.wait_seconds;

-- name: rollup_fold_hours
-- The same of hours, from the minutes.
insert into rollup_hour (bucket, tenant_id, task, queue, submitted, started, succeeded, failed, cancelled, other, retried,
                     runs, run_seconds, run_squares, waits, wait_seconds)
select date_trunc('hour', bucket), coalesce(tenant_id, 0), task, queue, sum(submitted), sum(started), sum(succeeded),
       sum(failed), sum(cancelled), sum(other), sum(retried), sum(runs), sum(run_seconds), sum(run_squares), sum(waits),
       sum(wait_seconds)
from rollup_minute
where bucket >= coalesce((select max(bucket) from rollup_hour), '-infinity')
  and bucket < (select date_trunc('hour', clock_timestamp() - interval '1 minute')) and tenant_id <> 0
group by date_trunc('hour', bucket), task, queue, grouping sets ((tenant_id), ())
on conflict (bucket, tenant_id, task, queue) do update
set submitted = excluded.submitted, started = excluded.started, succeeded = excluded.succeeded,
    failed = excluded.failed, cancelled = excluded.cancelled, other = excluded.other, retried = excluded.retried,
    runs = excluded.runs, run_seconds = excluded.run_seconds, run_squares = excluded.run_squares,
    waits = excluded.waits, wait_seconds = excluded.wait_seconds;

-- name: clean_{rollup,rollup_minute}
-- Forgets sums older than $1 seconds that have been summed up by the hour, at most $2 rows.
-- $1 seconds, $2 rows
delete from {table} where ctid = any (array(
    select ctid from {table}
    where bucket < (select clock_timestamp()) - $1 * interval '1 second'
      and bucket < coalesce((select max(bucket) from rollup_hour), '-infinity') -- the last hour may be summed up again
    limit $2))
returning 1;

-- name: clean_rollup_hour
-- $1 seconds, $2 rows
delete from rollup_hour where ctid = any (array(
    select ctid from rollup_hour where bucket < (select clock_timestamp()) - $1 * interval '1 second' limit $2))
returning 1;

-- name: queue_list
-- The queues: how many jobs wait and run, and what happened in the last minute of whole sums.
-- $1 tenant or null for any, $2 rows
with parts as (
    -- Put together and grouped, not joined: for any tenant the planner expects few, and compared each with each.
    select tenant_id, queue, true as listed, pending, running, 0::bigint as submitted, 0::bigint as started,
           0::bigint as succeeded, 0::bigint as failed, 0::bigint as retried
    from depth
    where $1::int is null or tenant_id = $1
    union all
    select tenant_id, queue, false, 0, 0, submitted, started, succeeded, failed, retried
    from rollup
    -- Each instant in a subquery of its own: compared with a volatile function, every row would be read.
    where bucket >= (select date_bin('10 seconds', clock_timestamp(), 'epoch') - interval '1 minute')
      and bucket < (select date_bin('10 seconds', clock_timestamp(), 'epoch'))
      and ($1::int is null or tenant_id = $1)
), queues as (
    select tenant_id, queue, sum(pending)::bigint as pending, sum(running)::bigint as running,
           sum(submitted)::float / 60 as submit_rate, sum(started)::float / 60 as start_rate,
           sum(succeeded)::float / 60 as success_rate, sum(failed)::float / 60 as failure_rate,
           sum(retried)::float / 60 as retry_rate
    from parts
    group by tenant_id, queue
    having bool_or(listed)
)
select t.name as tenant, q.tenant_id, q.queue, greatest(q.pending, 0) as pending, greatest(q.running, 0) as running,
       q.submit_rate, q.start_rate, q.success_rate, q.failure_rate, q.retry_rate
from queues q
join tenant t on t.id = q.tenant_id
order by t.name, q.queue
limit $2;

-- name: depth_load
-- How many jobs wait, by tenant and queue, of these tenants and these queues; and in all, as tenant 0.
-- $1 tenants, $2 queues
select tenant_id, queue, pending from depth where tenant_id = any ($1::int[]) or queue = any ($2::text[])
union all
select 0, '', coalesce(sum(pending), 0)::bigint from depth;

-- name: depth_list
select tenant_id, queue, pending, running, scheduled, blocked from depth;

-- name: depth_correct
-- Corrects the depths by what a recount found: additive, so that changes written meanwhile are kept.
-- $1 tenants, $2 queues, $3 corrections of pending, $4 of running, $5 how many are scheduled, $6 blocked
insert into depth (tenant_id, queue, pending, running, scheduled, blocked)
select * from unnest($1::int[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
    as c (tenant_id, queue, pending, running, scheduled, blocked)
order by tenant_id, queue
on conflict (tenant_id, queue) do update
set pending = depth.pending + excluded.pending, running = depth.running + excluded.running,
    scheduled = excluded.scheduled, blocked = excluded.blocked;

-- name: depth_clean
-- Forgets queues that are empty and have seen nothing for an hour.
delete from depth d
where pending = 0 and running = 0
  and not exists (select from rollup r where r.bucket > (select clock_timestamp()) - interval '1 hour'
                    and r.tenant_id = d.tenant_id and r.queue = d.queue);

-- name: ready_count
-- Counts a stretch of `ready` in the order of its key: how many rows each lane has in it, and where it ended.
-- $1 lane, $2 rank, $3 id to start after, $4 rows
with stretch as materialized (
    select lane_id, rank, id from ready
    where (lane_id, rank, id) > ($1::int, $2::bigint, $3::uuid)
    order by lane_id, rank, id
    limit $4
)
select lane_id, count(*) as jobs, null::bigint as rank, null::uuid as id from stretch group by lane_id
union all
(select lane_id, 0, rank, id from stretch order by lane_id desc, rank desc, id desc limit 1);

-- name: timer_count
-- The same of `timer`.
-- $1 lane, $2 id to start after, $3 rows
with stretch as materialized (
    select lane_id, id from timer where (lane_id, id) > ($1::int, $2::uuid) order by lane_id, id limit $3
)
select lane_id, count(*) as jobs, null::uuid as id from stretch group by lane_id
union all
(select lane_id, 0, id from stretch order by lane_id desc, id desc limit 1);

-- name: blocked_count
-- Few enough to be counted at once.
select lane_id, count(*) as jobs from blocked group by lane_id;

-- name: lease_count
-- As many as there are slots in the fleet: few enough.
select lane_id, count(*) as jobs from lease group by lane_id;

-- name: duty_lock
-- Takes the lock of a duty that wants a single actor, for as long as this connection lives.
-- $1 name
select pg_try_advisory_lock(hashtextextended('horae ' || $1, 0)) as taken;

-- name: duty_due
-- Whether such a duty is due. None plans hours ahead: then the clock was set back.
-- $1 name
select coalesce((select next_at <= clock_timestamp() or next_at > clock_timestamp() + interval '1 hour'
                 from sole_duty where name = $1), true) as due;

-- name: duty_done
-- $1 name, $2 seconds until it is due again
insert into sole_duty (name, next_at) values ($1, clock_timestamp() + $2 * interval '1 second')
on conflict (name) do update set next_at = excluded.next_at;
