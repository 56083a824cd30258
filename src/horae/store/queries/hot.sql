-- The statements of the hot path. They run on connections with sequential scans, hash and merge joins off and generic
-- plans forced; tests EXPLAIN each of them on empty and on full tables.
--
-- A row that leaves a table is found first, by its key in a fenced subquery (limit) that the planner cannot turn round,
-- and then deleted by its place (ctid). A join of the target with the list of keys would be planned, on a table that
-- was empty at that moment, as a walk over all of it for every key, and stay so.

-- name: job_submit
-- Stores a batch of new jobs: bodies, and a row in ready or timer.
-- $1 ids, $2 ranks, $3 run_at, $4 tenants, $5 lanes, $6 keys, $7 priorities, $8 params, $9 options, $10 due now
with fresh as (
    select * from unnest($1::uuid[], $2::bigint[], $3::timestamptz[], $4::int[], $5::int[], $6::int[], $7::smallint[],
                         $8::text[], $9::text[], $10::bool[])
        as f (id, rank, run_at, tenant_id, lane_id, key_id, priority, params, options, due)
), bodies as (
    insert into job (id, rank, run_at, tenant_id, lane_id, key_id, priority, params, options)
    select id, rank, run_at, tenant_id, lane_id, key_id, priority, params, options from fresh
), timers as (
    insert into timer (run_at, rank, id, lane_id, attempt)
    select run_at, rank, id, lane_id, 0 from fresh where not due
)
insert into ready (rank, id, lane_id, attempt)
select rank, id, lane_id, 0 from fresh where due;

-- name: job_submit_now
-- The same for a batch whose jobs are all due.
-- $1 ids, $2 ranks, $3 run_at, $4 tenants, $5 lanes, $6 keys, $7 priorities, $8 params, $9 options. Here and in
-- job_succeed numbers come as the text of an array (see store.database.numbers).
with fresh as (
    select * from unnest($1::uuid[], $2::text::bigint[], $3::timestamptz[], $4::text::int[],
                         $5::text::int[], $6::int[], $7::text::smallint[], $8::text[], $9::text[])
        as f (id, rank, run_at, tenant_id, lane_id, key_id, priority, params, options)
), bodies as (
    insert into job (id, rank, run_at, tenant_id, lane_id, key_id, priority, params, options)
    select id, rank, run_at, tenant_id, lane_id, key_id, priority, params, options from fresh
)
insert into ready (rank, id, lane_id, attempt)
select rank, id, lane_id, 0 from fresh;

-- name: job_submit_once
-- A batch of jobs that carry idempotency keys: those whose key is new are stored. Returns the ids that were.
-- $1 … $10 as job_submit, $11 keys, $12 fingerprints
with asked as (
    select * from unnest($1::uuid[], $2::bigint[], $3::timestamptz[], $4::int[], $5::int[], $6::int[], $7::smallint[],
                         $8::text[], $9::text[], $10::bool[], $11::text[], $12::bytea[])
        as f (id, rank, run_at, tenant_id, lane_id, key_id, priority, params, options, due, key, fingerprint)
), won as (
    insert into idempotency (tenant_id, key, fingerprint, job_id)
    select tenant_id, key, fingerprint, id from asked
    on conflict do nothing
    returning job_id
), fresh as (
    select a.* from asked a where a.id in (select job_id from won)
), bodies as (
    insert into job (id, rank, run_at, tenant_id, lane_id, key_id, priority, params, options)
    select id, rank, run_at, tenant_id, lane_id, key_id, priority, params, options from fresh
), timers as (
    insert into timer (run_at, rank, id, lane_id, attempt)
    select run_at, rank, id, lane_id, 0 from fresh where not due
), readies as (
    insert into ready (rank, id, lane_id, attempt)
    select rank, id, lane_id, 0 from fresh where due
)
select job_id::text as id from won;

