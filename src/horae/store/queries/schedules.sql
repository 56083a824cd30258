-- Schedules, their ticks, backfills and calendars. Whoever changes a schedule or its ticks holds the schedule's row.
--
-- The time is asked for in a subquery where an index is to be searched with it: clock_timestamp() is volatile, and would
-- otherwise be compared with every row.

-- name: schedule_create
-- No row: the name is taken.
-- $1 tenant, $2 name, $3 task, $4 definition, $5 cursor, $6 next_at, $7 key, $8 by, $9 tzdata, $10 paused
insert into schedule (tenant_id, name, task, definition, cursor_at, next_at, key_id, made_by, changed_by, tzdata,
                      paused_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, case when $10::boolean then clock_timestamp() end)
on conflict do nothing
returning *;

-- name: schedule_version_add
-- $1 tenant, $2 name, $3 schedule, $4 version, $5 action, $6 definition, $7 by, $8 why
insert into schedule_version (tenant_id, name, schedule_id, version, action, definition, by, why)
values ($1, $2, $3, $4, $5, $6, $7, $8);

-- name: schedule_get
-- With the next tick that was made a job or planned already, if there is one.
-- $1 tenant, $2 name
select s.*, n.name as tenant, clock_timestamp() as now,
       (select run_at from tick t
        where t.schedule_id = s.id and t.origin = 'rule' and t.at > (select clock_timestamp()) and t.state <> 'skipped'
        order by t.at limit 1) as ahead_at
from schedule s join tenant n on n.id = s.tenant_id
where s.tenant_id = $1 and s.name = $2;

-- name: schedule_list
-- $1 tenant, or null for any, $2 task, or null for any, $3 name and $4 tenant number to go on after, $5 rows,
-- $6 a part of the name or the task, or null, $7 state, or null
select s.*, n.name as tenant, clock_timestamp() as now,
       (select run_at from tick t
        where t.schedule_id = s.id and t.origin = 'rule' and t.at > (select clock_timestamp()) and t.state <> 'skipped'
        order by t.at limit 1) as ahead_at
from schedule s join tenant n on n.id = s.tenant_id
where ($1::int is null or s.tenant_id = $1) and ($2::text is null or s.task = $2)
  and (s.name, s.tenant_id) > ($3, $4::int)
  and s.name >= $3 -- says nothing new, but an index by tenant and name can begin there
  and ($6::text is null or strpos(lower(s.name), lower($6)) > 0 or strpos(lower(s.task), lower($6)) > 0)
  and ($7::text is null or $7 = case
       when s.paused_at is not null then 'paused'
       when s.next_at is null and not exists (
           select from tick t
           where t.schedule_id = s.id and t.origin = 'rule' and t.at > (select clock_timestamp())
             and t.state <> 'skipped') then 'ended'
       else 'active' end)
order by s.name, s.tenant_id
limit $5;

-- name: schedule_timings
-- What the schedules that are not paused do.
-- $1 tenant, $2 rows
select definition from schedule where tenant_id = $1 and paused_at is null order by name limit $2;

-- name: schedule_lock
-- $1 tenant, $2 name
select *, clock_timestamp() as now from schedule where tenant_id = $1 and name = $2 for update;

-- name: schedule_change
-- $1 tenant, $2 schedule, $3 task, $4 definition, $5 cursor, $6 next_at, $7 runs, $8 paused, $9 by, $10 tzdata, $11 key,
-- $12 1 for a change by a person, 0 for another look at the same rule
update schedule
set task = $3, definition = $4, cursor_at = $5, next_at = $6, runs = $7, changed_by = $9, tzdata = $10, key_id = $11,
    paused_at = case when $8::boolean then coalesce(paused_at, clock_timestamp()) end,
    version = version + $12::int, changed_at = case when $12 > 0 then clock_timestamp() else changed_at end
where tenant_id = $1 and id = $2
returning *;

-- name: schedule_delete
-- $1 tenant, $2 schedule
delete from schedule where tenant_id = $1 and id = $2;

