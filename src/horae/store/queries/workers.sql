-- Workers: joining, heartbeats, giving work back. The tenant of these calls is the worker's own.

-- name: worker_join
-- $1 tenant or null for all, $2 name, $3 host, $4 slots, $5 tasks, $6 queues or null, $7 labels, $8 version, $9 pid,
-- $10 cpus, $11 memory, $12 region, $13 zone, $14 kind, $15 gpus, $16 disk, $17 kinds, $18 widest, $19 lease seconds
with joined as (
    insert into worker (tenant_id, name, host, slots, tasks, queues, labels, version, pid, cpus, memory, region, zone,
                        kind, gpus, disk, kinds, widest, expires_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
            clock_timestamp() + $19 * interval '1 second')
    returning id
), noted as (
    insert into worker_event (worker_id, event) select id, 'joined' from joined
)
select id from joined;

-- name: worker_heartbeat
-- Renews a worker's lease, and with it all its jobs. No row: the lease had ended, and stays ended.
-- A maintenance whose time is over ends here: only a worker that lives has anything to go on with. All four columns go
-- by one reading of the clock, or a worker could stay drained without an end.
-- A silence of more than half a lease is noted down, as is the end of a maintenance: a worker that is well writes nothing.
-- $1 worker, $2 tenant or null, $3 now, by a clock that never jumps ahead, $4 lease seconds, $5 running, $6 queued, $7 cpu,
-- $8 memory
with was as materialized (
    select extract(epoch from clock_timestamp() - seen_at) as silence, steer_until <= statement_timestamp() as rested
    from worker where id = $1
), beat as (
    update worker
    set seen_at = clock_timestamp(), expires_at = clock_timestamp() + $4 * interval '1 second', running = $5, queued = $6,
        cpu_load = $7, memory_load = $8,
        state = case when steer_until <= statement_timestamp() then 'active' else state end,
        steered_by = case when steer_until <= statement_timestamp() then null else steered_by end,
        steer_reason = case when steer_until <= statement_timestamp() then null else steer_reason end,
        steer_until = case when steer_until <= statement_timestamp() then null else steer_until end
    where id = $1 and tenant_id is not distinct from $2 and state in ('active', 'draining')
      and expires_at > least($3::timestamptz, clock_timestamp())
    returning state
), late as (
    insert into worker_event (worker_id, at, event, seconds)
    select $1, date_bin('10 minutes', clock_timestamp(), 'epoch'), 'late', was.silence
    from was cross join beat where was.silence > $4 / 2
    on conflict (worker_id, at, event) do update
    set times = worker_event.times + 1, seconds = greatest(worker_event.seconds, excluded.seconds)
), rested as (
    insert into worker_event (worker_id, event, reason)
    select $1, 'resumed', 'its maintenance is over' from was cross join beat where was.rested
)
select state from beat;

-- name: worker_get
-- $1 worker, $2 tenant or null for any
select w.*, t.name as tenant, clock_timestamp() as now from worker w left join tenant t on t.id = w.tenant_id
where w.id = $1 and ($2::int is null or w.tenant_id = $2 or w.tenant_id is null);

-- name: worker_list
-- Those that joined last first.
-- $1 tenant or null for any, $2 states, $3 the worker after which to go on or null, $4 rows or null for all
select w.*, t.name as tenant, clock_timestamp() as now from worker w left join tenant t on t.id = w.tenant_id
where ($1::int is null or w.tenant_id = $1 or w.tenant_id is null) and w.state = any ($2::text[])
  and ($3::int is null or w.id < $3)
order by w.id desc
limit $4;

-- name: worker_set_state
-- $1 worker, $2 tenant or null for any, $3 new state, $4 states it may come from
with changed as (
    update worker set state = $3
    where id = $1 and ($2::int is null or tenant_id = $2) and state = any ($4::text[])
    returning id
), noted as (
    insert into worker_event (worker_id, event) select id, $3 from changed
)
select id from changed;

-- name: worker_steer
-- Drains a worker, or lets it go on ($3), and notes who did, why and until when.
-- $1 worker, $2 tenant or null for any, $3 new state, $4 who, $5 reason or null, $6 seconds or null
with steered as (
    update worker
    set state = $3, steered_by = case when $3 = 'draining' then $4::text end, steer_reason = $5,
        steer_until = clock_timestamp() + $6::float * interval '1 second'
    where id = $1 and ($2::int is null or tenant_id = $2) and state in ('active', 'draining')
      and expires_at > clock_timestamp()
    returning id
), noted as (
    insert into worker_event (worker_id, event, who, reason, seconds)
    select id, case when $3 = 'draining' then 'drained' else 'resumed' end, $4, $5, $6 from steered
)
select id from steered;

