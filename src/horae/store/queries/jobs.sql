-- Steering single jobs: look-ups, edits, cancels, retries. Never in bulk, never hot.

-- name: job_get
-- A job with its present state, whichever table holds it.
-- $1 tenant, $2 id
select * from job_state where tenant_id = $1 and id = $2;

-- name: job_tenant
-- Whose job it is, for keys that belong to no tenant: a look at the few tenants that the id hints at, and only if it is
-- none of theirs, one for each tenant there is.
-- $1 id, $2 the hint, $3 every which tenant it fits
select coalesce(
    (select j.tenant_id from generate_series($2::int, (select max(id) from tenant), $3::int) as t (id)
     cross join lateral (select tenant_id from job where job.tenant_id = t.id and job.id = $1 limit 1) j
     limit 1),
    (select j.tenant_id from tenant t
     cross join lateral (select tenant_id from job where job.tenant_id = t.id and job.id = $1 limit 1) j
     limit 1)
) as tenant_id;

-- name: job_states
-- The rows of a page, each with its present state.
-- $1 tenant, $2 ids
select * from job_state
where tenant_id = $1 and id = any ($2::uuid[])
order by id desc;

-- name: job_state_poll
-- How far watched jobs are: for result and event streams whose job ended on another server.
-- $1 tenants, $2 ids
select w.id::text as id, o.state::text as outcome, o.result, o.error, o.blob, o.attempt
from unnest($1::int[], $2::uuid[]) as w (tenant_id, id)
cross join lateral (
    select state, result, error, blob, attempt from outcome
    where outcome.tenant_id = w.tenant_id and outcome.id = w.id
    limit 1
) o;

-- name: job_cancel_pending
-- Cancels a job that has not started. The loser of a race with a claim deletes nothing.
-- $1 tenant, $2 lane, $3 id, $4 rank, $5 error (reason) as JSON
with from_ready as (
    delete from ready where lane_id = $2 and rank = $4 and id = $3 returning attempt
), from_timer as (
    delete from timer where lane_id = $2 and id = $3 returning attempt
), from_blocked as (
    delete from blocked where lane_id = $2 and id = $3 returning attempt
), gone as (
    select attempt from from_ready union all select attempt from from_timer union all select attempt from from_blocked
)
insert into outcome (id, finished_at, tenant_id, attempt, state, ending, error)
select $3, clock_timestamp(), $1, attempt, 'cancelled', 'cancelled', $5 from gone
returning attempt;

-- name: job_cancel_running
-- Asks the worker that holds the job to stop it. Returns the worker. The lock keeps the job from being parked meanwhile.
-- $1 lane, $2 id, $3 reason, $4 who
insert into cancel_request (id, worker_id, lane_id, attempt, reason, requested_by)
select id, worker_id, lane_id, attempt, $3, $4 from lease where lane_id = $1 and id = $2 for share
on conflict (worker_id, id) do update set reason = excluded.reason, attempt = excluded.attempt
returning worker_id, attempt;

-- name: job_change_body
-- Edits a job that has not started; the caller has taken its pending row. No row: somebody else edited it meanwhile.
-- $1 tenant, $2 id, $3 rank, $4 run_at, $5 lane, $6 priority, $7 params, $8 options, $9 version that was read
update job set rank = $3, run_at = $4, lane_id = $5, priority = $6, params = $7, options = $8
where tenant_id = $1 and id = $2 and xmin::text = $9
returning id;

-- name: pending_take
-- Takes a pending job's row out, to put it back elsewhere in the same transaction.
-- $1 lane, $2 id, $3 rank
with from_ready as (
    delete from ready where lane_id = $1 and rank = $3 and id = $2 returning attempt
), from_timer as (
    delete from timer where lane_id = $1 and id = $2 returning attempt
), from_blocked as (
    delete from blocked where lane_id = $1 and id = $2 returning attempt
)
select attempt from from_ready union all select attempt from from_timer union all select attempt from from_blocked;

-- name: pending_put
-- Puts a job into ready or timer, by its time.
-- $1 lane, $2 id, $3 rank, $4 attempt, $5 run_at; returns whether it is ready now
with into_ready as (
    insert into ready (rank, id, lane_id, attempt)
    select $3, $2, $1, $4 where $5 <= clock_timestamp() returning true as now
), into_timer as (
    insert into timer (run_at, rank, id, lane_id, attempt)
    select $5, $3, $2, $1, $4 where not exists (select from into_ready) returning false as now
)
select now from into_ready union all select now from into_timer;

-- name: outcome_take
-- Takes a failed, cancelled or dropped job out of its outcome, to run it again; the ended attempt is kept as history.
-- $1 tenant, $2 id
with gone as (
    delete from outcome where tenant_id = $1 and id = $2 and state in ('failed', 'cancelled', 'dropped') returning *
), kept as (
    insert into attempt (id, started_at, ended_at, tenant_id, worker_id, attempt, ending, cpu, peak_memory, error)
    select id, started_at, finished_at, tenant_id, worker_id, attempt, ending, cpu, peak_memory, error from gone
    where attempt > 0
    on conflict do nothing
)
select attempt from gone;

-- name: result_get
-- $1 tenant, $2 id
select state::text as outcome, result, error, blob, attempt from outcome where tenant_id = $1 and id = $2;

-- name: idempotency_find
-- What these keys stand for.
-- $1 tenants, $2 keys
select i.tenant_id, i.key, i.fingerprint, i.job_id::text as job_id
from unnest($1::int[], $2::text[]) as w (tenant_id, key)
join idempotency i on i.tenant_id = w.tenant_id and i.key = w.key;