-- name: schedule_history
-- Newest first. A name may have belonged to several schedules, one after the other.
-- $1 tenant, $2 name, $3 rows
select * from schedule_version where tenant_id = $1 and name = $2 order by schedule_id desc, version desc limit $3;

-- name: schedule_by_calendar
-- Those that may use a calendar: the caller looks into the definitions.
-- $1 tenant
select * from schedule where tenant_id = $1 and definition like '%"calendars"%' limit 100000;

-- name: schedule_claim
-- Locks schedules whose next tick is near, so that one server at a time moves their cursors.
-- $1 seconds ahead, $2 limit
select *, clock_timestamp() as now from schedule
where next_at <= (select clock_timestamp()) + $1 * interval '1 second' and paused_at is null
order by next_at
limit $2
for update skip locked;

-- name: schedule_advance
-- $1 schedules, $2 cursors, $3 next_at, $4 ticks that became jobs
update schedule s set cursor_at = a.cursor_at, next_at = a.next_at, runs = s.runs + a.fired
from unnest($1::bigint[], $2::timestamptz[], $3::timestamptz[], $4::int[]) as a (id, cursor_at, next_at, fired)
where s.id = a.id;

-- name: schedule_count_run
-- Ticks that were judged and became jobs.
-- $1 schedules, $2 runs
update schedule s set runs = s.runs + a.runs from unnest($1::bigint[], $2::int[]) as a (id, runs) where s.id = a.id;

-- name: tick_fire
-- Makes jobs of ticks. A job that is there already, by its derived id, stays as it is. Returns those that are new.
-- $1 ids, $2 ranks, $3 run_at, $4 tenants, $5 lanes, $6 keys, $7 priorities, $8 params, $9 options
with asked as (
    select * from unnest($1::uuid[], $2::bigint[], $3::timestamptz[], $4::int[], $5::int[], $6::int[], $7::smallint[],
                         $8::text[], $9::text[])
        as f (id, rank, run_at, tenant_id, lane_id, key_id, priority, params, options)
), bodies as (
    insert into job (id, rank, run_at, tenant_id, lane_id, key_id, priority, params, options)
    select id, rank, run_at, tenant_id, lane_id, key_id, priority, params, options from asked
    on conflict do nothing
    returning id, rank, run_at, lane_id
), placed as materialized (
    select *, run_at <= clock_timestamp() as due from bodies
), timers as (
    insert into timer (run_at, rank, id, lane_id, attempt) select run_at, rank, id, lane_id, 0 from placed where not due
), readies as (
    insert into ready (rank, id, lane_id, attempt) select rank, id, lane_id, 0 from placed where due
)
select id, rank, run_at, lane_id, due from placed;

-- name: tick_put
-- Writes down what becomes of ticks. One that has become a job is never written over.
-- $1 schedules, $2 at, $3 origins, $4 tenants, $5 run_at, $6 states, $7 jobs, $8 reasons, $9 details, $10 counts,
-- $11 look_at
insert into tick (schedule_id, at, origin, tenant_id, run_at, state, job_id, reason, detail, count, look_at)
select * from unnest($1::bigint[], $2::timestamptz[], $3::text[], $4::int[], $5::timestamptz[], $6::text[], $7::uuid[],
                     $8::text[], $9::text[], $10::int[], $11::timestamptz[])
on conflict (schedule_id, at, origin) do update
set state = excluded.state, job_id = excluded.job_id, reason = excluded.reason, detail = excluded.detail,
    count = excluded.count, look_at = excluded.look_at, run_at = excluded.run_at
where tick.job_id is null;

-- name: tick_claim
-- Locks the schedules that have ticks to be judged now.
-- $1 ticks to look at
select *, clock_timestamp() as now from schedule
where id in (select schedule_id from tick where look_at <= (select clock_timestamp()) order by look_at limit $1)
order by id
for update skip locked;

-- name: tick_judged
-- The ticks of these schedules that are due or wait already, oldest first. Read after the schedules were locked.
-- $1 schedules
select * from tick
where schedule_id = any ($1::bigint[]) and look_at is not null
  and (look_at <= clock_timestamp() or state = 'waiting')
order by schedule_id, at;

