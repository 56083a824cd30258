-- What happened, by tenant, and how things stand: what the console's first page reads. Every look has a bound.

-- name: flow_add
-- Adds what a server counted to the sums of some spans. Rows are locked in one order. Few starts are looked at, so most
-- histograms are empty and stay as they are.
-- $1 tenants, $2 submitted, $3 started, $4 succeeded, $5 failed, $6 cancelled, $7 other, $8 retried, $9 runs,
-- $10 run seconds, $11 histograms of start delays, as text, $12 spans, $13 how many seconds ago that was. Numbers come as
-- the text of an array (see store.database.numbers).
insert into flow (tenant_id, span, bucket, submitted, started, succeeded, failed, cancelled, other, retried, runs,
                  run_seconds, waits)
select c.tenant_id, s.span, date_bin(s.span * interval '1 second', n.at, 'epoch'), c.submitted, c.started, c.succeeded,
       c.failed, c.cancelled, c.other, c.retried, c.runs, c.run_seconds, c.waits::bigint[]
from unnest($1::text::int[], $2::text::bigint[], $3::text::bigint[], $4::text::bigint[], $5::text::bigint[],
            $6::text::bigint[], $7::text::bigint[], $8::text::bigint[], $9::text::bigint[], $10::text::float[], $11::text[])
    as c (tenant_id, submitted, started, succeeded, failed, cancelled, other, retried, runs, run_seconds, waits)
cross join unnest($12::int[]) as s (span)
cross join (select clock_timestamp() - $13::float * interval '1 second' as at) n
order by c.tenant_id, s.span
on conflict (tenant_id, span, bucket) do update
set submitted = flow.submitted + excluded.submitted, started = flow.started + excluded.started,
    succeeded = flow.succeeded + excluded.succeeded, failed = flow.failed + excluded.failed,
    cancelled = flow.cancelled + excluded.cancelled, other = flow.other + excluded.other,
    retried = flow.retried + excluded.retried, runs = flow.runs + excluded.runs,
    run_seconds = flow.run_seconds + excluded.run_seconds,
    waits = case
        when excluded.waits = '{}' then flow.waits
        when flow.waits = '{}' then excluded.waits
        else array(select a + b from unnest(flow.waits, excluded.waits) with ordinality as u (a, b, n) order by n)
    end;

-- name: flow_ends
-- How many attempts ended in each hour up to an instant, latest first.
-- $1 tenant, or 0 for all together, $2 until, $3 rows
select bucket, succeeded + failed + cancelled + other + retried as ended
from flow
where tenant_id = $1 and span = 3600 and bucket < $2
order by bucket desc
limit $3;

-- name: flow_list
-- The sums since an instant, oldest first.
-- $1 tenant, or 0 for all together, $2 span, $3 since
select bucket, submitted, started, succeeded, failed, cancelled, other, retried, runs, run_seconds, waits
from flow
where tenant_id = $1 and span = $2 and bucket >= $3
order by bucket;

-- name: flow_clean
-- Forgets sums of a span older than $2 seconds, at most $3 rows.
-- $1 span, $2 seconds, $3 rows
delete from flow where ctid = any (array(
    select ctid from flow where span = $1 and bucket < (select clock_timestamp()) - $2 * interval '1 second' limit $3))
returning 1;

-- name: start_delays
-- How long after their time jobs started, of those that started a moment ago.
-- $1 tenants, $2 lanes, $3 ids, $4 seconds since the start, $5 how many each stands for
select w.tenant_id, w.lane_id, w.jobs,
       greatest(extract(epoch from clock_timestamp() - j.run_at)::float - w.age, 0) as seconds
from unnest($1::int[], $2::int[], $3::uuid[], $4::float[], $5::int[]) as w (tenant_id, lane_id, id, age, jobs)
cross join lateral (select run_at from job where job.tenant_id = w.tenant_id and job.id = w.id limit 1) j;

-- name: overview_depth
-- How many jobs wait and run. Those that wait by state: counted now up to a bound, and as they were last counted.
-- $1 tenant or null for any, $2 bound
with scheduled as materialized (
    select lane_id, count(*) as jobs from (select lane_id from timer limit $2) t group by lane_id
), blocked_now as materialized (
    select lane_id, count(*) as jobs from (select lane_id from blocked limit $2) b group by lane_id
), waiting as materialized (
    select lane_id, count(*) as jobs from (select lane_id from ready limit $2) r group by lane_id
), few as (
    select coalesce((select sum(jobs) from scheduled), 0) < $2 as scheduled,
           coalesce((select sum(jobs) from blocked_now), 0) < $2 as blocked,
           coalesce((select sum(jobs) from waiting), 0) < $2 as ready
), now as (
    select sum(jobs) filter (where state = 'scheduled') as scheduled, sum(jobs) filter (where state = 'blocked') as blocked,
           sum(jobs) filter (where state = 'ready') as ready
    from (select 'scheduled' as state, lane_id, jobs from scheduled
          union all select 'blocked', lane_id, jobs from blocked_now
          union all select 'ready', lane_id, jobs from waiting) s
    join lane l on l.id = s.lane_id
    where $1::int is null or l.tenant_id = $1
), known as (
    select coalesce(sum(pending), 0) as pending, coalesce(sum(running), 0) as running,
           coalesce(sum(scheduled), 0) as scheduled, coalesce(sum(blocked), 0) as blocked
    from depth where $1::int is null or tenant_id = $1
)
select greatest(k.pending, 0)::bigint as pending, greatest(k.running, 0)::bigint as running,
       case when f.scheduled then coalesce(n.scheduled, 0) else k.scheduled end::bigint as scheduled,
       case when f.blocked then coalesce(n.blocked, 0) else k.blocked end::bigint as blocked,
       case when f.ready then coalesce(n.ready, 0) end::bigint as ready
