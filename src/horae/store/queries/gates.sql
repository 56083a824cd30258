-- Gates: making and releasing them, and moving the jobs they hold or drop. A statement that moves jobs behind a gate
-- keeps the gate's row from changing until it is done, so that nothing is held or dropped after a release.

-- name: gate_create
-- Sent again after a lost answer, it gives the gate that was made. No row: there is such a stop or breaker already.
-- $1 tenant or null, $2 queue, $3 task, $4 condition, $5 percent, $6 action, $7 running, $8 kind, $9 probe seconds,
-- $10 owner, $11 reason, $12 seconds to live or null, $13 the request
with made as (
    insert into gate (tenant_id, queue, task, condition, percent, action, running, kind, probe_seconds, owner, reason,
                      expires_at, request)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, clock_timestamp() + $12::float * interval '1 second', $13)
    on conflict do nothing
    returning id
)
select id from made union all select id from gate where request = $13;

-- name: gate_list
-- Gates, latest first, with how many jobs each holds or dropped, counted up to a bound.
-- $1 tenant or null for any, $2 gate or null for all, $3 whether those that are over as well, $4 bound, $5 rows,
-- $6 kind or null for any
select g.*, t.name as tenant, h.held
from gate g left join tenant t on t.id = g.tenant_id
cross join lateral (
    select case
        when g.action = 'drop' then (
            select count(*) from (
                select from gate_drop d where d.gate_id = g.id and ($1::int is null or d.tenant_id = $1) limit $4) x)
        when g.action = 'hold' and g.drained_at is null and g.condition is null and g.percent is null then (
            select count(*) from (
                select from lane l join ready r on r.lane_id = l.id
                where (g.tenant_id is null or l.tenant_id = g.tenant_id) and (g.queue is null or l.queue = g.queue)
                  and (g.task is null or l.task = g.task) and ($1::int is null or l.tenant_id = $1)
                limit $4) x)
        else (
            select count(*) from (
                select from blocked b join lane l on l.id = b.lane_id
                where b.gate_id = g.id and ($1::int is null or l.tenant_id = $1)
                limit $4) x)
    end as held
) h
where ($1::int is null or g.tenant_id = $1 or g.tenant_id is null) and ($2::int is null or g.id = $2)
  and ($3 or g.drained_at is null) and ($6::text is null or g.kind = $6)
order by g.id desc
limit $5;

-- name: gate_stops
-- The emergency stops in force, of exactly this tenant, or of all tenants.
-- $1 tenant or null
select id from gate where kind = 'stop' and released_at is null and tenant_id is not distinct from $1;

-- name: gate_radius
-- What an emergency stop would hold or touch, by queue: how much waits, about, what runs now, and on which workers.
-- $1 tenant or null for all, $2 rows
with going as (
    select l.tenant_id, l.queue, count(*) as running, array_agg(distinct le.worker_id) as workers
    from lease le join lane l on l.id = le.lane_id
    where $1::int is null or l.tenant_id = $1
    group by l.tenant_id, l.queue
), waiting as (
    select tenant_id, queue, greatest(pending, 0) as pending from depth where $1::int is null or tenant_id = $1
)
select t.name as tenant, queue, coalesce(w.pending, 0) as pending, coalesce(g.running, 0) as running, g.workers
from waiting w full join going g using (tenant_id, queue)
join tenant t on t.id = tenant_id
where coalesce(w.pending, 0) > 0 or g.running > 0
order by coalesce(w.pending, 0) + coalesce(g.running, 0) desc, t.name, queue
limit $2;

-- name: gate_change
-- $1 gate, $2 tenant or null for any, $3 reason or null, $4 whether the expiry changes, $5 seconds from now or null
update gate
set reason = coalesce($3, reason),
    expires_at = case when $4 then clock_timestamp() + $5::float * interval '1 second' else expires_at end
where id = $1 and ($2::int is null or tenant_id = $2) and released_at is null
returning id;

-- name: gate_stop_again
-- A stop that is asked for once more: it has the last reason, and is no weaker than either asks.
-- $1 gate, $2 tenant or null for any, $3 reason, $4 what becomes of running jobs, $5 seconds from now or null for no end
update gate
set reason = $3, running = case when $4 = 'leave' then running else $4 end,
    expires_at = case when expires_at is not null and $5::float is not null
                 then greatest(expires_at, clock_timestamp() + $5 * interval '1 second') end
where id = $1 and ($2::int is null or tenant_id = $2) and released_at is null
returning id;

