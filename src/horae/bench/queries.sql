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

-- name: results_of
-- The results of a task's jobs that ended since $1, with their tenants.
-- $1 instant, $2 task
select t.name as tenant, o.result
from outcome o join job j on j.tenant_id = o.tenant_id and j.id = o.id
join lane l on l.id = j.lane_id join tenant t on t.id = o.tenant_id
where o.finished_at >= $1 and o.state = 'succeeded' and l.task = $2;

-- name: time_to_share
-- Seconds from the first end since $1 until a share $2 of all of them had come.
select extract(epoch from percentile_disc($2::float8) within group (order by finished_at) - min(finished_at))::float8
    as seconds
from outcome where finished_at >= $1;

-- name: lanes_spread
-- So many lanes over our tenants, each tenant's in queues of its own share: the same names for all of them.
-- $1 task, $2 lanes
with ours as (
    select id, count(*) over () as tenants, row_number() over (order by id) - 1 as number
    from tenant where name like 'bench-%'
)
insert into lane (tenant_id, queue, task)
select ours.id, 'queue-' || q, $1 from ours
cross join lateral generate_series(0, ($2::int - 1 - number) / tenants) as q
returning id, tenant_id;

-- name: waiting_sample
-- Jobs that are ready, at random.
-- $1 how many
select id::text as id from ready tablesample bernoulli (5) order by random() limit $1;

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

-- name: ended_lay
-- Jobs that have ended, submitted one after another within a stretch of time.
-- $1 jobs, $2 how many of each hundred failed (of ten causes), $3 lanes, $4 their tenants, $5 how many seconds ago the
-- stretch began, $6 its seconds
with fresh as materialized (
    select n, uuidv7(($6::float8 * n / $1 - $5) * interval '1 second') as id, n * 7919 % 100 < $2 as failed,
           clock_timestamp() + ($6::float8 * n / $1 - $5) * interval '1 second' as run_at,
           'bench' || n * 7919 % 10 as cause,
           ($3::int[])[1 + n % cardinality($3::int[])] as lane_id,
           ($4::int[])[1 + n % cardinality($4::int[])] as tenant_id
    from generate_series(0, $1::int - 1) as n
), bodies as (
    insert into job (id, rank, run_at, tenant_id, lane_id, priority, params)
    select id, (extract(epoch from run_at) * 1000000)::bigint, run_at, tenant_id, lane_id, 5, '{}' from fresh
)
insert into outcome (id, started_at, finished_at, tenant_id, attempt, state, ending, result, error, cause)
select id, run_at, run_at + interval '1 second', tenant_id, 1,
       case when failed then 'failed' else 'succeeded' end::outcome_state,
       case when failed then 'error' else 'succeeded' end::execution_end, case when not failed then 'null' end,
       case when failed then '{"kind":"ValueError","message":"no such thing"}' end, case when failed then cause end
from fresh;

-- name: sums_lay
-- The sums of a day in which all these tenants had jobs of a task all the time: by the hour, and by minutes and ten
-- seconds of this hour and the last; and those of all tenants together that plots read.
-- $1 tenants, $2 task
with whose as ( -- each tenant, and all of them together
    select t, case t when 0 then cardinality($1::int[]) else 1 end as n from unnest(0 || $1::int[]) as t
), tens as (
    insert into rollup (bucket, tenant_id, task, queue, submitted, started, succeeded, runs, run_seconds, run_squares)
    select b, t, $2, 'default', 50, 50, 50, 50, 1, 1
    from generate_series(date_trunc('hour', clock_timestamp()) - interval '1 hour',
                         date_bin('10 seconds', clock_timestamp(), 'epoch'), interval '10 seconds') as b,
         unnest($1::int[]) as t
), minutes as (
    insert into rollup_minute (bucket, tenant_id, task, queue, submitted, started, succeeded, runs, run_seconds,
                               run_squares)
    select b, t, $2, 'default', 300 * n, 300 * n, 300 * n, 300 * n, 6 * n, 6 * n
    from generate_series(date_trunc('hour', clock_timestamp()) - interval '1 hour',
                         date_trunc('minute', clock_timestamp()) - interval '5 minutes', interval '1 minute') as b,
         whose
), hours as (
    insert into rollup_hour (bucket, tenant_id, task, queue, submitted, started, succeeded, failed, runs, run_seconds,
                             run_squares)
    select b, t, $2, 'default', 18000 * n, 18000 * n, 17000 * n, 1000 * n, 18000 * n, 360 * n, 360 * n
    from generate_series(date_trunc('hour', clock_timestamp()) - interval '25 hours',
                         date_trunc('hour', clock_timestamp()) - interval '1 hour', interval '1 hour') as b,
         whose
)
insert into flow (tenant_id, span, bucket, submitted, started, succeeded, failed, cancelled, other, retried, runs,
                  run_seconds, waits)
