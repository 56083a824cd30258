-- Files and large results in object storage: what there is, who may see it, and how long it stays.

-- name: lease_facts
-- Whose job a worker holds, and of which task. No row: it does not hold this attempt.
-- $1 worker, $2 id, $3 attempt
select l.tenant_id, t.name as tenant, l.task
from lease le join lane l on l.id = le.lane_id join tenant t on t.id = l.tenant_id
where le.worker_id = $1 and le.id = $2 and le.attempt = $3;

-- name: file_room
-- How much an attempt has left already, beside a file of the name that comes now.
-- $1 tenant, $2 job, $3 attempt, $4 name
select count(*) as files, coalesce(sum(size), 0)::bigint as bytes from job_file
where tenant_id = $1 and job_id = $2 and attempt = $3 and name is not null and name <> $4;

-- name: file_put
-- Notes an object before it is there, so that none is ever without a row. Sent twice, noted once.
-- $1 tenant, $2 job, $3 attempt, $4 name or null, $5 size, $6 sha256, $7 media type, $8 key, $9 seconds to keep or null
insert into job_file (tenant_id, job_id, attempt, name, size, sha256, media_type, key, expires_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp() + $9::float * interval '1 second')
on conflict (job_id, attempt, name) do update
set size = excluded.size, sha256 = excluded.sha256, media_type = excluded.media_type, expires_at = excluded.expires_at,
    stored = job_file.stored and job_file.sha256 = excluded.sha256
returning id;

-- name: file_stored
-- $1 tenant, $2 file
update job_file set stored = true where tenant_id = $1 and id = $2;

-- name: file_list
-- The files of the attempt that a job ended with, by name.
-- $1 tenant, $2 job, $3 rows
select f.id, f.name, f.size, f.sha256, f.media_type, f.attempt, f.created_at, f.expires_at
from job_file f join outcome o on o.tenant_id = f.tenant_id and o.id = f.job_id and o.attempt = f.attempt
where f.tenant_id = $1 and f.job_id = $2 and f.name is not null and f.stored
  and (f.expires_at is null or f.expires_at > clock_timestamp())
order by f.name
limit $3;

-- name: file_get
-- $1 tenant, or null for any, $2 file
select f.tenant_id, f.name, f.size, f.media_type, f.key, f.sha256, f.expires_at <= clock_timestamp() as expired
from job_file f join outcome o on o.tenant_id = f.tenant_id and o.id = f.job_id and o.attempt = f.attempt
where f.id = $2 and ($1::int is null or f.tenant_id = $1) and f.name is not null and f.stored;

-- name: file_expire
-- Forgets what has outlived its lifetime. Returns where it lies.
-- $1 rows
delete from job_file where ctid = any (array(
    select ctid from job_file where expires_at <= (select clock_timestamp()) limit $1))
returning key;

-- name: file_settle
-- Of what was uploaded longer ago than $1 seconds: marks what belongs to the attempt that counts.
-- $1 seconds, $2 rows
update job_file set settled = true where ctid = any (array(
    select f.ctid from job_file f
    join outcome o on o.tenant_id = f.tenant_id and o.id = f.job_id and o.attempt = f.attempt
    where not f.settled and f.created_at < (select clock_timestamp()) - $1 * interval '1 second'
    limit $2));

-- name: file_orphans
-- Forgets what was left by attempts that never counted. One that still runs is given its time. Returns where it lies.
-- $1 seconds, $2 rows
delete from job_file where ctid = any (array(
    select f.ctid from job_file f
    left join job j on j.tenant_id = f.tenant_id and j.id = f.job_id
    left join outcome o on o.tenant_id = f.tenant_id and o.id = f.job_id and o.attempt = f.attempt
    left join lease le on le.lane_id = j.lane_id and le.id = f.job_id and le.attempt = f.attempt
    where not f.settled and f.created_at < (select clock_timestamp()) - $1 * interval '1 second'
      and o.id is null and le.id is null
    limit $2))
returning key;

-- name: file_forget
-- Forgets what jobs of dropped days left. A day just past its time is still there, and whoever lives will outlive it.
-- $1 bound (id), $2 rows
delete from job_file where ctid = any (array(
    select f.ctid from job_file f
    left join lateral ( -- a probe for each file: a join could read all of a day
        select true as kept from job where job.tenant_id = f.tenant_id and job.id = f.job_id limit 1
    ) j on true
    where f.job_id < $1 and j.kept is null
    limit $2))
returning key;

-- name: result_forget
-- Takes inline results out whose task keeps them for $3 seconds only. Asked again while it returns as many as it may.
-- $1 tenant, $2 task, $3 seconds, $4 rows
with bounds as (
    select coalesce((select swept_at from result_sweep where tenant_id = $1 and task = $2), '-infinity')
               - interval '1 minute' as since,
           clock_timestamp() - $3 * interval '1 second' as until
), old as materialized (
    select o.id from outcome o
    join job j on j.tenant_id = o.tenant_id and j.id = o.id
    join lane l on l.id = j.lane_id
    where o.tenant_id = $1 and l.task = $2 and o.state = 'succeeded' and coalesce(o.blob, 0) >= 0
      and o.finished_at > (select since from bounds) and o.finished_at <= (select until from bounds)
    limit $4
), forgotten as (
    update outcome set result = null, blob = -1 where tenant_id = $1 and id = any (array(select id from old))
), noted as (
    insert into result_sweep (tenant_id, task, swept_at) select $1, $2, until from bounds
    where (select count(*) from old) < $4
    on conflict (tenant_id, task) do update set swept_at = greatest(result_sweep.swept_at, excluded.swept_at)
)
select count(*) as forgotten from old;

-- name: signing_key
select secret from signing_key where id = 1;