-- name: gate_release
-- Opens a gate, or changes the rate at which its backlog is let out. What holds no backlog is over at once.
-- $1 gate, $2 tenant or null for any, $3 who, $4 rate or null
update gate
set released_at = coalesce(released_at, clock_timestamp()), released_by = $3, release_rate = $4,
    drained_at = case when action <> 'hold' or (condition is null and percent is null and $4::float is null)
                 then clock_timestamp() end
where id = $1 and ($2::int is null or tenant_id = $2) and drained_at is null
returning id;

-- name: gate_expired
-- Gates whose time is up.
select id from gate where released_at is null and expires_at <= clock_timestamp();

-- name: gate_expire
-- $1 gates
update gate
set released_at = clock_timestamp(), released_by = 'expiry',
    drained_at = case when action <> 'hold' or (condition is null and percent is null) then clock_timestamp() end
where id = any ($1::int[]) and released_at is null and expires_at <= clock_timestamp()
returning id;

-- name: gate_note
-- What is to be said about a gate.
-- $1 gates, $2 notes
update gate g set note = n.note, noted_at = clock_timestamp()
from unnest($1::int[], $2::text[]) as n (id, note)
where g.id = n.id and g.note is distinct from n.note;

-- name: gate_look_ready
-- A page of the ready jobs in the lanes of a gate, with what its condition looks at, if it has one.
-- $1 tenant or null, $2 queue or null, $3 task or null, $4 lane, $5 rank, $6 id to go on after, $7 rows,
-- $8 whether with params
select r.lane_id, r.rank, r.id, l.tenant_id, l.queue, l.task, case when $8 then j.params end as params, j.options
from (
    select r.lane_id, r.rank, r.id from ready r
    where (r.lane_id, r.rank, r.id) > ($4::int, $5::bigint, $6::uuid)
      and r.lane_id in (select id from lane where ($1::int is null or tenant_id = $1)
                        and ($2::text is null or queue = $2) and ($3::text is null or task = $3))
    order by r.lane_id, r.rank, r.id
    limit $7
) r
join lane l on l.id = r.lane_id
join job j on j.tenant_id = l.tenant_id and j.id = r.id
order by r.lane_id, r.rank, r.id;

-- name: gate_look_timer
-- The same of scheduled jobs.
-- $1 tenant or null, $2 queue or null, $3 task or null, $4 lane, $5 (not used here), $6 id to go on after,
-- $7 rows, $8 whether with params
select r.lane_id, r.rank, r.id, l.tenant_id, l.queue, l.task, case when $8 then j.params end as params, j.options
from (
    select r.lane_id, r.rank, r.id from timer r
    where (r.lane_id, r.id) > ($4::int, $6::uuid) and $5::bigint is not null
      and r.lane_id in (select id from lane where ($1::int is null or tenant_id = $1)
                        and ($2::text is null or queue = $2) and ($3::text is null or task = $3))
    order by r.lane_id, r.id
    limit $7
) r
join lane l on l.id = r.lane_id
join job j on j.tenant_id = l.tenant_id and j.id = r.id
order by r.lane_id, r.id;

-- name: gate_look_blocked
-- The same of jobs behind this gate or another.
-- $1 tenant or null, $2 queue or null, $3 task or null, $4 lane, $5 (not used here), $6 id to go on after,
-- $7 rows, $8 whether with params
select r.lane_id, r.rank, r.id, l.tenant_id, l.queue, l.task, case when $8 then j.params end as params, j.options
from (
    select r.lane_id, r.rank, r.id from blocked r
    where (r.lane_id, r.id) > ($4::int, $6::uuid) and $5::bigint is not null
      and r.lane_id in (select id from lane where ($1::int is null or tenant_id = $1)
                        and ($2::text is null or queue = $2) and ($3::text is null or task = $3))
    order by r.lane_id, r.id
    limit $7
) r
join lane l on l.id = r.lane_id
join job j on j.tenant_id = l.tenant_id and j.id = r.id
order by r.lane_id, r.id;

