-- What keeps the store in shape: partitions, retention, checks.

-- name: clock
select clock_timestamp() as now;

-- name: partition_days
-- The days that have partitions.
select distinct to_date(right(c.relname, 8), 'YYYYMMDD') as day
from pg_inherits i join pg_class c on c.oid = i.inhrelid
where i.inhparent = 'horae.job'::regclass and c.relname ~ '^job_\d{8}$'
order by day;

-- name: partition_make
-- $1 day
select partition_create($1) as made;

-- name: partition_detached
-- Days that were taken out and not dropped yet, perhaps because a server died in between. Their survivors were carried over.
select distinct to_date(right(c.relname, 8), 'YYYYMMDD') as day from pg_class c
where c.relnamespace = 'horae'::regnamespace and c.relkind = 'r' and not c.relispartition
  and c.relname ~ '^(job|outcome|attempt|log_chunk|execution)_\d{8}$'
order by 1;

-- name: carried_over
-- Jobs of a day that was taken out which outlive it: they are in the default partition.
-- $1 since, $2 until (ids)
select id from job where id >= $1 and id < $2;

-- name: alive_before
-- Jobs made before a bound that have not ended: they outlive their day's partition.
-- $1 bound (id)
select id from ready where id < $1
union all select id from timer where id < $1
union all select id from lease where id < $1
union all select id from blocked where id < $1;

-- name: idempotency_clean
-- Forgets keys older than $1 seconds, a bounded number at a time.
-- $1 seconds, $2 rows
delete from idempotency where ctid = any (array(
    select ctid from idempotency where created_at < (select clock_timestamp()) - $1 * interval '1 second' limit $2))
returning 1;

-- name: checkpoint_clean
-- Forgets what jobs of dropped days saved; those that outlived their day are in the default partition.
-- $1 bound (id)
delete from checkpoint where id < $1 and not exists (
    select from job_default j where j.tenant_id = checkpoint.tenant_id and j.id = checkpoint.id);

-- name: leftover_clean
-- Of the jobs that outlived their day: forgets those that ended longer ago than $1 seconds. Returns large results.
-- $1 seconds
with old as (
    delete from outcome_default where finished_at < clock_timestamp() - $1 * interval '1 second'
    returning tenant_id, id, attempt, blob
), attempts as (
    delete from attempt_default a using old where a.tenant_id = old.tenant_id and a.id = old.id
), logs as (
    delete from log_chunk_default c using old where c.tenant_id = old.tenant_id and c.id = old.id
), executions as (
    delete from execution_default e using old where e.tenant_id = old.tenant_id and e.id = old.id
), bodies as (
    delete from job_default j using old where j.tenant_id = old.tenant_id and j.id = old.id
)
select tenant_id, id, attempt from old where blob is not null;

-- name: notice_send
-- $1 channel, $2 payload
select pg_notify($1, $2);
