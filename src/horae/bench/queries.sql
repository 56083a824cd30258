-- What the measurements ask the database, and the backlogs they lay into it. Named as in store/queries.

-- name: version
select current_setting('server_version') as version;

-- name: wal
-- How many bytes of log have been written so far.
select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint as bytes;

-- name: workers_active
select count(*)::int as rows from worker where state = 'active';

-- name: outcome_size
-- How much there is of outcomes, for next to nothing: whether it still grows tells whether work still ends.
select coalesce(sum(pg_relation_size(relid)), 0)::bigint as bytes,
       coalesce(sum(pg_stat_get_tuples_inserted(relid)), 0)::bigint as rows
from pg_partition_tree('outcome') where isleaf;

-- name: outcome_count
select count(*) as rows from outcome;

-- name: job_count
select count(*) as rows from job;

-- name: outcome_rate
-- How many jobs ended in each span of time since $1, which is where a measurement began.
-- $1 instant, $2 seconds of a span
select floor(extract(epoch from finished_at - $1) / $2)::int as span, count(*)::int as rows
from outcome where finished_at >= $1
group by span order by span;

-- name: outcome_window
-- $1 instant at which the measurement began
select count(*)::int as rows, count(*) filter (where state <> 'succeeded')::int as unsuccessful,
       extract(epoch from max(finished_at) - min(finished_at))::float8 as seconds
from outcome where finished_at >= $1;

-- name: now
select clock_timestamp() as now;

-- name: results_since
-- The results of the jobs that ended since $1, with the time each was due.
select extract(epoch from j.run_at)::float8 as due, o.result
from outcome o join job j on j.tenant_id = o.tenant_id and j.id = o.id
where o.finished_at >= $1 and o.state = 'succeeded';

-- name: unfinished
-- How many jobs have no outcome yet.
select (select count(*) from job) - (select count(*) from outcome) as rows;

-- name: tenants_make
-- $1 how many
insert into tenant (name) select 'bench-' || n from generate_series(1, $1) as n
on conflict do nothing;

-- name: lanes_make
-- A lane for each tenant of ours, of a task that no worker has.
-- $1 task
insert into lane (tenant_id, queue, task) select id, 'default', $1 from tenant where name like 'bench-%'
returning id, tenant_id;

-- name: backlog_lay
-- $1 jobs, $2 how many of each hundred are ready (the others fall due in 1 to 30 days), $3 lanes, $4 their tenants
with fresh as materialized (
    select n, new_job_id() as id, n % 100 < $2 as due,
           clock_timestamp() + case when n % 100 < $2 then '0' else interval '1 day' + random() * interval '29 days' end
               as run_at,
           ($3::int[])[1 + n % cardinality($3::int[])] as lane_id,
           ($4::int[])[1 + n % cardinality($4::int[])] as tenant_id
    from generate_series(0, $1::int - 1) as n
), ranked as materialized (
    select *, (extract(epoch from run_at) * 1000000)::bigint as rank from fresh
), bodies as (
    insert into job (id, rank, run_at, tenant_id, lane_id, priority, params)
    select id, rank, run_at, tenant_id, lane_id, 5, '{}' from ranked
), timers as (
    insert into timer (run_at, rank, id, lane_id, attempt)
    select run_at, rank, id, lane_id, 0 from ranked where not due
)
insert into ready (rank, id, lane_id, attempt) select rank, id, lane_id, 0 from ranked where due;

-- name: snapshot_take
-- Any look at a table takes the snapshot that the transaction then holds on to.
select count(*) from tenant;

-- name: vacuum_all
vacuum (analyze);

-- name: vacuum_hot
vacuum ready, lease, timer;

-- name: checkpoint
checkpoint;