-- name: gate_look_running
-- The same of running jobs: those that had started before the gate was closed and were not asked to stop yet.
-- $1 tenant or null, $2 queue or null, $3 task or null, $4 lane, $5 gate, $6 id to go on after, $7 rows,
-- $8 whether with params
select r.lane_id, 0::bigint as rank, r.id, l.tenant_id, l.queue, l.task, case when $8 then j.params end as params, j.options
from (
    select r.lane_id, r.id from lease r
    where (r.lane_id, r.id) > ($4::int, $6::uuid)
      and r.granted_at < (select made_at from gate where id = $5::bigint and released_at is null)
      and r.lane_id in (select id from lane where ($1::int is null or tenant_id = $1)
                        and ($2::text is null or queue = $2) and ($3::text is null or task = $3))
      and not exists (select from cancel_request c
                      where c.worker_id = r.worker_id and c.id = r.id and c.attempt = r.attempt)
      and not exists (select from move_request m
                      where m.worker_id = r.worker_id and m.id = r.id and m.attempt = r.attempt)
    order by r.lane_id, r.id
    limit $7
) r
join lane l on l.id = r.lane_id
join job j on j.tenant_id = l.tenant_id and j.id = r.id
order by r.lane_id, r.id;

-- name: gate_block
-- Moves ready jobs behind a gate that holds some of their lane.
-- $1 gate, $2 lanes, $3 ranks, $4 ids
with shut as materialized (
    select id from gate where id = $1 and released_at is null for share
), found as materialized (
    select r.place, w.lane_id, w.rank, w.id, r.attempt
    from shut cross join unnest($2::int[], $3::bigint[], $4::uuid[]) as w (lane_id, rank, id)
    cross join lateral (
        select ready.ctid as place, attempt from ready
        where ready.lane_id = w.lane_id and ready.rank = w.rank and ready.id = w.id
        limit 1
        for update skip locked
    ) r
), gone as (
    delete from ready where ctid = any (array(select place from found)) -- all of them: we hold their locks
)
insert into blocked (rank, id, lane_id, attempt, gate_id)
select rank, id, lane_id, attempt, $1 from found
returning id;

-- name: gate_drop_pending
-- Ends waiting jobs as dropped, wherever they wait, and notes them down so that they can be brought back.
-- $1 gate, $2 lanes, $3 ranks, $4 ids, $5 tenants, $6 error as JSON
with shut as materialized (
    select id from gate where id = $1 and released_at is null for share
), wanted as materialized (
    select w.* from shut
    cross join unnest($2::int[], $3::bigint[], $4::uuid[], $5::int[]) as w (lane_id, rank, id, tenant_id)
), in_ready as materialized (
    select w.*, r.place, r.attempt from wanted w cross join lateral (
        select ready.ctid as place, attempt from ready
        where ready.lane_id = w.lane_id and ready.rank = w.rank and ready.id = w.id limit 1 for update skip locked
    ) r
), in_timer as materialized (
    select w.*, t.place, t.attempt from wanted w cross join lateral (
        select timer.ctid as place, attempt from timer where timer.lane_id = w.lane_id and timer.id = w.id
        limit 1 for update skip locked
    ) t
), in_blocked as materialized (
    select w.*, b.place, b.attempt from wanted w cross join lateral (
        select blocked.ctid as place, attempt from blocked where blocked.lane_id = w.lane_id and blocked.id = w.id
        limit 1 for update skip locked
    ) b
), from_ready as (
    delete from ready where ctid = any (array(select place from in_ready))
), from_timer as (
    delete from timer where ctid = any (array(select place from in_timer))
), from_blocked as (
    delete from blocked where ctid = any (array(select place from in_blocked))
), found as materialized (
    table in_ready union all table in_timer union all table in_blocked
), noted as (
    insert into gate_drop (gate_id, tenant_id, id) select $1, tenant_id, id from found
    on conflict (gate_id, tenant_id, id) do update set at = excluded.at
), ended as (
    insert into outcome (id, finished_at, tenant_id, attempt, state, ending, error)
    select id, clock_timestamp(), tenant_id, attempt, 'dropped', 'cancelled', $6 from found
)
select id::text as id, lane_id, attempt from found;

