-- Policy: limits, gates, service levels and weights. Small tables, held in memory by every server, told stale by their version.

-- name: policy_version
select version from policy_version;

-- name: policy_touch
-- Raises the version; first in every transaction that changes policy.
select policy_touch() as version;

-- name: policy_limits
-- All limits, for the policy in memory.
select id, tenant_id, name, queue, task, key, each, max_running, rate, burst from limit_rule order by id;

-- name: policy_gates
-- All gates that still have an effect, for the policy in memory.
select id, tenant_id, queue, task, condition, percent, action, running, kind, probe_seconds, owner, reason, made_at,
       expires_at, released_at, release_rate
from gate where drained_at is null order by id;

-- name: policy_levels
-- All service levels, for the policy in memory.
select id, tenant_id, name, task, tier, start_within, target, priority, off_peak from service_level order by id;

-- name: limit_list
-- $1 tenant or null for any, $2 name or null
select l.*, t.name as tenant from limit_rule l left join tenant t on t.id = l.tenant_id
where ($1::int is null or l.tenant_id = $1 or l.tenant_id is null) and ($2::text is null or l.name = $2)
order by l.tenant_id nulls first, l.name
limit 10000;

-- name: limit_put
-- Makes a limit, or gives one that matches the same jobs new figures. No row: it matches others now, so it is another.
-- $1 tenant or null, $2 name, $3 queue, $4 task, $5 key, $6 each, $7 max running, $8 rate, $9 burst, $10 of a task,
-- $11 who, $12 reason
insert into limit_rule (tenant_id, name, queue, task, key, each, max_running, rate, burst, of_task, made_by, reason)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
on conflict (coalesce(tenant_id, 0), name) do update
set max_running = $7, rate = $8, burst = $9, made_by = $11, made_at = clock_timestamp(), reason = $12
where (limit_rule.queue, limit_rule.task, limit_rule.key, limit_rule.each) is not distinct from ($3, $4, $5, $6)
returning id, xmax = 0 as made;

-- name: limit_remove
-- $1 tenant or null, $2 name
delete from limit_rule where tenant_id is not distinct from $1 and name = $2 returning id;

-- name: limit_same
-- Whether a task's limit is in force as it stands, so that nothing need change.
-- $1 tenant or null, $2 name, $3 max running, $4 rate, $5 burst
select exists (
    select from limit_rule
    where tenant_id is not distinct from $1 and name = $2
      and (max_running, rate, burst) is not distinct from ($3::int, $4::float, $5::float)
) as same;

-- name: lease_lanes
-- The lanes that have something running, for a new limit to learn what it has to count.
-- $1 tenant or null for any
select l.id, l.tenant_id, l.queue, l.task, l.concurrency_key, l.requires, l.urgent
from lane l
where ($1::int is null or l.tenant_id = $1)
  and l.id in (select lane_id from lease); -- from the jobs that run, which are fewer than the lanes

-- name: slot_adopt
-- Gives the running jobs of lanes their slots in groups that are new to them. The leases are locked first, in the order
-- in which ends delete them: a job that ends at this moment is waited for, and gets no slot that would outlive it.
-- $1 lanes, $2 groups
with wanted as materialized (
    select w.group_id, le.id, le.lane_id
    from unnest($1::int[], $2::bigint[]) as w (lane_id, group_id)
    join lease le on le.lane_id = w.lane_id
    order by le.ctid
    for update of le
), taken as (
    insert into slot (group_id, id, lane_id) select group_id, id, lane_id from wanted
    on conflict do nothing
    returning group_id, id, lane_id
)
update lease le set slots = coalesce(le.slots, '{}') || t.groups
from (select lane_id, id, array_agg(group_id) as groups from taken group by lane_id, id) t
where le.lane_id = t.lane_id and le.id = t.id
returning le.id;

-- name: slot_holders
-- The jobs in the slots of groups, longest first.
-- $1 groups, $2 tenant or null for any, $3 rows a group
select w.group_id, h.*
from unnest($1::bigint[]) as w (group_id)
cross join lateral (
    select s.id::text as id, s.lane_id, le.worker_id, le.granted_at, l.task, l.queue, t.name as tenant, l.tenant_id
    from slot s
    join lease le on le.lane_id = s.lane_id and le.id = s.id
    join lane l on l.id = s.lane_id
    join tenant t on t.id = l.tenant_id
    where s.group_id = w.group_id and ($2::int is null or l.tenant_id = $2)
    order by le.granted_at
    limit $3
) h;

-- name: slot_counts
-- How many slots of groups are taken, and what their buckets hold.
-- $1 groups
select w.group_id, (select count(*) from slot s where s.group_id = w.group_id) as taken, b.tokens, b.at,
       clock_timestamp() as now
from unnest($1::bigint[]) as w (group_id)
left join bucket b on b.group_id = w.group_id;

-- name: slot_orphans
-- Slots without a lease: there must be none. Counted by the watch over limits.
select count(*) as orphans from slot s
where not exists (select from lease le where le.lane_id = s.lane_id and le.id = s.id);

-- name: slot_groups
-- How many slots each group has taken now.
-- $1 rows
select group_id, count(*) as taken from slot group by group_id order by taken desc limit $1;

-- name: bucket_clean
-- Forgets buckets that nobody took from for so long that they are full. So it does those of the future: the clock was set
-- back, and they would gain nothing until it gets there again.
-- $1 seconds
delete from bucket
where at < clock_timestamp() - $1::float * interval '1 second' or at > clock_timestamp() + interval '1 second';
