-- What `explain` looks at. Every count has a bound and every look an index: the same cost with ten million jobs waiting.

-- name: explain_place
-- How many jobs of its lane go before a job, up to a bound.
-- $1 lane, $2 rank, $3 id, $4 bound
select count(*) as ahead from (
    select from ready where lane_id = $1 and (rank, id) < ($2::bigint, $3::uuid) limit $4
) r;

-- name: explain_lanes
-- The lanes that have work, with their smallest rank, up to a bound: one probe a lane.
-- $1 lanes at most
with recursive busy (lane_id, rank) as (
    (select lane_id, rank from ready where lane_id > 0 order by lane_id, rank, id limit 1)
    union all
    select n.lane_id, n.rank
    from busy b
    cross join lateral (
        select r.lane_id, r.rank from ready r where r.lane_id > b.lane_id order by r.lane_id, r.rank, r.id limit 1
    ) n
)
select b.lane_id, b.rank, l.tenant_id, l.queue, l.task, l.concurrency_key, l.requires, l.urgent, t.name as tenant
from (select lane_id, rank from busy limit $1) b
cross join lateral (select * from lane where lane.id = b.lane_id limit 1) l
join tenant t on t.id = l.tenant_id;

-- name: explain_ahead
-- How many jobs lanes have before a rank, each up to a bound.
-- $1 lanes, $2 ranks, $3 bound
select w.lane_id, (
    select count(*) from (select from ready r where r.lane_id = w.lane_id and r.rank < w.rank limit $3) x
) as jobs
from unnest($1::int[], $2::bigint[]) as w (lane_id, rank);

-- name: explain_heads
-- The first job of lanes that have some ready, and when it was due.
-- $1 lanes
select w.lane_id, r.id, j.run_at, t.name as tenant
from unnest($1::int[]) as w (lane_id)
cross join lateral (select id from ready where ready.lane_id = w.lane_id order by rank, id limit 1) r
cross join lateral (select tenant_id from lane where lane.id = w.lane_id limit 1) l
cross join lateral (select run_at from job where job.tenant_id = l.tenant_id and job.id = r.id limit 1) j
cross join lateral (select name from tenant where tenant.id = l.tenant_id limit 1) t;

-- name: explain_leases
-- What workers run, each up to a bound.
-- $1 workers, $2 their bounds
select w.worker_id, le.granted_at, l.tenant_id, l.task, l.requires
from unnest($1::int[], $2::int[]) as w (worker_id, most)
cross join lateral (
    select lane_id, granted_at from lease where lease.worker_id = w.worker_id limit w.most
) le
cross join lateral (select tenant_id, task, requires from lane where lane.id = le.lane_id limit 1) l;

-- name: explain_rate
-- A tenant's starts a second, in the last half minute of whole sums: a probe for each.
-- $1 tenant, $2 queue, $3 task
select coalesce(sum(greatest(r.started, r.runs)), 0)::float / 30 as rate
from generate_series(1, 3) as back
cross join lateral (
    select started, runs from rollup
    where bucket = date_bin('10 seconds', now(), 'epoch') - back * interval '10 seconds'
      and tenant_id = $1 and (queue = $2 or task = $3)
) r;

-- name: explain_gates
-- Gates that were closed during a time and concern a lane, whether or not they are over.
-- $1 tenant, $2 queue, $3 task, $4 from, $5 until
select id, tenant_id, queue, task, condition, percent, action, running, kind, probe_seconds, owner, reason, made_at,
       expires_at, released_at, release_rate, coalesce(drained_at, clock_timestamp()) as over_at
from gate
where action = 'hold' and (tenant_id is null or tenant_id = $1) and (queue is null or queue = $2)
  and (task is null or task = $3) and made_at < $5 and coalesce(drained_at, 'infinity') > $4
order by made_at
limit 1000;

-- name: explain_starts
-- Whose jobs of the same queue or task started during a time: by ten seconds, or by the hour when it was long.
-- $1 queue, $2 task, $3 from, $4 until, $5 whether by the hour
select s.tenant_id, t.name as tenant, sum(s.started)::bigint as started
from (
    select tenant_id, greatest(started, runs) as started from rollup
    where not $5::boolean and bucket > $3::timestamptz - interval '10 seconds' and bucket < $4::timestamptz
      and (queue = $1 or task = $2)
    union all
    select tenant_id, greatest(started, runs) from rollup_hour
    where $5 and bucket > $3::timestamptz - interval '1 hour' and bucket < $4::timestamptz and (queue = $1 or task = $2)
) s
join tenant t on t.id = s.tenant_id
group by s.tenant_id, t.name
having sum(s.started) > 0
order by started desc
limit 10;

-- name: lane_wait_add
-- $1 lanes, $2 seconds ago since, $3 seconds ago until, $4 names
insert into lane_wait (lane_id, since, until, name)
select lane_id, now() - since * interval '1 second', now() - until * interval '1 second', name
from unnest($1::int[], $2::float[], $3::float[], $4::text[]) as w (lane_id, since, until, name);

-- name: lane_wait_list
-- When a lane waited for limits during a time.
-- $1 lane, $2 from, $3 until
select since, until, name from lane_wait
where lane_id = $1 and until > $2 and since < $3
order by since
limit 2000;

-- name: lane_wait_clean
-- $1 seconds, $2 rows
delete from lane_wait where ctid = any (array(
    select ctid from lane_wait where until < now() - $1 * interval '1 second' limit $2))
returning 1;

-- name: worker_note_probing
-- Which of these workers are on probation, and which of those have a probe out.
-- $1 workers, $2 whether a probe is out, $3 whether on probation
with changed as materialized (
    select n.*, w.probation <> n.probation as turned
    from unnest($1::int[], $2::boolean[], $3::boolean[]) as n (id, probing, probation)
    join worker w on w.id = n.id
    where (w.probing, w.probation) <> (n.probing, n.probation)
), noted as (
    insert into worker_event (worker_id, event)
    select id, case when probation then 'probation' else 'trusted' end from changed where turned
)
update worker w set probing = c.probing, probation = c.probation from changed c where w.id = c.id;