-- name: gate_block_leased
-- Moves jobs that a claim has just leased, and nobody was told of, behind the gates that hold them. The attempt never
-- was. Should a gate be released at this moment, its duty finds them and lets them out.
-- $1 worker, $2 lanes, $3 ids, $4 attempts, $5 tenants, $6 ranks, $7 gates
with held as materialized (
    select l.place, l.slots, f.*
    from unnest($2::int[], $3::uuid[], $4::int[], $5::int[], $6::bigint[], $7::int[])
        as f (lane_id, id, attempt, tenant_id, rank, gate_id)
    cross join lateral (
        select lease.ctid as place, slots from lease
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
), kept as (
    insert into blocked (rank, id, lane_id, attempt, gate_id)
    select rank, id, lane_id, attempt - 1, gate_id from held
    where (select same_or_retry((select count(*) from held), (select count(*) from gone)))
)
select id::text as id, attempt, slots from held;

-- name: gate_drop_leased
-- The same for gates that drop: from lease to outcome.
-- $1 worker, $2 lanes, $3 ids, $4 attempts, $5 tenants, $6 gates, $7 errors as JSON
with held as materialized (
    select l.place, l.slots, f.*
    from unnest($2::int[], $3::uuid[], $4::int[], $5::int[], $6::int[], $7::text[])
        as f (lane_id, id, attempt, tenant_id, gate_id, error)
    cross join lateral (
        select lease.ctid as place, slots from lease
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
), noted as (
    insert into gate_drop (gate_id, tenant_id, id) select gate_id, tenant_id, id from held
    on conflict (gate_id, tenant_id, id) do update set at = excluded.at
), ended as (
    insert into outcome (id, finished_at, tenant_id, attempt, state, ending, error)
    select id, clock_timestamp(), tenant_id, attempt - 1, 'dropped', 'cancelled', error from held
    where (select same_or_retry((select count(*) from held), (select count(*) from gone)))
)
select id::text as id, slots from held;

-- name: gate_backlogs
-- Gates that are open, and have jobs behind them or have not been told that they have none.
select g.id, g.tenant_id, g.queue, g.task, g.released_at, g.release_rate, g.drained_at is not null as drained,
       g.condition is null and g.percent is null as whole
from gate g
where g.released_at is not null
  and (g.drained_at is null or exists (select from blocked b where b.gate_id = g.id));

-- name: gate_unblock
-- Lets jobs out from behind an open gate, all at once, at most $2. Returns the lanes and ranks.
-- $1 gate, $2 rows
with picked as materialized (
    select blocked.ctid as place, lane_id, rank, id, attempt from blocked
    where gate_id = $1 and exists (select from gate where id = $1 and released_at is not null)
    limit $2
    for update skip locked
), gone as (
    delete from blocked where ctid = any (array(select place from picked)) -- all of them: we hold their locks
), moved as (
    insert into ready (rank, id, lane_id, attempt) select rank, id, lane_id, attempt from picked
)
select lane_id, min(rank) as rank, count(*) as moved from picked group by lane_id;

-- name: gate_unblock_slowly
-- Lets jobs out at the gate's rate, those for the next $2 seconds: each becomes due at its turn. The gate's row says
-- when the next turn is, and is held meanwhile, so that any number of servers keep the one rate.
-- $1 gate, $2 seconds ahead
with open as materialized (
    -- A turn lies no further ahead than this one could have put it, unless the clock was set back since.
    select id, release_rate, least(greatest(clock_timestamp(), coalesce(release_next_at, released_at)),
                                   clock_timestamp() + ($2 + 1 / release_rate) * interval '1 second') as start
    from gate where id = $1 and release_rate is not null and drained_at is null
    for update skip locked
), picked as materialized (
    select b.ctid as place, b.lane_id, b.rank, b.id, b.attempt from blocked b
    where b.gate_id = $1
    order by b.rank
    -- No row in `open`, and it would be no limit at all.
    limit coalesce((select greatest(0, ceil((extract(epoch from clock_timestamp() - start) + $2) * release_rate))::bigint
                    from open), 0)
    for update skip locked
), turns as materialized (
    select p.*, o.start + (row_number() over (order by p.rank) - 1) / o.release_rate * interval '1 second' as run_at
    from picked p cross join open o
), gone as (
    delete from blocked where ctid = any (array(select place from turns)) -- all of them: we hold their locks
), moved as (
    insert into timer (run_at, rank, id, lane_id, attempt) select run_at, rank, id, lane_id, attempt from turns
), next as (
    update gate g set release_next_at = o.start + (select count(*) from turns) / o.release_rate * interval '1 second'
    from open o where g.id = o.id and exists (select from turns)
)
select count(*) as moved, min(run_at) as run_at from turns;

-- name: gate_is_drained
-- Whether nothing is left of what waited when the gate was released.
-- $1 gate, $2 tenant or null, $3 queue or null, $4 task or null, $5 whether it held whole lanes, $6 lowest id made after,
-- $7 a rank that what waited then is below
select not exists (select from blocked b where b.gate_id = $1)
   and not ($5 and exists (
       select from lane l join ready r on r.lane_id = l.id
       where ($2::int is null or l.tenant_id = $2) and ($3::text is null or l.queue = $3)
         and ($4::text is null or l.task = $4) and r.rank < $7::bigint and r.id < $6::uuid
   )) as drained;

-- name: gate_left
-- The lanes in which something is left of what waited when a gate over whole lanes was released.
-- $1 tenant or null, $2 queue or null, $3 task or null, $4 lowest id made after, $5 a rank that what waited then is below,
-- $6 lanes
select l.id as lane_id from lane l
where ($1::int is null or l.tenant_id = $1) and ($2::text is null or l.queue = $2) and ($3::text is null or l.task = $3)
  and exists (select from ready r where r.lane_id = l.id and r.rank < $5::bigint and r.id < $4::uuid)
limit $6;

-- name: gate_drain
-- The gate is over.
-- $1 gate
update gate set drained_at = clock_timestamp() where id = $1 and released_at is not null and drained_at is null
returning id;

-- name: gate_restore
-- Brings back jobs that a gate dropped: from outcome to ready or timer, by their time. Those that somebody else ran
-- again meanwhile are only forgotten here.
-- $1 gate, $2 tenant or null for any, $3 queue or null, $4 task or null, $5 ids or null, $6 lowest id, $7 rows
with picked as materialized (
    select d.ctid as place, d.tenant_id, d.id, j.lane_id, j.rank, j.run_at, j.options
    from gate_drop d
    join job j on j.tenant_id = d.tenant_id and j.id = d.id
    join lane l on l.id = j.lane_id
    where d.gate_id = $1 and d.id >= $6 and ($2::int is null or d.tenant_id = $2)
      and ($3::text is null or l.queue = $3) and ($4::text is null or l.task = $4)
      and ($5::uuid[] is null or d.id = any ($5))
      and exists (select from gate g where g.id = $1 and g.released_at is not null)
    limit $7
    for update of d skip locked
), gone as (
    delete from outcome o using picked p
    where o.tenant_id = p.tenant_id and o.id = p.id and o.state = 'dropped'
    returning o.tenant_id, o.id, o.attempt
), forgotten as (
    delete from gate_drop where ctid = any (array(select place from picked)) -- all of them: we hold their locks
), back as materialized (
    select p.tenant_id, p.id, p.lane_id, p.rank, p.run_at, p.options, g.attempt, p.run_at <= clock_timestamp() as due
    from gone g join picked p on p.tenant_id = g.tenant_id and p.id = g.id
), into_ready as (
    insert into ready (rank, id, lane_id, attempt) select rank, id, lane_id, attempt from back where due
), into_timer as (
    insert into timer (run_at, rank, id, lane_id, attempt)
    select run_at, rank, id, lane_id, attempt from back where not due
)
select p.tenant_id, p.id, p.lane_id, p.rank, p.run_at, p.options, b.id is not null as restored, b.due
from picked p left join back b on b.tenant_id = p.tenant_id and b.id = p.id;

-- name: gate_cancel_running
-- Asks the workers of running jobs to stop them. Returns the workers. The lock keeps a job from going back to pending
-- meanwhile, where nobody would look for the request.
-- $1 lanes, $2 ids, $3 reason, $4 who
insert into cancel_request (id, worker_id, lane_id, attempt, reason, requested_by)
select le.id, le.worker_id, le.lane_id, le.attempt, $3, $4
from unnest($1::int[], $2::uuid[]) as w (lane_id, id)
join lease le on le.lane_id = w.lane_id and le.id = w.id
for share of le
on conflict (worker_id, id) do update set reason = excluded.reason, attempt = excluded.attempt
returning worker_id;

-- name: gate_move_running
-- Asks the workers of running jobs to stop them, so that they wait behind the gate. Returns the workers.
-- $1 lanes, $2 ids, $3 reason, $4 who
insert into move_request (id, worker_id, lane_id, attempt, reason, requested_by)
select le.id, le.worker_id, le.lane_id, le.attempt, $3, $4
from unnest($1::int[], $2::uuid[]) as w (lane_id, id)
join lease le on le.lane_id = w.lane_id and le.id = w.id
on conflict (worker_id, id) do update set reason = excluded.reason, attempt = excluded.attempt
returning worker_id;

-- name: gate_forget
-- Forgets what was dropped longer ago than $1 seconds, and gates that are over for longer than $2; at most $3 rows.
-- $1 seconds, $2 seconds, $3 rows
with old as (
    delete from gate where drained_at < clock_timestamp() - $2 * interval '1 second'
)
delete from gate_drop where ctid = any (array(
    select ctid from gate_drop where at < (select clock_timestamp()) - $1 * interval '1 second' limit $3))
returning 1;
