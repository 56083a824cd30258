-- Dead letters and bulk actions.

-- name: dead_causes
-- The causes of some tenants' dead letters, the most frequent first.
-- $1 tenants, $2 cause or null, $3 since (id), $4 before (id), $5 rows
select tenant_id, cause, count(*) as count, min(finished_at) as first_at, max(finished_at) as last_at
from outcome
where tenant_id = any ($1::int[]) and state = 'failed' and discarded_at is null and ($2::text is null or cause = $2)
  and id >= $3 and id < $4
group by tenant_id, cause
order by count(*) desc, max(finished_at) desc
limit $5;

-- name: dead_newest
-- The newest dead letters of each of some causes, with their tasks, and the error of the very newest.
-- $1 tenants, $2 their causes, $3 since (id), $4 before (id), $5 rows of each
select w.place, o.id, l.task,
       case when o.age = 1 then
           (select error from outcome where outcome.tenant_id = w.tenant_id and outcome.id = o.id)
       end as error
from unnest($1::int[], $2::text[]) with ordinality as w (tenant_id, cause, place)
cross join lateral (
    -- The ids alone, which the index has: of so many equal rows the planner expects few, and sorts all there are.
    (select id, row_number() over (order by id desc) as age from outcome
     where outcome.tenant_id = w.tenant_id and outcome.cause = w.cause and state = 'failed' and discarded_at is null
       and id >= $3 and id < $4
     order by id desc
     limit $5)
    union all
    -- Those before there were fingerprints apart: `is not distinct from` would not use the index.
    (select id, row_number() over (order by id desc) from outcome
     where w.cause is null and outcome.tenant_id = w.tenant_id and outcome.cause is null and state = 'failed'
       and discarded_at is null and id >= $3 and id < $4
     order by id desc
     limit $5)
) o
cross join lateral (select lane_id from job where job.tenant_id = w.tenant_id and job.id = o.id limit 1) j
cross join lateral (select task from lane where lane.id = j.lane_id limit 1) l
order by w.place, o.id desc;

-- name: dead_list
-- Ids of dead letters, newest first.
-- $1 tenants, $2 ids or null for any, $3 since (id), $4 before (id), $5 rows
select o.tenant_id, o.id
from unnest($1::int[]) as t (id)
cross join lateral (
    select tenant_id, id from outcome
    where tenant_id = t.id and state = 'failed' and discarded_at is null and id >= $3 and id < $4
      and ($2::uuid[] is null or id = any ($2))
    order by id desc
    limit $5
) o
order by o.id desc
limit $5;

-- name: dead_list_cause
-- The same of one cause.
-- $1 tenants, $2 ids or null for any, $3 since (id), $4 before (id), $5 rows, $6 cause
select o.tenant_id, o.id
from unnest($1::int[]) as t (id)
cross join lateral (
    select tenant_id, id from outcome
    where tenant_id = t.id and state = 'failed' and discarded_at is null and id >= $3 and id < $4 and cause = $6
      and ($2::uuid[] is null or id = any ($2))
    order by id desc
    limit $5
) o
order by o.id desc
limit $5;

-- name: dead_discard
-- Takes failed jobs out of the dead letters. Returns those that were in.
-- $1 tenant, $2 ids, $3 by whom
update outcome set discarded_at = clock_timestamp(), discarded_by = $3
where tenant_id = $1 and id = any ($2::uuid[]) and state = 'failed' and discarded_at is null
returning id;

-- name: dead_restore
-- Puts back what an action took out and nobody has touched since.
-- $1 tenant, $2 ids, $3 by whom they were discarded
update outcome set discarded_at = null, discarded_by = null
where tenant_id = $1 and id = any ($2::uuid[]) and state = 'failed' and discarded_by = $3
returning id;

-- name: action_create
-- $1 id, $2 tenant, $3 action, $4 filter, $5 changes, $6 reason, $7 rate, $8 total, $9 more, $10 by whom,
-- $11 for jobs with smaller ids
insert into bulk_action (id, tenant_id, action, filter, changes, reason, rate, total, more, made_by, cursor)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
on conflict (id) do nothing;