-- name: failure_facts
-- What the retry decision needs of jobs whose attempt did not succeed. What was before a person's retry does not count.
-- $1 worker, $2 tenants, $3 ids, $4 attempts
select w.id::text as id, j.rank, j.options, cr.id is not null as cancel_requested, cr.reason, a.failures, a.crashes
from unnest($2::int[], $3::uuid[], $4::int[]) as w (tenant_id, id, attempt)
cross join lateral (
    select rank, options from job where job.tenant_id = w.tenant_id and job.id = w.id limit 1
) j
cross join lateral (
    select count(*) filter (where ending in ('error', 'fatal', 'timeout')) as failures,
           count(*) filter (where ending in ('crashed', 'lost')) as crashes
    from attempt
    where attempt.tenant_id = w.tenant_id and attempt.id = w.id and attempt.attempt > attempts_forgiven(j.options)
) a
left join lateral (
    select id, reason from cancel_request c
    where c.worker_id = $1 and c.id = w.id and c.attempt = w.attempt
    limit 1
) cr on true;

-- name: cancel_overtaken
-- Requests for attempts that went back to pending: their cancel was accepted a moment too late for the decision.
-- $1 worker, $2 ids, $3 attempts
select c.id, l.tenant_id, j.lane_id, j.rank, c.attempt, c.reason
from unnest($2::uuid[], $3::int[]) as w (id, attempt)
cross join lateral (
    select id, lane_id, attempt, reason from cancel_request
    where cancel_request.worker_id = $1 and cancel_request.id = w.id and cancel_request.attempt = w.attempt
    limit 1
) c
cross join lateral (select tenant_id from lane where lane.id = c.lane_id limit 1) l
cross join lateral (select rank, lane_id from job where job.tenant_id = l.tenant_id and job.id = c.id limit 1) j;

-- name: completion_known
-- Completions that found no lease: did this worker end this very attempt in this very way before (our answer got lost)?
-- $1 worker, $2 tenants, $3 ids, $4 attempts, $5 endings
select w.id::text as id, w.attempt
from unnest($2::int[], $3::uuid[], $4::int[], $5::text[]) as w (tenant_id, id, attempt, ending)
cross join lateral (
    (select true from outcome o
     where o.tenant_id = w.tenant_id and o.id = w.id and o.attempt = w.attempt and o.worker_id = $1
       and o.ending::text = w.ending
     limit 1)
    union all
    (select true from attempt a
     where a.tenant_id = w.tenant_id and a.id = w.id and a.attempt = w.attempt and a.worker_id = $1
       and a.ending::text = w.ending
     limit 1)
) k;

-- name: executions_of_job
-- Every attempt, oldest first; the one that runs now has no end.
-- $1 tenant, $2 id, $3 lane
select a.*, e.isolation, e.task_version, e.read_bytes, e.written_bytes
from (
    select id, attempt, worker_id, started_at, ended_at, ending::text as ending, error, cpu, peak_memory
    from attempt where tenant_id = $1 and id = $2
    union all
    select id, attempt, worker_id, started_at, finished_at, ending::text, error, cpu, peak_memory
    from outcome where tenant_id = $1 and id = $2 and worker_id is not null
    union all
    select id, attempt, worker_id, granted_at, null, null, null, null, null
    from lease where lane_id = $3 and id = $2
) a
left join execution e on e.tenant_id = $1 and e.id = $2 and e.attempt = a.attempt
order by a.attempt;

-- name: execution_add
-- What attempts that have just ended used. The same end reported twice is stored once.
-- $1 tenants, $2 ids, $3 attempts, $4 versions of the tasks, $5 isolations, $6 bytes read, $7 bytes written
insert into execution (tenant_id, id, attempt, task_version, isolation, read_bytes, written_bytes)
select * from unnest($1::int[], $2::uuid[], $3::int[], $4::int[], $5::text[], $6::bigint[], $7::bigint[])
on conflict do nothing;

-- name: executions_of_worker
-- What a worker ended inside a time window, latest first; the block range index bounds the reading.
-- $1 worker, $2 tenant or null for any, $3 from, $4 until, $5 and $6 the id and attempt to go on after, $7 rows
select e.*, t.task, x.isolation, x.task_version, x.read_bytes, x.written_bytes
from (
    select * from (
        select tenant_id, id, attempt, worker_id, started_at, finished_at as ended_at, ending::text as ending, error, cpu,
               peak_memory
        from outcome
        where finished_at >= $3 and finished_at <= $4 and worker_id = $1 and ($2::int is null or tenant_id = $2)
        union all
        select tenant_id, id, attempt, worker_id, started_at, ended_at, ending::text, error, cpu, peak_memory
        from attempt
        where ended_at >= $3 and ended_at <= $4 and worker_id = $1 and ($2::int is null or tenant_id = $2)
    ) all_ended
    where (ended_at, id, attempt) < ($4, $5::uuid, $6::int)
    order by ended_at desc, id desc, attempt desc
    limit $7
) e
left join execution x on x.tenant_id = e.tenant_id and x.id = e.id and x.attempt = e.attempt
left join lateral (
    select l.task from job j join lane l on l.id = j.lane_id where j.tenant_id = e.tenant_id and j.id = e.id limit 1
) t on true
order by e.ended_at desc, e.id desc, e.attempt desc;

-- name: executions_running
-- What a worker runs now.
-- $1 worker, $2 tenant or null for any
select le.id, le.attempt, le.worker_id, le.granted_at as started_at, l.task
from lease le join lane l on l.id = le.lane_id
where le.worker_id = $1 and ($2::int is null or l.tenant_id = $2)
order by le.granted_at desc
limit 1000;
