-- Service levels and their promises. Only jobs under a level come here, none of it at a claim or an end.

-- name: service_level_list
-- $1 tenant or null for any, $2 name or null
select s.*, t.name as tenant from service_level s left join tenant t on t.id = s.tenant_id
where ($1::int is null or s.tenant_id = $1 or s.tenant_id is null) and ($2::text is null or s.name = $2)
order by s.tenant_id nulls first, s.name
limit 10000;

-- name: service_level_put
-- Makes a level or changes it. It tries the zone, which the database may not know. No row: another is for the same jobs.
-- $1 tenant or null, $2 name, $3 task, $4 tier, $5 start within, $6 target, $7 priority, $8 off-peak as JSON, $9 its zone,
-- $10 its minutes of the week, $11 who, $12 reason
insert into service_level (tenant_id, name, task, tier, start_within, target, priority, off_peak, off_peak_zone,
                           off_peak_minutes, made_by, reason)
select $1::int, $2::text, $3::text, $4::text, $5::float, $6::float, $7::smallint, $8::text, $9::text,
       $10::text::int4multirange, $11::text, $12::text
where not exists (
    select from service_level s
    where (s.tenant_id, s.task) is not distinct from ($1::int, $3::text) and s.name <> $2::text)
on conflict (coalesce(tenant_id, 0), name) do update
set task = excluded.task, tier = excluded.tier, start_within = excluded.start_within, target = excluded.target,
    priority = excluded.priority, off_peak = excluded.off_peak, off_peak_zone = excluded.off_peak_zone,
    off_peak_minutes = excluded.off_peak_minutes, made_by = excluded.made_by, made_at = clock_timestamp(),
    reason = excluded.reason
returning id, off_peak_start(off_peak_minutes, off_peak_zone, clock_timestamp());

-- name: service_level_delete
-- $1 tenant or null, $2 name
delete from service_level where tenant_id is not distinct from $1 and name = $2 returning id;

-- name: promise_put
-- What new jobs are promised, and jobs that begin anew. One that is there for the same time stays as it is, and is looked
-- at again: its job may have lost the place it was moved up to.
-- $1 due, $2 to be looked at, $3 ids, $4 tenants, $5 levels
insert into promise as p (due_at, look_at, id, tenant_id, level_id)
select * from unnest($1::timestamptz[], $2::timestamptz[], $3::uuid[], $4::int[], $5::int[])
on conflict (tenant_id, id) do update
set due_at = excluded.due_at, look_at = excluded.look_at, level_id = excluded.level_id,
    stage = case when p.due_at = excluded.due_at then p.stage else 0 end;

-- name: promise_move
-- The same for a job that was changed after it had started, unless its promise is over.
-- $1 due, $2 to be looked at, $3 id, $4 tenant
update promise set due_at = $1, look_at = $2, stage = case when due_at = $1 then stage else 0 end
where tenant_id = $4 and id = $3;

-- name: promise_look
-- The promises that are to be looked at, locked, each with what became of its job. A grant that never arrived was no
-- start, nor was anything before a person's retry.
-- $1 rows
with due as materialized (
    select ctid as place, tenant_id, id, level_id, due_at, stage from promise
    where look_at <= (select clock_timestamp())
    order by look_at
    limit $1
    for update skip locked
)
select d.*, (select clock_timestamp()) as now, j.lane_id, j.rank, l.task, o.finished_at, j.lane_id is null as gone,
       least(a.started_at, o.started_at, le.granted_at) as started_at
from due d
left join lateral (
    select lane_id, rank, options from job where job.tenant_id = d.tenant_id and job.id = d.id limit 1
) j on true
left join lateral (select task from lane where lane.id = j.lane_id limit 1) l on true
left join lateral (
    select started_at, finished_at from outcome where outcome.tenant_id = d.tenant_id and outcome.id = d.id limit 1
) o on true
left join lateral (
    select granted_at from lease where lease.lane_id = j.lane_id and lease.id = d.id limit 1
) le on true
left join lateral (
    select min(started_at) as started_at from attempt
    where attempt.tenant_id = d.tenant_id and attempt.id = d.id and attempt.ending <> 'undelivered'
      and attempt.attempt > attempts_forgiven(j.options)
) a on true;

-- name: promise_raise
-- Moves ready jobs up to their new ranks. Those that are not ready, or are being claimed, stay.
-- $1 tenants, $2 ids, $3 lanes, $4 ranks, $5 new ranks
with found as materialized (
    select r.place, r.attempt, w.*
    from unnest($1::int[], $2::uuid[], $3::int[], $4::bigint[], $5::bigint[])
        as w (tenant_id, id, lane_id, rank, new_rank)
    cross join lateral (
        select ready.ctid as place, attempt from ready
        where ready.lane_id = w.lane_id and ready.rank = w.rank and ready.id = w.id
        limit 1
        for update skip locked
    ) r
), gone as (
    delete from ready where ctid = any (array(select place from found)) -- all of them: we hold their locks
), put as (
    insert into ready (rank, id, lane_id, attempt) select new_rank, id, lane_id, attempt from found
)
select id, lane_id, new_rank as rank, job_rerank(tenant_id, id, new_rank) from found;