-- name: action_get
-- $1 tenant, or null for any, $2 id
select a.*, t.name as tenant from bulk_action a join tenant t on t.id = a.tenant_id
where a.id = $2 and ($1::int is null or a.tenant_id = $1);

-- name: action_list
-- Newest first.
-- $1 tenant, or null for any, $2 before (id), $3 rows
select a.*, t.name as tenant from bulk_action a join tenant t on t.id = a.tenant_id
where ($1::int is null or a.tenant_id = $1) and a.id < $2
order by a.id desc
limit $3;

-- name: action_cancel
-- Stops an action that is under way; what it has done stays done.
-- $1 tenant, $2 id, $3 seconds in which it can be undone
update bulk_action
set state = 'cancelled', finished_at = ended, undo_until = ended + $3 * interval '1 second'
from (select clock_timestamp() as ended) c
where tenant_id = $1 and id = $2 and state = 'running'
returning id;

-- name: action_undo
-- $1 tenant, $2 id, $3 actions that can be undone
update bulk_action set state = 'undoing', cursor = 'ffffffff-ffff-ffff-ffff-ffffffffffff', finished_at = null
where tenant_id = $1 and id = $2 and action = any ($3::text[])
  and (state = 'running' or state in ('done', 'cancelled', 'failed') and undo_until > clock_timestamp())
returning id;

-- name: action_take
-- The next action that has something to do by $1, the one that waits longest first; locked until the batch ends.
-- $1 instant before which paces count
select * from bulk_action
where state in ('running', 'undoing') and (paced_until is null or paced_until < $1)
order by touched_at
limit 1
for update skip locked;

-- name: action_jobs_lock
-- Locks the bodies of a batch, always in one order, so that nobody edits them meanwhile.
-- $1 tenant, $2 ids
select id from job where tenant_id = $1 and id = any ($2::uuid[]) order by id for update;

-- name: job_outlived
-- A job that was carried over when its day was taken out. The lock on it keeps its day from being taken out meanwhile.
-- $1 tenant, $2 id
select id from job_default where tenant_id = $1 and id = $2;

-- name: action_items_add
-- $1 action, $2 tenant, $3 ids, $4 jobs as they were
insert into bulk_item (action_id, id, before, version)
select $1, w.id, w.before, (select xmin::text from job j where j.tenant_id = $2 and j.id = w.id)
from unnest($3::uuid[], $4::text[]) as w (id, before)
on conflict (action_id, id) do nothing;

-- name: action_items
-- What is left to be undone, newest first.
-- $1 action, $2 before (id), $3 rows
select id, before, version from bulk_item where action_id = $1 and id < $2 order by id desc limit $3;

-- name: action_save
-- What a batch did, and where the next one begins.
-- $1 id, $2 seen, $3 done, $4 skipped, $5 failed, $6 undone, $7 cursor, $8 paced until, $9 note or null
update bulk_action
set seen = seen + $2, done = done + $3, skipped = skipped + $4, failed = failed + $5, undone = undone + $6,
    cursor = $7, paced_until = $8, note = coalesce($9, note), touched_at = clock_timestamp()
where id = $1;

-- name: action_finish
-- $1 id, $2 state, $3 seconds in which it can be undone, or null, $4 note or null
update bulk_action
set state = $2, finished_at = ended, touched_at = ended, note = coalesce($4, note),
    undo_until = ended + $3::float * interval '1 second'
from (select clock_timestamp() as ended) c
where id = $1;

-- name: action_put_off
-- For some seconds, and behind the others.
-- $1 id, $2 seconds
update bulk_action
set touched_at = clock_timestamp(), paced_until = greatest(paced_until, clock_timestamp() + $2 * interval '1 second')
where id = $1;

-- name: action_clean
-- Forgets what can no longer be undone, and actions that are long over.
-- $1 seconds after which an action is forgotten, $2 rows
with old as (
    delete from bulk_action where finished_at < clock_timestamp() - $1 * interval '1 second' returning id
)
delete from bulk_item where ctid = any (array(
    select i.ctid from bulk_item i left join bulk_action a on a.id = i.action_id
    where a.id is null or a.id in (select id from old)
       or (a.state not in ('running', 'undoing') and (a.undo_until is null or a.undo_until < clock_timestamp()))
    limit $2));
