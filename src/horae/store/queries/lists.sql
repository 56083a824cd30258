-- Pages of jobs, newest first. Every statement looks at a bounded number of rows, whatever there is: what a filter
-- leaves of them is the page, and the caller goes on from the last one looked at.
--
-- Over many tenants, a page is a merge of their ranges in the index (tenant, id). Read one after the other in full they
-- would cost tenants times rows. So a few of the newest of each, the *heads*, tell with which id the page ends at the
-- latest, and more is read only of tenants all of whose heads come before that: about one probe for a tenant.

-- name: job_list
-- The newest jobs of some tenants, whatever their state.
-- $1 tenants, $2 since (id), $3 before (id), $4 rows to look at, $5 heads of each tenant
with heads as materialized (
    select t.id as tenant_id, h.*
    from unnest($1::int[]) as t (id)
    cross join lateral (
        select id, row_number() over (order by id desc) as number from job
        where tenant_id = t.id and id >= $2 and id < $3
        order by id desc
        limit $5
    ) h
), bound as materialized (
    select coalesce((select id from heads order by id desc offset $4::int - 1 limit 1), $2) as id
)
select h.tenant_id, h.id, true as wanted from heads h where h.id >= (select id from bound)
union all
select h.tenant_id, r.id, true
from heads h
cross join lateral (
    select id from job
    where tenant_id = h.tenant_id and id >= (select id from bound) and id < h.id
    order by id desc
    limit $4
) r
where h.number = $5 and h.id >= (select id from bound)
order by id desc
limit $4;

-- name: job_list_succeeded
-- The newest ended jobs of some tenants, and which of them succeeded: there is no index of those alone.
-- $1 tenants, $2 since (id), $3 before (id), $4 rows to look at, $5 heads of each tenant
with heads as materialized (
    select t.id as tenant_id, h.*
    from unnest($1::int[]) as t (id)
    cross join lateral (
        select id, state, row_number() over (order by id desc) as number from outcome
        where tenant_id = t.id and id >= $2 and id < $3
        order by id desc
        limit $5
    ) h
), bound as materialized (
    select coalesce((select id from heads order by id desc offset $4::int - 1 limit 1), $2) as id
)
select h.tenant_id, h.id, h.state = 'succeeded' as wanted from heads h where h.id >= (select id from bound)
union all
select h.tenant_id, r.id, r.state = 'succeeded'
from heads h
cross join lateral (
    select id, state from outcome
    where tenant_id = h.tenant_id and id >= (select id from bound) and id < h.id
    order by id desc
    limit $4
) r
where h.number = $5 and h.id >= (select id from bound)
order by id desc
limit $4;

-- name: job_list_unsuccessful
-- The newest jobs of some tenants that ended in one way but success, by the index of those.
-- $1 tenants, $2 since (id), $3 before (id), $4 rows to look at, $5 heads of each tenant, $6 state
with heads as materialized (
    select t.id as tenant_id, h.*
    from unnest($1::int[]) as t (id)
    cross join lateral (
        select id, row_number() over (order by id desc) as number from outcome
        where tenant_id = t.id and state = $6::text::outcome_state and state <> 'succeeded' and id >= $2 and id < $3
        order by id desc
        limit $5
    ) h
), bound as materialized (
    select coalesce((select id from heads order by id desc offset $4::int - 1 limit 1), $2) as id
)
select h.tenant_id, h.id, true as wanted from heads h where h.id >= (select id from bound)
union all
select h.tenant_id, r.id, true
from heads h
cross join lateral (
    select id from outcome
    where tenant_id = h.tenant_id and state = $6::text::outcome_state and state <> 'succeeded'
      and id >= (select id from bound) and id < h.id
    order by id desc
    limit $4
) r
where h.number = $5 and h.id >= (select id from bound)
order by id desc
limit $4;

-- name: job_list_{timer,blocked,ready,lease}
-- The newest jobs of lanes in a live state, among the first so many in no order; `looked` tells whether those were all.
-- $1 lanes, $2 since (id), $3 before (id), $4 rows to look at, $5 rows to give
with looked as materialized (
    select id, lane_id from {table} where lane_id = any ($1::int[]) limit $4
)
select c.looked, x.tenant_id, x.id
from (select count(*) as looked from looked) c
left join lateral (
    select l.tenant_id, k.id from looked k join lane l on l.id = k.lane_id
    where k.id >= $2 and k.id < $3
    order by k.id desc
    limit $5
) x on true;

-- name: job_live
-- Which of these jobs are in a live state, in the order given.
-- $1 tenants, $2 ids, $3 state
select w.tenant_id, w.id
from unnest($1::int[], $2::uuid[]) with ordinality as w (tenant_id, id, place)
cross join lateral (
    select lane_id, rank from job where job.tenant_id = w.tenant_id and job.id = w.id limit 1
) j
where case $3::text
    when 'scheduled' then exists (select from timer t where t.lane_id = j.lane_id and t.id = w.id)
    when 'blocked' then exists (select from blocked b where b.lane_id = j.lane_id and b.id = w.id)
    when 'ready' then exists (select from ready r where r.lane_id = j.lane_id and r.rank = j.rank and r.id = w.id)
    else exists (select from lease le where le.lane_id = j.lane_id and le.id = w.id)
end
order by w.place;

-- name: job_narrow
-- Which of these jobs fit a filter, in the order given. Of long texts the beginning is searched: they may be a megabyte.
-- $1 tenants, $2 ids, $3 lanes or null, $4 keys or null, $5 labels as JSON or null, $6 worker or null, $7 text or null
select w.tenant_id, w.id
from unnest($1::int[], $2::uuid[]) with ordinality as w (tenant_id, id, place)
cross join lateral (
    select lane_id, key_id, params, options from job where job.tenant_id = w.tenant_id and job.id = w.id limit 1
) j
cross join lateral (select queue, task from lane where lane.id = j.lane_id limit 1) l
where ($3::int[] is null or j.lane_id = any ($3))
  and ($4::int[] is null or j.key_id = any ($4))
  and ($5::text is null or j.options::jsonb -> 'labels' @> $5::jsonb)
  and ($6::int is null or $6 = coalesce(
      (select worker_id from outcome where outcome.tenant_id = w.tenant_id and outcome.id = w.id),
      (select worker_id from lease where lease.lane_id = j.lane_id and lease.id = w.id)))
  and ($7::text is null or position(lower($7) in lower(concat_ws(e'\n',
      w.id::text, l.task, l.queue, left(j.params, 4096), j.options::jsonb ->> 'labels',
      (select left(error, 4096) from outcome where outcome.tenant_id = w.tenant_id and outcome.id = w.id)))) > 0)
order by w.place;

-- name: job_page
-- The rows of a page, each with its present state, in the order given.
-- $1 tenants, $2 ids
select s.*
from unnest($1::int[], $2::uuid[]) with ordinality as w (tenant_id, id, place)
cross join lateral (
    select * from job_state where job_state.tenant_id = w.tenant_id and job_state.id = w.id limit 1
) s
order by w.place;