-- name: worker_expired
-- Workers whose lease has ended, and those lost of late that hold something, in case a claim raced with their end. Never by
-- a time that the database has not reached: a server may not have read the clock since it was set back and leases began anew.
-- $1 now, by a clock that never jumps ahead, $2 seconds to look back, or null for all that are lost
select id, state from worker
where (state in ('active', 'draining') and expires_at <= least($1::timestamptz, (select clock_timestamp())))
   or (state in ('lost', 'left') and ($2::float is null or expires_at > $1::timestamptz - $2 * interval '1 second')
       -- Not by `exists`, which a plan made on an empty table would answer by a walk over all leases.
       and (select lease.id from lease where lease.worker_id = worker.id limit 1) is not null);

-- name: worker_lose
-- Declares a worker lost if its lease has really ended; decided by the row's own lock.
-- $1 worker, $2 now, by a clock that never jumps ahead
with lost as (
    update worker set state = 'lost'
    where id = $1 and state in ('active', 'draining') and expires_at <= least($2::timestamptz, clock_timestamp())
    returning id
), noted as (
    insert into worker_event (worker_id, event) select id, 'lost' from lost
)
select id from lost;

-- name: worker_set_right
-- Workers that were seen in the future: the clock was set back. Their leases begin anew; else one that is dead would hold
-- its jobs until the clock gets there again.
update worker set seen_at = clock_timestamp(), expires_at = clock_timestamp() + (expires_at - seen_at)
where state in ('active', 'draining') and seen_at > clock_timestamp() + interval '1 second'
returning id;

-- name: lease_of_worker
-- The leases a worker holds: all, or those of some grants.
-- $1 worker, $2 grant numbers or null for all, $3 rows
select le.lane_id, le.id::text as id, le.attempt, l.tenant_id
from (
    select lane_id, id, attempt from lease
    where worker_id = $1 and ($2::int[] is null or grant_number = any ($2))
    limit $3
) le
cross join lateral (select tenant_id from lane where lane.id = le.lane_id limit 1) l;

-- name: lease_of_lost
-- The leases of a worker that is gone, with what decides where its jobs go.
-- $1 worker, $2 rows
select le.lane_id, le.id::text as id, le.attempt, le.slots, l.tenant_id, j.rank,
       cr.id is not null as cancel_requested, cr.reason, a.crashes
from (select lane_id, id, attempt, slots from lease where worker_id = $1 limit $2) le
cross join lateral (select tenant_id from lane where lane.id = le.lane_id limit 1) l
left join lateral (
    select rank, options from job where job.tenant_id = l.tenant_id and job.id = le.id limit 1
) j on true
cross join lateral (
    select count(*) as crashes from attempt
    where attempt.tenant_id = l.tenant_id and attempt.id = le.id and ending in ('crashed', 'lost')
      and attempt.attempt > attempts_forgiven(j.options)
) a
left join lateral (
    select id, reason from cancel_request c
    where c.worker_id = $1 and c.id = le.id and c.attempt = le.attempt
    limit 1
) cr on true;

-- name: cancel_orders
-- What a worker should stop, for good or to go on elsewhere. A cancel goes before a move. Requests whose lease is gone
-- are cleaned away by cancel_clean.
-- $1 worker
select c.id::text as id, c.attempt, c.reason, false as move from cancel_request c
cross join lateral (
    select from lease le where le.lane_id = c.lane_id and le.id = c.id and le.attempt = c.attempt limit 1
) held
where c.worker_id = $1
union all
select m.id::text, m.attempt, m.reason, true from move_request m
cross join lateral (
    select from lease le where le.lane_id = m.lane_id and le.id = m.id and le.attempt = m.attempt limit 1
) held
where m.worker_id = $1
  and not exists (select from cancel_request c where c.worker_id = $1 and c.id = m.id and c.attempt = m.attempt);

-- name: cancel_clean
-- $1 seconds: requests older than this whose lease is gone
with moves as (
    delete from move_request m
    where m.requested_at < clock_timestamp() - $1 * interval '1 second'
      and not exists (select from lease le where le.lane_id = m.lane_id and le.id = m.id and le.attempt = m.attempt)
)
delete from cancel_request c
where c.requested_at < clock_timestamp() - $1 * interval '1 second'
  and not exists (select from lease le where le.lane_id = c.lane_id and le.id = c.id and le.attempt = c.attempt);

