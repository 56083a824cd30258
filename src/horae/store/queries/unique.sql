-- Jobs that keep others like them away, and jobs that must start in time. Only jobs that use it come here.

-- name: unique_lock
-- Submits with the same key come one after the other, on all servers, until the transaction ends.
-- $1 32 bits of tenant and hash
select pg_advisory_xact_lock(8421, $1);

-- name: unique_holder
-- The newest job of this key that keeps others away at this moment, with its state.
-- $1 tenant, $2 hash, $3 the new job, which counts in any case: then it has been stored already
select j.*
from unique_key u
-- The limit keeps the planner from joining all jobs of the tenant first, which it does as the view has many tables.
cross join lateral (
    select * from job_state s where s.tenant_id = u.tenant_id and s.id = u.job_id limit 1
) j
where u.tenant_id = $1 and u.hash = $2
  and case
      when u.job_id = $3 then true
      when u.until is not null then u.until > clock_timestamp()
      when j.outcome is not null then false
      when u.during = 'running' then j.granted_at is not null
      when u.during = 'waiting' then j.granted_at is null
      else true
  end
order by u.job_id = $3 desc, j.id desc
limit 1;

-- name: idempotency_put
-- What a key stands for, when the job was not stored by job_submit_once. No row: somebody else was quicker.
-- $1 tenant, $2 key, $3 fingerprint, $4 job
insert into idempotency (tenant_id, key, fingerprint, job_id) values ($1, $2, $3, $4)
on conflict do nothing
returning job_id;

-- name: unique_add
-- Those of this key that can no longer count are forgotten on the way.
-- $1 tenant, $2 hash, $3 job, $4 during, $5 until or null
with stale as (
    delete from unique_key u
    where u.tenant_id = $1 and u.hash = $2 and (u.until is null or u.until <= clock_timestamp())
      and not exists (select from job j where j.tenant_id = u.tenant_id and j.id = u.job_id
                        and not exists (select from outcome o where o.tenant_id = j.tenant_id and o.id = j.id))
)
insert into unique_key (tenant_id, hash, job_id, during, until) values ($1, $2, $3, $4, $5)
on conflict (tenant_id, hash, job_id) do nothing;

-- name: unique_clean
-- Forgets, among the next $4 keys after a place, those whose job can no longer count. Returns where to go on.
-- $1 tenant, $2 hash, $3 job of the place, $4 how many to look at
with looked as materialized (
    select u.tenant_id, u.hash, u.job_id,
           (u.until is null or u.until <= clock_timestamp())
           and not exists (select from job j where j.tenant_id = u.tenant_id and j.id = u.job_id
                             and not exists (select from outcome o where o.tenant_id = j.tenant_id and o.id = j.id))
           as over
    from unique_key u
    where (u.tenant_id, u.hash, u.job_id) > ($1::int, $2::bytea, $3::uuid)
    order by u.tenant_id, u.hash, u.job_id
    limit $4
), gone as (
    delete from unique_key u using looked l
    where l.over and u.tenant_id = l.tenant_id and u.hash = l.hash and u.job_id = l.job_id
    returning true
)
select tenant_id, hash, job_id, (select count(*) from looked) as looked, (select count(*) from gone) as gone
from looked
order by tenant_id desc, hash desc, job_id desc
limit 1;

-- name: expiry_put
-- $1 instants, $2 ids, $3 tenants
insert into expiry (expires_at, id, tenant_id)
select * from unnest($1::timestamptz[], $2::uuid[], $3::int[])
on conflict (tenant_id, id) do update set expires_at = excluded.expires_at;