from known k cross join few f cross join now n;

-- name: overview_oldest
-- The job that has been due longest, of those that are next in their lanes: one probe a lane, up to a bound, and then a
-- look at the bodies of the few that come first.
-- $1 tenant or null for any, $2 lanes at most
with recursive busy (lane_id, rank, id) as (
    (select lane_id, rank, id from ready where lane_id > 0 order by lane_id, rank, id limit 1)
    union all
    select n.lane_id, n.rank, n.id
    from busy b
    cross join lateral (
        select r.lane_id, r.rank, r.id from ready r where r.lane_id > b.lane_id order by r.lane_id, r.rank, r.id limit 1
    ) n
), heads as materialized (
    select b.id, l.tenant_id, l.task, l.queue
    from (select * from busy limit $2) b
    cross join lateral (select * from lane where lane.id = b.lane_id limit 1) l
    where $1::int is null or l.tenant_id = $1
    order by b.rank
    limit 20
)
select h.id, t.name as tenant, h.task, h.queue, j.run_at
from heads h
join tenant t on t.id = h.tenant_id
cross join lateral (select run_at from job where job.tenant_id = h.tenant_id and job.id = h.id limit 1) j
order by j.run_at
limit 1;

-- name: overview_workers
-- The busiest workers, and how many there are.
-- $1 tenant or null for any, $2 rows
select w.id, w.name, t.name as tenant, w.state, w.slots, w.running, w.region, count(*) over () as total
from worker w left join tenant t on t.id = w.tenant_id
where w.state in ('active', 'draining') and ($1::int is null or w.tenant_id = $1 or w.tenant_id is null)
order by w.running desc, w.id
limit $2;

-- name: overview_ticks
-- What schedules do next, of a bounded number that come next: ticks that were planned ahead, else the next instants.
-- $1 tenant or null for any, $2 schedules to look at, $3 rows
select s.name as schedule, t.name as tenant, s.task, n.at
from (select id, tenant_id, name, task, next_at from schedule
      where paused_at is null and ($1::int is null or tenant_id = $1)
      order by next_at
      limit $2) s
join tenant t on t.id = s.tenant_id
cross join lateral (
    select coalesce(
        (select run_at from tick
         where tick.schedule_id = s.id and tick.origin = 'rule' and tick.at > (select clock_timestamp())
           and tick.state <> 'skipped'
         order by tick.at limit 1),
        s.next_at) as at
) n
where n.at is not null
order by n.at
limit $3;

-- name: overview_failures
-- The newest failed jobs by cause, the most frequent first. Of all tenants: of those that had most of them, as the newest
-- hours with failures tell, and the last seconds, which hours are given once they are over.
-- $1 tenant or null for any, $2 since (id), $3 since, $4 hours to look at, $5 tenants, $6 jobs of each, $7 rows
with failing as materialized (
    select tenant_id
    from ((select tenant_id, failed from flow
           where $1::int is null and span = 3600 and failed > 0 and bucket >= $3::timestamptz - interval '1 hour'
           order by bucket desc
           limit $4)
          union all
          (select tenant_id, failed from flow
           where $1::int is null and span = 10 and failed > 0
             and bucket >= (select clock_timestamp()) - interval '30 seconds'
           order by bucket desc
           limit $4)) f
    where tenant_id <> 0
    group by tenant_id
    order by sum(failed) desc
    limit $5
), newest as materialized (
    select f.tenant_id, o.id, o.cause, o.finished_at
    from (select tenant_id from failing union all select $1 where $1::int is not null) f
    cross join lateral (
        select id, cause, finished_at from outcome
        where outcome.tenant_id = f.tenant_id and state = 'failed' and discarded_at is null and id >= $2
        order by id desc
        limit $6
    ) o
), groups as (
    select tenant_id, cause, count(*) as jobs, max(finished_at) as last_at, (array_agg(id order by id desc))[1] as example
    from newest
    group by tenant_id, cause
    order by jobs desc, last_at desc
    limit $7
)
select g.cause, t.name as tenant, l.task, l.queue, g.jobs, g.last_at, g.example, o.error
from groups g
join tenant t on t.id = g.tenant_id
cross join lateral (select lane_id from job where job.tenant_id = g.tenant_id and job.id = g.example limit 1) j
cross join lateral (select task, queue from lane where lane.id = j.lane_id limit 1) l
cross join lateral (select error from outcome where outcome.tenant_id = g.tenant_id and outcome.id = g.example limit 1) o
order by g.jobs desc, g.last_at desc;