-- name: tick_alive
-- The runs of these schedules that have not ended, among the latest hundred of each. Backfills do not count.
-- $1 schedules
select s.id as schedule_id, r.job_id, r.at, cr.id is not null as cancel_requested
from unnest($1::bigint[]) as s (id)
cross join lateral (
    select job_id, at, tenant_id from tick
    where tick.schedule_id = s.id and job_id is not null and origin in ('rule', 'trigger')
    order by at desc
    limit 100
) r
join job j on j.tenant_id = r.tenant_id and j.id = r.job_id
left join lease le on le.lane_id = j.lane_id and le.id = j.id
left join cancel_request cr on cr.worker_id = le.worker_id and cr.id = j.id and cr.attempt = le.attempt
where not exists (select from outcome o where o.tenant_id = r.tenant_id and o.id = r.job_id);

-- name: tick_next
-- When the next tick has to be judged, and what time the database thinks it is.
select clock_timestamp() as now, (select min(look_at) from tick where look_at is not null) as look_at;

-- name: tick_take_back
-- Takes back ticks of the rule that have not started, among the latest $3: their jobs are gone as if they had never
-- been. One that a worker or the clock was quicker with stays.
-- $1 tenant, $2 schedule, $3 ticks to look at, $4 also those that are due and wait, for a worker or for the run before
with planned as (
    delete from tick where schedule_id = $2 and look_at is not null and ($4 or state = 'planned') returning at, run_at
), fired as materialized (
    select t.job_id, j.lane_id, j.rank
    from (select job_id from tick
          where schedule_id = $2 and job_id is not null and origin = 'rule'
          order by at desc limit $3) t
    cross join lateral (select lane_id, rank from job where tenant_id = $1 and id = t.job_id limit 1) j
), from_timer as (
    delete from timer where ctid = any (array(
        select p.place from fired f
        cross join lateral (
            select timer.ctid as place from timer
            where timer.lane_id = f.lane_id and timer.id = f.job_id and timer.attempt = 0
            limit 1
        ) p))
    returning id
), from_ready as (
    delete from ready where $4 and ctid = any (array(
        select p.place from fired f
        cross join lateral (
            select ready.ctid as place from ready
            where ready.lane_id = f.lane_id and ready.rank = f.rank and ready.id = f.job_id and ready.attempt = 0
            limit 1
        ) p))
    returning id
), gone as (
    select id from from_timer union all select id from from_ready
), bodies as (
    delete from job where tenant_id = $1 and id in (select id from gone)
), forgotten as (
    delete from tick where schedule_id = $2 and origin = 'rule' and job_id in (select id from gone)
    returning at, run_at
)
select at, run_at, false as fired from planned union all select at, run_at, true from forgotten;

-- name: tick_overdue
-- Schedules with ticks made ahead that should have started long ago and have not: no server ran meanwhile, or the clock was
-- set forward. First the lanes with overdue jobs, of which there are mostly none; then who may have put them there.
-- $1 seconds, $2 how many of a schedule's latest ticks to look at
with long_ago as materialized (
    select clock_timestamp() - $1 * interval '1 second' as at
), lanes as materialized (
    select distinct lane_id from timer where run_at < (select at from long_ago) and attempt = 0
)
select s.tenant_id, s.name
from lanes join lane l on l.id = lanes.lane_id join schedule s on s.tenant_id = l.tenant_id and s.task = l.task
where exists (
    select from (select job_id from tick t
                 where t.schedule_id = s.id and t.origin = 'rule' and t.job_id is not null
                 order by t.at desc limit $2) t
    join timer ti on ti.lane_id = l.id and ti.id = t.job_id
    where ti.run_at < (select at from long_ago) and ti.attempt = 0)
union
select s.tenant_id, s.name
from tick t join schedule s on s.id = t.schedule_id
where t.look_at < (select at from long_ago) and t.state = 'planned';

-- name: tick_list
-- What became of a schedule's ticks, latest first, and when their jobs first started.
-- $1 tenant, $2 schedule, $3 before, $4 only this state, or null, $5 rows
select t.*, o.state::text as outcome, le.id is not null as running, o.finished_at,
       coalesce(a.started_at, case when o.attempt = 1 then o.started_at end,
                case when le.attempt = 1 then le.granted_at end) as started_at
