-- Jobs that live, the first in line first. A lane's jobs are one index range of the table that holds their state. The
-- lines of many lanes are merged by whoever asks (horae.model.merge): more is read of a lane only where it is needed.

-- name: lanes_{ready,blocked,lease}
-- The lanes that have such jobs, whichever tenant's: one probe a lane.
-- $1 the first lane, $2 the last one, $3 lanes at most
with recursive busy (lane_id) as (
    (select lane_id from {table} where lane_id >= $1 order by lane_id limit 1)
    union all
    select n.lane_id
    from busy b
    cross join lateral (select t.lane_id from {table} t where t.lane_id > b.lane_id order by t.lane_id limit 1) n
    where b.lane_id < $2
)
select lane_id from busy where lane_id <= $2 limit $3;

-- name: line_ready
-- The next jobs of each of some lanes, by rank.
-- $1 lanes, $2 and $3 the rank and id to go on after, $4 rows of each
select l.id as lane_id, l.tenant_id, r.rank as place, r.id
from unnest($1::int[]) as w (lane_id)
join lane l on l.id = w.lane_id
cross join lateral (
    select rank, id from ready
    where ready.lane_id = w.lane_id and (rank, id) > ($2::bigint, $3::uuid)
    order by rank, id
    limit $4
) r;

-- name: line_{blocked,lease}
-- The same by age: their order is that of the ids. The place is given back as it came.
-- $1 lanes, $2 and $3 the place and id to go on after, $4 rows of each
select l.id as lane_id, l.tenant_id, $2::bigint as place, r.id
from unnest($1::int[]) as w (lane_id)
join lane l on l.id = w.lane_id
cross join lateral (
    select t.id from {table} t where t.lane_id = w.lane_id and t.id > $3::uuid order by t.id limit $4
) r;

-- name: line_due
-- What falls due next, among the next so many. The last row has no tenant: it says how many were
-- looked at, and where that ended.
-- $1 and $2 the instant and id to go on after, $3 lanes or null for all, $4 rows to look at, $5 rows
with looked as materialized (
    select run_at, id, lane_id from timer
    where (run_at, id) > ($1::timestamptz, $2::uuid)
    order by run_at, id
    limit $4
)
(select k.run_at, k.id, l.tenant_id, null::bigint as looked
 from looked k join lane l on l.id = k.lane_id
 where $3::int[] is null or k.lane_id = any ($3)
 order by k.run_at, k.id
 limit $5)
union all
(select run_at, id, null, (select count(*) from looked) from looked order by run_at desc, id desc limit 1);

-- name: line_due_few
-- The same of lanes that have few such jobs: all of them are looked at.
-- $1 and $2 the instant and id to go on after, $3 lanes, $4 rows to look at, $5 rows
with looked as materialized (
    select run_at, id, lane_id from timer where lane_id = any ($3::int[]) limit $4
)
(select k.run_at, k.id, l.tenant_id, null::bigint as looked
 from looked k join lane l on l.id = k.lane_id
 where (k.run_at, k.id) > ($1::timestamptz, $2::uuid)
 order by k.run_at, k.id
 limit $5)
union all
(select run_at, id, null, (select count(*) from looked) from looked order by run_at desc, id desc limit 1);
