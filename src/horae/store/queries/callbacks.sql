-- Callbacks: attempts that are parked with the servers (worker 0) until somebody outside says how they ended.

-- name: callback_open
-- $1 token, $2 tenant, $3 id, $4 lane, $5 attempt, $6 seconds until it is given up
insert into callback (token, tenant_id, id, lane_id, attempt, due_at)
values ($1, $2, $3, $4, $5, clock_timestamp() + $6::float * interval '1 second')
on conflict do nothing;

-- name: callback_park
-- Attempts that a worker has handed over: their leases go to the servers. Returns those that did.
-- $1 worker, $2 lanes, $3 ids, $4 attempts, $5 tenants, $6 seconds waited before the start
with held as materialized (
    select l.place, f.*
    from unnest($2::int[], $3::uuid[], $4::int[], $5::int[], $6::float[]) as f (lane_id, id, attempt, tenant_id, waited)
    cross join lateral (
        select lease.ctid as place from lease
        where lease.lane_id = f.lane_id and lease.id = f.id and lease.attempt = f.attempt
          and lease.worker_id + 0 = $1
        limit 1
    ) l
    where exists (select from callback c
                  where c.tenant_id = f.tenant_id and c.id = f.id and c.attempt = f.attempt and c.settled_at is null)
), moved as (
    update lease
    set worker_id = 0, granted_at = least(granted_at + held.waited * interval '1 second', clock_timestamp())
    from held where lease.ctid = held.place
    returning lease.id
), noted as (
    update callback c set parked_at = clock_timestamp()
    from held where c.tenant_id = held.tenant_id and c.id = held.id and c.attempt = held.attempt
)
select id::text as id from held
where (select same_or_retry((select count(*) from held), (select count(*) from moved)));

-- name: callback_take_cancels
-- Requests to stop attempts that were parked a moment ago: they are the servers' to carry out now.
-- $1 worker, $2 ids, $3 attempts
update cancel_request c set worker_id = 0
from unnest($2::uuid[], $3::int[]) as p (id, attempt)
where c.worker_id = $1 and c.id = p.id and c.attempt = p.attempt
returning c.id;

-- name: callback_known
-- Which of these attempts were parked before, or have been answered already.
-- $1 tenants, $2 ids, $3 attempts
select distinct w.id::text as id, w.attempt
from unnest($1::int[], $2::uuid[], $3::int[]) as w (tenant_id, id, attempt)
join callback c on c.tenant_id = w.tenant_id and c.id = w.id and c.attempt = w.attempt
where c.parked_at is not null or c.digest is not null;

-- name: callback_find
-- What a token stands for, and who holds the attempt: null when it is over.
-- $1 token
select c.tenant_id, n.name as tenant, l.task, c.id::text as id, c.lane_id, c.attempt, c.digest, c.answer, c.settled_at,
       le.worker_id
from callback c
join lane l on l.id = c.lane_id
join tenant n on n.id = c.tenant_id
left join lease le on le.lane_id = c.lane_id and le.id = c.id and le.attempt = c.attempt
where c.token = $1;

-- name: callback_answer
-- Keeps what was said, if it is the first word and the attempt is not over.
-- $1 token, $2 digest, $3 answer
update callback c set digest = $2, answer = $3, due_at = clock_timestamp()
where c.token = $1 and c.digest is null and c.settled_at is null
  and exists (select from lease le where le.lane_id = c.lane_id and le.id = c.id and le.attempt = c.attempt)
returning c.tenant_id;

-- name: callback_progress
-- $1 token, $2 done, $3 total, $4 note
insert into checkpoint (tenant_id, id, attempt, done, total, note)
select c.tenant_id, c.id, c.attempt, $2, $3, $4
from callback c join lease le on le.lane_id = c.lane_id and le.id = c.id and le.attempt = c.attempt
where c.token = $1 and c.digest is null
on conflict (tenant_id, id) do update
set attempt = excluded.attempt, done = excluded.done, total = excluded.total, note = excluded.note,
    at = clock_timestamp()
returning id;

-- name: callback_due
-- What must be seen to: answers that were not carried out, and attempts whose time is over. The worker is null when the
-- attempt is over.
-- $1 rows
select c.token, c.tenant_id, c.id::text as id, c.lane_id, c.attempt, c.answer, le.worker_id
from (
    select * from callback
    where settled_at is null and due_at <= (select clock_timestamp())
    order by due_at
    limit $1
) c
left join lease le on le.lane_id = c.lane_id and le.id = c.id and le.attempt = c.attempt;

-- name: callback_settle
-- $1 tokens
update callback set settled_at = clock_timestamp(), answer = null where token = any ($1::bytea[]) and settled_at is null;

-- name: callback_defer
-- $1 tokens, $2 seconds
update callback set due_at = clock_timestamp() + $2::float * interval '1 second' where token = any ($1::bytea[]);

-- name: callback_cancels
-- Parked attempts that were asked to stop.
-- $1 rows
select c.id::text as id, c.lane_id, c.attempt, c.reason
from cancel_request c
join lease le on le.lane_id = c.lane_id and le.id = c.id and le.attempt = c.attempt and le.worker_id + 0 = 0
where c.worker_id = 0
limit $1;

-- name: callback_of_job
-- What a parked attempt waits for.
-- $1 tenant, $2 id, $3 attempt
select parked_at, due_at from callback
where tenant_id = $1 and id = $2 and attempt = $3 and settled_at is null
order by due_at desc
limit 1;

-- name: callback_clean
-- $1 seconds since they were settled
delete from callback where settled_at < clock_timestamp() - $1::float * interval '1 second';