from tick t
left join job j on j.tenant_id = t.tenant_id and j.id = t.job_id
left join outcome o on o.tenant_id = t.tenant_id and o.id = t.job_id
left join lateral (
    select * from lease where lease.lane_id = j.lane_id and lease.id = j.id limit 1
) le on true
left join attempt a on a.tenant_id = t.tenant_id and a.id = t.job_id and a.attempt = 1
where t.tenant_id = $1 and t.schedule_id = $2 and t.at < $3 and ($4::text is null or t.state = $4)
order by t.at desc, t.origin
limit $5;

-- name: tick_latest
-- The last ticks of the rule of each of these schedules, when their jobs first started and how they ended, latest first.
-- The laterals with a limit keep it to one step down an index for each tick, however large those tables are.
-- $1 tenant, or null for any, $2 schedules, $3 ticks of each
select t.schedule_id, t.at, t.run_at, t.state, t.reason, t.count, t.job_id, o.state::text as outcome,
       le.id is not null as running,
       coalesce(a.started_at, case when o.attempt = 1 then o.started_at end,
                case when le.attempt = 1 then le.granted_at end) as started_at
from unnest($2::bigint[]) as s (id)
cross join lateral (
    select * from tick
    where tick.schedule_id = s.id and tick.origin = 'rule' and tick.at <= (select clock_timestamp())
      and ($1::int is null or tick.tenant_id = $1)
    order by tick.at desc
    limit $3
) t
left join lateral (
    select job.id, job.lane_id from job where job.tenant_id = t.tenant_id and job.id = t.job_id limit 1
) j on true
left join lateral (
    select * from outcome where outcome.tenant_id = t.tenant_id and outcome.id = t.job_id limit 1
) o on true
left join lateral (
    select * from lease where lease.lane_id = j.lane_id and lease.id = j.id limit 1
) le on true
left join lateral (
    select started_at from attempt
    where attempt.tenant_id = t.tenant_id and attempt.id = t.job_id and attempt.attempt = 1
    limit 1
) a on true
order by t.schedule_id, t.at desc;

-- name: tick_clean
-- Forgets ticks older than $1 seconds, a bounded number at a time.
-- $1 seconds, $2 rows
with old as (
    delete from tick where ctid = any (array(
        select ctid from tick where at < (select clock_timestamp()) - $1 * interval '1 second' and look_at is null limit $2))
    returning true
)
select count(*) as forgotten from old;

-- name: backfill_create
-- $1 tenant, $2 schedule, $3 since, $4 until, $5 concurrency, $6 total, $7 cursor, $8 by
insert into backfill (tenant_id, schedule_id, since, until, concurrency, total, cursor_at, made_by)
values ($1, $2, $3, $4, $5, $6, $7, $8)
returning *;

-- name: backfill_same
-- One of exactly this range that has not ended.
-- $1 tenant, $2 schedule, $3 since, $4 until
select id from backfill where tenant_id = $1 and schedule_id = $2 and since = $3 and until = $4 and state = 'running'
limit 1;

-- name: backfill_list
-- With how its jobs ended so far, latest first.
-- $1 tenant, $2 schedule, $3 backfill, or null for all, $4 rows
select b.*, c.succeeded, c.ended
from backfill b
cross join lateral (
    select count(*) filter (where o.state = 'succeeded') as succeeded, count(o.id) as ended
    from tick t join outcome o on o.tenant_id = t.tenant_id and o.id = t.job_id
    where t.schedule_id = b.schedule_id and t.at >= b.since and t.at < b.until and t.origin = 'backfill ' || b.id
) c
where b.tenant_id = $1 and b.schedule_id = $2 and ($3::bigint is null or b.id = $3)
order by b.id desc
limit $4;

-- name: backfill_running
-- The next backfills that go on, in the order of their numbers.
-- $1 number to go on after, $2 rows
select tenant_id, id from backfill where state = 'running' and id > $1 order by id limit $2;