-- name: promise_note
-- Of promises whose rows are locked, of all tenants.
-- $1 places, $2 stages, $3 when to look again
update promise p set stage = n.stage, look_at = n.look_at
from unnest($1::tid[], $2::smallint[], $3::timestamptz[]) as n (place, stage, look_at)
where p.ctid = n.place;

-- name: promise_forget
-- Of promises whose rows are locked, of all tenants.
-- $1 places
delete from promise where ctid = any ($1::tid[]);

-- name: attainment_add
-- Kept and broken promises, in sums of ten minutes. In one order for all who add.
-- $1 due, $2 levels, $3 tenants, $4 tasks, $5 kept, $6 broken
insert into attainment as a (bucket, level_id, tenant_id, task, kept, broken)
select date_bin('10 minutes', due_at, 'epoch') as bucket, level_id, tenant_id, task, sum(kept), sum(broken)
from unnest($1::timestamptz[], $2::int[], $3::int[], $4::text[], $5::int[], $6::int[])
    as n (due_at, level_id, tenant_id, task, kept, broken)
group by 1, 2, 3, 4
order by 2, 1, 3, 4
on conflict (level_id, bucket, tenant_id, task) do update
set kept = a.kept + excluded.kept, broken = a.broken + excluded.broken;

-- name: attainment_sums
-- How many promises of levels were kept and broken in the last hour, day and 30 days.
-- $1 levels, $2 tenant or null for all
select w.level_id, s.span, sum(a.kept)::bigint as kept, sum(a.broken)::bigint as broken
from unnest($1::int[]) as w (level_id)
cross join (values ('hour', interval '1 hour'), ('day', interval '1 day'), ('month', interval '30 days'))
    as s (span, length)
join attainment a on a.level_id = w.level_id and a.bucket > clock_timestamp() - s.length - interval '10 minutes'
where $2::int is null or a.tenant_id = $2
group by 1, 2;

-- name: attainment_worst
-- The tasks with the most broken promises of a level in the last day.
-- $1 levels, $2 tenant or null for all, $3 rows a level
select w.level_id, x.*, t.name as tenant
from unnest($1::int[]) as w (level_id)
cross join lateral (
    select a.tenant_id, a.task, sum(a.kept)::bigint as kept, sum(a.broken)::bigint as broken
    from attainment a
    where a.level_id = w.level_id and a.bucket > clock_timestamp() - interval '1 day'
      and ($2::int is null or a.tenant_id = $2)
    group by 1, 2
    having sum(a.broken) > 0
    order by sum(a.broken) desc, a.tenant_id, a.task
    limit $3
) x
join tenant t on t.id = x.tenant_id
order by x.broken desc;

-- name: promise_pressing
-- How many jobs of levels wait at risk, and how many late; counting stops at $3.
-- $1 levels, $2 tenant or null for all, $3 most
select w.level_id, r.jobs as at_risk, l.jobs as late
from unnest($1::int[]) as w (level_id)
cross join lateral (
    select count(*) as jobs from (
        select from promise p
        where p.level_id = w.level_id and p.stage > 0 and p.due_at > clock_timestamp()
          and ($2::int is null or p.tenant_id = $2) and awaits_start(p.tenant_id, p.id)
        limit $3
    ) x
) r
cross join lateral (
    select count(*) as jobs from (
        select from promise p
        where p.level_id = w.level_id and p.stage > 0 and p.due_at <= clock_timestamp()
          and ($2::int is null or p.tenant_id = $2) and awaits_start(p.tenant_id, p.id)
        limit $3
    ) x
) l;

-- name: promise_latest
-- The jobs of a level that have waited the longest beyond their time.
-- $1 levels, $2 tenant or null for all, $3 rows a level
select w.level_id, x.id, x.due_at, x.task, x.tenant
from unnest($1::int[]) as w (level_id)
cross join lateral (
    select p.id, p.due_at, l.task, t.name as tenant
    from promise p
    join job j on j.tenant_id = p.tenant_id and j.id = p.id
    join lane l on l.id = j.lane_id
    join tenant t on t.id = p.tenant_id
    where p.level_id = w.level_id and p.stage > 0 and p.due_at <= clock_timestamp()
      and ($2::int is null or p.tenant_id = $2) and awaits_start(p.tenant_id, p.id)
    order by p.due_at
    limit $3
) x
order by x.due_at;

-- name: attainment_clean
-- Forgets old sums.
-- $1 seconds, $2 rows
delete from attainment where ctid = any (array(
    select ctid from attainment where bucket < (select clock_timestamp()) - $1::float * interval '1 second' limit $2))
returning true;