-- name: job_claim
-- Leases up to $4 jobs to a worker, lane by lane in the order given, each lane from its floor to its ceiling and
-- up to its quota.
-- Nothing is given to a worker whose own lease has ended, nor by a policy that is no longer the present one.
-- $1 worker, $2 grant number, $3 policy version, $4 limit, $5 lanes, $6 their tenants, $7 floors, $8 ceilings,
-- $9 quotas, all of them as the text of an array
with picked as materialized (
    select r.place, w.lane_id, r.rank, r.id, r.attempt + 1 as attempt, w.tenant_id
    from unnest($5::text::int[], $6::text::int[], $7::text::bigint[], $8::text::bigint[], $9::text::int[])
        as w (lane_id, tenant_id, floor, ceiling, quota)
    cross join lateral (
        select ready.ctid as place, rank, id, attempt from ready
        where ready.lane_id = w.lane_id and ready.rank >= w.floor and ready.rank <= w.ceiling
        order by ready.rank, ready.id
        limit w.quota
        for update skip locked
    ) r
    where (select policy_is($3))
      and exists (select from worker where id = $1 and state = 'active' and expires_at > clock_timestamp())
    limit $4
), gone as (
    delete from ready where ctid = any (array(select place from picked)) -- all of them: we hold their locks
), leased as (
    insert into lease (granted_at, id, worker_id, lane_id, attempt, grant_number)
    select clock_timestamp(), id, $1, lane_id, attempt, $2 from picked
)
select p.lane_id, p.id::text as id, p.attempt, p.rank, j.params, j.options
from picked p
left join lateral (
    select params, options from job where job.tenant_id = p.tenant_id and job.id = p.id limit 1
) j on true;

-- name: job_claim_limited
-- The same for lanes with limits; see the function. Rows without an id are lanes that were cut short.
-- $1 … $9 as job_claim, but arrays, $10 groups, $11 their running limits, $12 rates, $13 bursts, $14 how many groups each
-- lane has, $15 which
select lane_id, id, attempt, rank, params, options, wait
from limited_claim($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15);

-- name: job_complete
-- Ends attempts for good: from lease to outcome. Returns the ids that were ended; the others are stale.
-- $1 worker, $2 lanes, $3 ids, $4 attempts, $5 tenants, $6 states, $7 endings, $8 results, $9 errors, $10 blobs,
-- $11 seconds waited before the start, $12 cpu seconds, $13 peak memory, $14 causes of failures
with held as materialized (
    select l.place, l.granted_at, l.slots, f.*
    from unnest($2::int[], $3::uuid[], $4::int[], $5::int[], $6::text[], $7::text[], $8::text[], $9::text[],
                $10::bigint[], $11::float[], $12::real[], $13::bigint[], $14::text[])
        as f (lane_id, id, attempt, tenant_id, state, ending, result, error, blob, waited, cpu, peak_memory, cause)
    cross join lateral (
        select lease.ctid as place, granted_at, slots from lease
        where lease.lane_id = f.lane_id and lease.id = f.id and lease.attempt = f.attempt
          and lease.worker_id + 0 = $1 -- not by the index of workers, which would walk all that it holds
        limit 1
    ) l
), gone as (
    delete from lease where ctid = any (array(select place from held)) returning true
), freed as (
    delete from slot where ctid = any (array(
        select s.place from held cross join lateral unnest(held.slots) as g (group_id)
        cross join lateral (
            select slot.ctid as place from slot where slot.group_id = g.group_id and slot.id = held.id limit 1
        ) s))
)
insert into outcome (id, started_at, finished_at, tenant_id, worker_id, attempt, state, ending, cpu, peak_memory, blob,
                     result, error, cause)
select id, least(granted_at + waited * interval '1 second', clock_timestamp()), clock_timestamp(), tenant_id, $1, attempt,
       state::outcome_state, ending::execution_end, cpu, peak_memory, blob, result, error, cause
from held
where (select same_or_retry((select count(*) from held), (select count(*) from gone)))
returning id::text as id;

-- name: job_succeed
-- The common case of job_complete: success with a small result.
-- $1 worker, $2 lanes, $3 ids, $4 attempts, $5 tenants, $6 results, if any has one,
-- $7 microseconds waited before the start
with held as materialized (
    select l.place, l.granted_at, l.slots, f.*
    from unnest($2::text::int[], $3::uuid[], $4::text::int[], $5::text::int[], $6::text[], $7::text::bigint[])
        as f (lane_id, id, attempt, tenant_id, result, waited)
    cross join lateral (
        select lease.ctid as place, granted_at, slots from lease
        where lease.lane_id = f.lane_id and lease.id = f.id and lease.attempt = f.attempt
          and lease.worker_id + 0 = $1 -- not by the index of workers, which would walk all that it holds
        limit 1
    ) l
), gone as (
    delete from lease where ctid = any (array(select place from held)) returning true
), freed as (
    delete from slot where ctid = any (array(
        select s.place from held cross join lateral unnest(held.slots) as g (group_id)
        cross join lateral (
            select slot.ctid as place from slot where slot.group_id = g.group_id and slot.id = held.id limit 1
        ) s))
)
insert into outcome (id, started_at, finished_at, tenant_id, worker_id, attempt, state, ending, result)
select id, least(granted_at + waited * interval '1 microsecond', clock_timestamp()), clock_timestamp(), tenant_id, $1, attempt,
       'succeeded', 'succeeded', result