-- name: backfill_claim
-- Locks a backfill to go on with. No row: it has ended, or somebody else is at it.
-- $1 tenant, $2 backfill
select b.*, s.definition, s.key_id, clock_timestamp() as now from backfill b
join schedule s on s.id = b.schedule_id and s.tenant_id = b.tenant_id
where b.tenant_id = $1 and b.id = $2 and b.state = 'running'
for update of b skip locked;

-- name: backfill_alive
-- How many jobs of a backfill have not ended.
-- $1 tenant, $2 schedule, $3 backfill, $4 since, $5 until
select count(*) as alive from tick t
where t.tenant_id = $1 and t.schedule_id = $2 and t.origin = 'backfill ' || $3::bigint and t.job_id is not null
  and t.at >= $4 and t.at < $5
  and exists (select from job j where j.tenant_id = $1 and j.id = t.job_id)
  and not exists (select from outcome o where o.tenant_id = $1 and o.id = t.job_id);

-- name: backfill_settled
-- Which of these ticks need not be run: they succeeded, or have not ended.
-- $1 tenant, $2 schedule, $3 instants, $4 the ids their jobs have when the rule fires them
select w.at, o.state::text as outcome
from unnest($3::timestamptz[], $4::uuid[]) as w (at, rule_id)
cross join lateral (
    select w.rule_id as job_id
    union
    select t.job_id from tick t where t.schedule_id = $2 and t.at = w.at and t.job_id is not null
) r
join job j on j.tenant_id = $1 and j.id = r.job_id
left join outcome o on o.tenant_id = $1 and o.id = r.job_id
where o.state is null or o.state = 'succeeded';

-- name: backfill_advance
-- $1 tenant, $2 backfill, $3 cursor, $4 fired, $5 skipped, $6 whether that was all
update backfill
set cursor_at = $3, fired = fired + $4, skipped = skipped + $5,
    state = case when $6::boolean then 'done' else state end,
    finished_at = case when $6::boolean then clock_timestamp() end
where tenant_id = $1 and id = $2;

-- name: backfill_cancel
-- Those of a schedule, or one of them. Returns what was cancelled.
-- $1 tenant, $2 schedule, $3 backfill, or null for all
update backfill set state = 'cancelled', finished_at = clock_timestamp()
where tenant_id = $1 and schedule_id = $2 and state = 'running' and ($3::bigint is null or id = $3)
returning id;

-- name: backfill_take_back
-- Takes back the jobs of a cancelled backfill that have not started.
-- $1 tenant, $2 schedule, $3 backfill
with fired as materialized (
    select t.at, t.job_id, j.lane_id, j.rank from tick t join job j on j.tenant_id = $1 and j.id = t.job_id
    where t.schedule_id = $2 and t.origin = 'backfill ' || $3::bigint
), from_ready as (
    delete from ready using fired
    where ready.lane_id = fired.lane_id and ready.rank = fired.rank and ready.id = fired.job_id and ready.attempt = 0
    returning ready.id
), bodies as (
    delete from job where tenant_id = $1 and id in (select id from from_ready)
)
delete from tick where schedule_id = $2 and job_id in (select id from from_ready) returning at;

-- name: calendar_list
-- $1 tenant
select c.*, n.name as tenant from calendar c join tenant n on n.id = c.tenant_id where c.tenant_id = $1 order by c.name;

-- name: calendar_put
-- $1 tenant, $2 name, $3 definition, $4 by
insert into calendar (tenant_id, name, definition, changed_by) values ($1, $2, $3, $4)
on conflict (tenant_id, name) do update
set definition = excluded.definition, changed_by = excluded.changed_by, changed_at = clock_timestamp()
returning *;

-- name: calendar_delete
-- $1 tenant, $2 name
delete from calendar where tenant_id = $1 and name = $2 returning name;

-- name: tenant_interval
-- The shortest interval at which schedules of a tenant may fire, in seconds.
-- $1 tenant
select shortest_interval from tenant where id = $1;

-- name: tenant_interval_put
-- $1 tenant, $2 seconds
update tenant set shortest_interval = $2 where id = $1 returning name;