select t, s, b, 5000 * s, 5000 * s, 4900 * s, 100 * s, 0, 0, 0, 5000 * s, 100 * s, array_fill(100 * s, array[26])
from (values (10, interval '1 hour'), (60, interval '1 day'), (3600, interval '30 days')) as k (s, kept)
cross join lateral generate_series(date_bin(s * interval '1 second', clock_timestamp() - kept, 'epoch'),
                                   clock_timestamp(), s * interval '1 second') as b
cross join unnest(0 || $1::int[]) as t
where t = 0 or s = 3600 and b > clock_timestamp() - interval '1 day';

-- name: log_lay
-- What one job printed.
-- $1 id, $2 lines
insert into log_chunk (id, tenant_id, attempt, seq, stream, text)
select o.id, o.tenant_id, 1, n, 'stdout', 'line ' || n || repeat(' and so on', 8) || e'\n'
from outcome o, generate_series(1, $2::int) as n where o.id = $1::uuid;

-- name: one_waiting
select id::text from ready order by id desc limit 1;

-- name: one_scheduled
select id::text from timer order by lane_id, id desc limit 1;

-- name: one_ended
-- $1 state
select id::text from outcome where state = $1::text::outcome_state order by id desc limit 1;

-- name: one_worker
select id from worker where state = 'active' order by id desc limit 1;

-- name: snapshot_take
-- Any look at a table takes the snapshot that the transaction then holds on to.
select count(*) from tenant;

-- name: vacuum_all
vacuum (analyze);

-- name: vacuum_hot
vacuum ready, lease, timer;

-- name: checkpoint
checkpoint;

-- name: schedules_lay
-- Schedules as they stand after they were made. Their ticks lie within $6 seconds from $5 on.
-- $1 how many, $2 what their names begin with, $3 task, $4 definition, with NAME for the name, $5 instant, $6 seconds
insert into schedule (tenant_id, name, task, definition, cursor_at, next_at, tzdata, made_by, changed_by)
select t.id, $2 || '-' || n, $3, replace($4, 'NAME', $2 || '-' || n), clock_timestamp(),
       $5::timestamptz + (n / $1::float) * $6 * interval '1 second', '', 'bench', 'bench'
from generate_series(0, $1::int - 1) as n, tenant t where t.name = 'default';

-- name: table_sizes
-- What each table takes, partitions summed up under the table they belong to, also while they are being dropped.
select regexp_replace(coalesce(pg_partition_root(c.oid), c.oid)::regclass::text, '_\d{8}$', '') as family,
       bool_or(c.relispartition) as partitioned,
       count(*)::int as tables, coalesce(sum(pg_table_size(c.oid)), 0)::bigint as heap,
       coalesce(sum(pg_indexes_size(c.oid)), 0)::bigint as indexes,
       coalesce(sum(pg_stat_get_dead_tuples(c.oid)), 0)::bigint as dead
from pg_class c where c.relnamespace = 'horae'::regnamespace and c.relkind = 'r'
group by family order by family;

-- name: catalogue_size
select sum(pg_total_relation_size(oid))::bigint as bytes
from pg_class where relnamespace = 'pg_catalog'::regnamespace and relkind = 'r';

-- name: left_over
-- Jobs that have not ended.
select (select count(*) from ready) + (select count(*) from timer) + (select count(*) from lease)
     + (select count(*) from blocked) as rows;

-- name: connections
-- How many there are to this database, by whose they are. Autovacuum comes and goes, and is nobody's.
select application_name as whose, count(*)::int as rows from pg_stat_activity
where datname = current_database() and backend_type = 'client backend' group by application_name;