-- name: expiry_end
-- Ends jobs that wait and have not started in time, at most $1. The job's own word on when it expires decides: a row
-- here may be of an earlier word, or of a job that has started. A job that moves between its tables at this moment is
-- not found; its row stays for the next look.
-- $1 rows, $2 error as JSON
with due as materialized (
    select expiry.ctid as row, tenant_id, id from expiry
    where expires_at <= (select clock_timestamp())
    order by expires_at
    limit $1
    for update skip locked
), waiting as materialized (
    select d.row, d.tenant_id, d.id, j.lane_id, j.rank
    from due d
    cross join lateral (
        select lane_id, rank, options from job where job.tenant_id = d.tenant_id and job.id = d.id limit 1
    ) j
    where (j.options::jsonb ->> 'expires')::timestamptz <= clock_timestamp()
      and not exists (select from outcome o where o.tenant_id = d.tenant_id and o.id = d.id)
      and not exists (select from lease l where l.lane_id = j.lane_id and l.id = d.id)
      and not has_started(d.tenant_id, d.id, j.options)
), in_ready as materialized (
    select w.row, w.tenant_id, w.lane_id, w.id, r.place, r.attempt from waiting w cross join lateral (
        select ready.ctid as place, attempt from ready
        where ready.lane_id = w.lane_id and ready.rank = w.rank and ready.id = w.id limit 1 for update
    ) r
), in_timer as materialized (
    select w.row, w.tenant_id, w.lane_id, w.id, t.place, t.attempt from waiting w cross join lateral (
        select timer.ctid as place, attempt from timer where timer.lane_id = w.lane_id and timer.id = w.id
        limit 1 for update
    ) t
), in_blocked as materialized (
    select w.row, w.tenant_id, w.lane_id, w.id, b.place, b.attempt from waiting w cross join lateral (
        select blocked.ctid as place, attempt from blocked where blocked.lane_id = w.lane_id and blocked.id = w.id
        limit 1 for update
    ) b
), from_ready as (
    delete from ready where ctid = any (array(select place from in_ready))
), from_timer as (
    delete from timer where ctid = any (array(select place from in_timer))
), from_blocked as (
    delete from blocked where ctid = any (array(select place from in_blocked))
), found as materialized (
    table in_ready union all table in_timer union all table in_blocked
), ended as (
    insert into outcome (id, finished_at, tenant_id, attempt, state, ending, error)
    select id, clock_timestamp(), tenant_id, attempt, 'expired', 'cancelled', $2 from found
), forgotten as (
    delete from expiry where ctid = any (array(
        select row from due
        except select row from waiting
        union all select row from found))
)
select lane_id, id::text as id, attempt from found;

-- name: expiry_end_leased
-- The same for jobs that a claim has just leased and nobody was told of: from lease to outcome. The attempt never was.
-- $1 worker, $2 lanes, $3 ids, $4 attempts, $5 tenants, $6 error as JSON
with held as materialized (
    select l.place, l.slots, f.*
    from unnest($2::int[], $3::uuid[], $4::int[], $5::int[]) as f (lane_id, id, attempt, tenant_id)
    cross join lateral (
        select lease.ctid as place, slots from lease
        where lease.lane_id = f.lane_id and lease.id = f.id and lease.attempt = f.attempt
          and lease.worker_id + 0 = $1
        limit 1
    ) l
    cross join lateral (
        select options from job where job.tenant_id = f.tenant_id and job.id = f.id limit 1
    ) j
    where not has_started(f.tenant_id, f.id, j.options)
), gone as (
    delete from lease where ctid = any (array(select place from held)) returning true
), freed as (
    delete from slot where ctid = any (array(
        select s.place from held cross join lateral unnest(held.slots) as g (group_id)
        cross join lateral (
            select slot.ctid as place from slot where slot.group_id = g.group_id and slot.id = held.id limit 1
        ) s))
), ended as (
    insert into outcome (id, finished_at, tenant_id, attempt, state, ending, error)
    select id, clock_timestamp(), tenant_id, attempt - 1, 'expired', 'cancelled', $6 from held
    where (select same_or_retry((select count(*) from held), (select count(*) from gone)))
)
select id::text as id, slots from held;