from held
where (select same_or_retry((select count(*) from held), (select count(*) from gone)))
returning id::text as id;

-- name: job_reschedule
-- Ends attempts that will be tried again: from lease to timer or ready, the ended attempt kept as history.
-- $1 worker, $2 lanes, $3 ids, $4 attempts, $5 tenants, $6 endings, $7 errors, $8 seconds waited before the start,
-- $9 cpu, $10 peak memory, $11 ranks, $12 seconds to wait before the next try
with held as materialized (
    select l.place, l.granted_at, l.slots, f.*
    from unnest($2::int[], $3::uuid[], $4::int[], $5::int[], $6::text[], $7::text[], $8::float[], $9::real[],
                $10::bigint[], $11::bigint[], $12::float[])
        as f (lane_id, id, attempt, tenant_id, ending, error, waited, cpu, peak_memory, rank, pause)
    cross join lateral (
        select lease.ctid as place, granted_at, slots from lease
        where lease.lane_id = f.lane_id and lease.id = f.id and lease.attempt = f.attempt
          and lease.worker_id + 0 = $1 -- not by the index of workers, which would walk all that it holds
        limit 1
    ) l
), gone as (
    delete from lease where ctid = any (array(select place from held)) returning true
), freed as (
    delete from slot where ctid = any (array(
        select s.place from held cross join lateral unnest(held.slots) as g (group_id)
        cross join lateral (
            select slot.ctid as place from slot where slot.group_id = g.group_id and slot.id = held.id limit 1
        ) s))
), ended as materialized (
    select * from held where (select same_or_retry((select count(*) from held), (select count(*) from gone)))
), kept as (
    insert into attempt (id, started_at, ended_at, tenant_id, worker_id, attempt, ending, cpu, peak_memory, error)
    select id, least(granted_at + waited * interval '1 second', clock_timestamp()), clock_timestamp(), tenant_id, $1, attempt,
           ending::execution_end, cpu, peak_memory, error
    from ended
), into_timer as (
    insert into timer (run_at, rank, id, lane_id, attempt)
    select clock_timestamp() + pause * interval '1 second', rank, id, lane_id, attempt from ended where pause > 0
), into_ready as (
    insert into ready (rank, id, lane_id, attempt)
    select rank, id, lane_id, attempt from ended where pause <= 0
)
select id::text as id, lane_id, attempt, rank, pause from ended;

-- name: timer_promote
-- Moves due jobs from timer to ready, at most $2. Returns the lanes and ranks, so that floors can be lowered.
-- $1 floor of run_at (dead entries below it are not walked over), $2 limit, $3 what is due later stays: the clock was set
-- forward, and this server has not dealt with that yet
with due as materialized (
    select timer.ctid as place, lane_id, rank, id, attempt from timer
    where run_at >= $1
      and run_at <= (select least(clock_timestamp(), $3)) -- once: an index condition, not a filter of every row
    order by run_at
    limit $2
    for update skip locked
), gone as (
    delete from timer where ctid = any (array(select place from due)) -- all of them: we hold their locks
), moved as (
    insert into ready (rank, id, lane_id, attempt) select rank, id, lane_id, attempt from due
)
select lane_id, min(rank) as rank, count(*) as moved from due group by lane_id;

-- name: timer_next
-- When the next job falls due, and what time the database thinks it is.
-- $1 floor of run_at
select clock_timestamp() as now,
       (select run_at from timer where run_at >= $1 order by run_at limit 1) as next_at;

-- name: ready_lanes
-- The lanes that have something ready, with the rank of their head: a loose scan over the index, one probe a lane.
-- $1 how many lanes at most, $2 lane to start after
with recursive walk as (
    (select lane_id, rank from ready where lane_id > $2 order by lane_id, rank limit 1)
    union all
    select n.lane_id, n.rank from walk
    cross join lateral (
        select r.lane_id, r.rank from ready r where r.lane_id > walk.lane_id order by r.lane_id, r.rank limit 1
    ) n
)
select lane_id, rank from walk limit $1;