-- name: worker_clean
-- Forgets workers that have been gone for $1 seconds and hold nothing, and what happened to workers $2 seconds ago.
-- $1 seconds, $2 seconds
with gone as (
    delete from worker w
    where w.state in ('left', 'lost') and w.seen_at < clock_timestamp() - $1 * interval '1 second'
      and not exists (select from lease le where le.worker_id = w.id)
    returning w.id
)
delete from worker_event e
where e.at < (select clock_timestamp()) - $2 * interval '1 second' or e.worker_id in (select id from gone);

-- name: worker_history
-- What happened to a worker and to those of the same name on the same host before it, latest first.
-- $1 worker, $2 tenant or null for any, $3 rows
select e.worker_id, e.at, e.event, e.who, e.reason, e.seconds, e.times
from worker w
join worker o on o.name = w.name and o.host = w.host and o.tenant_id is not distinct from w.tenant_id
join worker_event e on e.worker_id = o.id
where w.id = $1 and ($2::int is null or w.tenant_id = $2 or w.tenant_id is null)
order by e.at desc, e.worker_id desc, e.event
limit $3;

-- name: worker_runs
-- How many jobs of which task each worker runs.
-- $1 tenant or null for any, $2 rows
select le.worker_id, l.task, count(*) as jobs
from lease le join lane l on l.id = le.lane_id
where $1::int is null or l.tenant_id = $1
group by le.worker_id, l.task
order by le.worker_id, jobs desc, l.task
limit $2;

-- name: log_append
-- Stores output of attempts that this worker holds. Sent twice, stored once.
-- $1 worker, $2 lanes, $3 ids, $4 attempts, $5 seqs, $6 streams, $7 texts
insert into log_chunk (id, tenant_id, attempt, seq, stream, text)
select c.id, l.tenant_id, c.attempt, c.seq, c.stream, c.text
from unnest($2::int[], $3::uuid[], $4::int[], $5::int[], $6::text[], $7::text[])
    as c (lane_id, id, attempt, seq, stream, text)
join lane l on l.id = c.lane_id
join lease le on le.lane_id = c.lane_id and le.id = c.id and le.attempt = c.attempt and le.worker_id + 0 = $1
on conflict do nothing;

-- name: log_page
-- $1 tenant, $2 id, $3 after attempt, $4 after seq, $5 rows
select attempt, seq, stream, at, text from log_chunk
where tenant_id = $1 and id = $2 and (attempt, seq) > ($3, $4) and stream <> 'partial'
order by attempt, seq
limit $5;

-- name: partial_page
-- The pieces of a result that lie among the output.
-- $1 tenant, $2 id, $3 after attempt, $4 after seq, $5 rows
select attempt, seq, at, text from log_chunk
where tenant_id = $1 and id = $2 and (attempt, seq) > ($3, $4) and stream = 'partial'
order by attempt, seq
limit $5;

-- name: checkpoint_save
-- Keeps what a running attempt wants to find again. No row: the lease is gone.
-- $1 worker, $2 lane, $3 id, $4 attempt, $5 data
insert into checkpoint (tenant_id, id, attempt, data)
select l.tenant_id, le.id, le.attempt, $5
from lease le join lane l on l.id = le.lane_id
where le.lane_id = $2 and le.id = $3 and le.attempt = $4 and le.worker_id = $1
on conflict (tenant_id, id) do update set attempt = excluded.attempt, data = excluded.data, at = clock_timestamp()
returning id;

-- name: progress_save
-- $1 worker, $2 ids, $3 attempts, $4 done, $5 total, $6 note
insert into checkpoint (tenant_id, id, attempt, done, total, note)
select l.tenant_id, le.id, le.attempt, p.done, p.total, p.note
from (
    select lease.lane_id, lease.id, lease.attempt from lease where lease.worker_id = $1 limit 1000000
) le
cross join lateral (
    select done, total, note
    from unnest($2::uuid[], $3::int[], $4::float[], $5::float[], $6::text[]) as u (id, attempt, done, total, note)
    where u.id = le.id and u.attempt = le.attempt
    limit 1
) p
cross join lateral (select tenant_id from lane where lane.id = le.lane_id limit 1) l
on conflict (tenant_id, id) do update
set attempt = excluded.attempt, done = excluded.done, total = excluded.total, note = excluded.note,
    at = clock_timestamp();

-- name: checkpoint_load
-- What earlier attempts of these jobs saved.
-- $1 tenants, $2 ids
select c.id::text as id, c.data
from unnest($1::int[], $2::uuid[]) as w (tenant_id, id)
join checkpoint c on c.tenant_id = w.tenant_id and c.id = w.id
where c.data is not null;
