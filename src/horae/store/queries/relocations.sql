-- Moving running jobs: the request, and the way from the lane of the old worker to one that leaves that worker out.

-- name: move_request_put
-- Asks the workers that hold these jobs to stop them, so that they go on elsewhere. Returns the workers.
-- $1 lanes, $2 ids, $3 reason, $4 who
insert into move_request (id, worker_id, lane_id, attempt, reason, requested_by)
select le.id, le.worker_id, le.lane_id, le.attempt, $3, $4
from unnest($1::int[], $2::uuid[]) as w (lane_id, id)
join lease le on le.lane_id = w.lane_id and le.id = w.id
on conflict (worker_id, id) do update set reason = excluded.reason, attempt = excluded.attempt
returning id::text as id, worker_id;

-- name: ready_relocate
-- Moves jobs that are ready into other lanes, body and all. Part of a transaction that has just put them there.
-- $1 tenants, $2 ids, $3 ranks, $4 lanes they lie in, $5 lanes they go to
with gone as (
    delete from ready r
    using unnest($1::int[], $2::uuid[], $3::bigint[], $4::int[], $5::int[])
        as w (tenant_id, id, rank, lane_id, to_lane_id)
    where r.lane_id = w.lane_id and r.rank = w.rank and r.id = w.id
    returning w.tenant_id, r.id, r.rank, w.to_lane_id, r.attempt
), edited as (
    update job set lane_id = gone.to_lane_id from gone where job.tenant_id = gone.tenant_id and job.id = gone.id
)
insert into ready (rank, id, lane_id, attempt)
select rank, id, to_lane_id, attempt from gone
returning id::text as id, lane_id, rank;
