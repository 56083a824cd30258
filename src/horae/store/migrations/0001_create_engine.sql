-- The engine's tables. A job's state is the table that holds it: `job` has what was asked, and beside it the job has
-- exactly one row in `timer` (scheduled), `ready`, `lease` (running) or `outcome` (ended). A transition deletes from
-- one and inserts into the next in one statement, guarded by what it deletes. No status column, no foreign keys and
-- no triggers on the hot path.

create type outcome_state as enum ('succeeded', 'failed', 'cancelled', 'expired', 'dropped');
create type execution_end as enum
    ('succeeded', 'error', 'fatal', 'timeout', 'cancelled', 'crashed', 'lost', 'undelivered');

-- Control tables: small, read through caches.

create table tenant (
    id int generated always as identity primary key,
    name text not null unique,
    weight double precision not null default 1,
    created_at timestamptz not null default clock_timestamp()
);
insert into tenant (name) values ('default');

create table api_key (
    id int generated always as identity primary key,
    tenant_id int, -- null: all tenants
    name text not null,
    role text not null,
    prefix text not null,
    hash bytea not null unique,
    created_at timestamptz not null default clock_timestamp(),
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz
);

create table task (
    tenant_id int not null, -- 0: shared with all tenants
    name text not null,
    queue text,
    priority smallint,
    max_attempts int,
    timeout_seconds double precision,
    retry text,
    params_schema text,
    description text,
    updated_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, name)
);

create table lane (
    id int generated always as identity primary key,
    tenant_id int not null,
    queue text not null,
    task text not null,
    concurrency_key text not null default '',
    requires text not null default '',
    unique (tenant_id, task, queue, concurrency_key, requires)
);

create table worker (
    id int generated always as identity primary key,
    tenant_id int, -- null: serves all tenants
    name text not null,
    host text not null,
    state text not null default 'active', -- active, draining, left, lost
    slots int not null,
    tasks text[] not null,
    queues text[],
    labels text not null default '{}',
    version text not null default '',
    pid int,
    cpus double precision,
    memory bigint,
    region text,
    zone text,
    kind text,
    joined_at timestamptz not null default clock_timestamp(),
    seen_at timestamptz not null default clock_timestamp(),
    expires_at timestamptz not null,
    running int not null default 0,
    queued int not null default 0,
    cpu_load real,
    memory_load real
) with (fillfactor = 50); -- heartbeats stay in the page (HOT)

-- Large tables: append-only, partitioned by day of the id (UUIDv7). The tenant leads every key, so that a tenant's
-- jobs are one range, newest last. The default partitions hold what retention carried over from dropped days.

create table job (
    id uuid not null,
    rank bigint not null,
    run_at timestamptz not null,
    tenant_id int not null,
    lane_id int not null,
    key_id int,
    priority smallint not null,
    params text not null,
    options text,
    primary key (tenant_id, id)
) partition by range (id);
create table job_default partition of job default;

create table outcome (
    id uuid not null,
    started_at timestamptz,
    finished_at timestamptz not null,
    tenant_id int not null,
    worker_id int,
    attempt int not null,
    state outcome_state not null,
    ending execution_end not null,
    cpu real,
    peak_memory bigint,
    blob bigint, -- size of a result that lies in object storage
    result text,
    error text,
    primary key (tenant_id, id)
) partition by range (id);
create index outcome_unsuccessful on outcome (tenant_id, state, id) where state <> 'succeeded';
-- Rows arrive in the order of finished_at, so a block range index finds a time window for almost nothing.
create index outcome_finished on outcome using brin (finished_at) with (pages_per_range = 32);
create table outcome_default partition of outcome default;

create table attempt (
    id uuid not null,
    started_at timestamptz,
    ended_at timestamptz not null,
    tenant_id int not null,
    worker_id int,
    attempt int not null,
    ending execution_end not null,
    cpu real,
    peak_memory bigint,
    error text,
    primary key (tenant_id, id, attempt)
) partition by range (id);
create index attempt_ended on attempt using brin (ended_at) with (pages_per_range = 32);
create table attempt_default partition of attempt default;

create table log_chunk (
    id uuid not null,
    at timestamptz not null default clock_timestamp(),
    tenant_id int not null,
    attempt int not null,
    seq int not null,
    stream text not null,
    text text not null,
    primary key (tenant_id, id, attempt, seq)
) partition by range (id);
create table log_chunk_default partition of log_chunk default;

-- Hot tables: narrow rows that come and go. Vacuum follows them closely.

create table ready (
    rank bigint not null,
    id uuid not null,
    lane_id int not null,
    attempt int not null, -- of the last execution; 0 before the first
    primary key (lane_id, rank, id)
) with (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0.5, autovacuum_vacuum_insert_scale_factor = 1
);

create table lease (
    granted_at timestamptz not null,
    id uuid not null,
    worker_id int not null,
    lane_id int not null,
    attempt int not null,
    grant_number int not null, -- of the exchange that granted it, so that a lost answer can be taken back
    primary key (lane_id, id)
) with (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0.5, autovacuum_vacuum_insert_scale_factor = 1
);
create index lease_worker on lease (worker_id);

create table timer (
    run_at timestamptz not null,
    rank bigint not null,
    id uuid not null,
    lane_id int not null,
    attempt int not null,
    primary key (lane_id, id)
) with (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0.5, autovacuum_vacuum_insert_scale_factor = 1
);
create index timer_run_at on timer (run_at);

-- Side tables: touched only by jobs that use the feature.

create table cancel_request (
    id uuid not null,
    worker_id int not null,
    lane_id int not null,
    attempt int not null,
    reason text not null default '',
    requested_at timestamptz not null default clock_timestamp(),
    requested_by text,
    primary key (worker_id, id)
);

create table checkpoint (
    tenant_id int not null,
    id uuid not null,
    attempt int not null,
    data text,
    done double precision,
    total double precision,
    note text,
    at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, id)
);

create table idempotency (
    tenant_id int not null,
    key text not null,
    fingerprint bytea not null,
    job_id uuid not null,
    created_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, key)
);
create index idempotency_created on idempotency (created_at);

-- A job with its present state, whichever table holds it: what single look-ups and pages of lists read.

create view job_state as
select j.id, j.xmin::text as version, j.rank, j.run_at, j.tenant_id, j.lane_id, j.priority, j.params, j.options,
       l.queue, l.task, l.concurrency_key, t.name as tenant, k.name as key_name,
       o.state::text as outcome, o.started_at, o.finished_at, o.error, o.blob,
       coalesce(o.attempt, le.attempt, ti.attempt, r.attempt, 0) as attempt,
       coalesce(o.worker_id, le.worker_id) as worker_id,
       le.granted_at, ti.run_at as timer_at, r.id is not null as is_ready, cr.id is not null as cancel_requested,
       cp.done, cp.total, cp.note, cp.at as progress_at
from job j
join lane l on l.id = j.lane_id
join tenant t on t.id = j.tenant_id
left join api_key k on k.id = j.key_id
left join outcome o on o.tenant_id = j.tenant_id and o.id = j.id
left join lease le on le.lane_id = j.lane_id and le.id = j.id
left join timer ti on ti.lane_id = j.lane_id and ti.id = j.id
left join ready r on r.lane_id = j.lane_id and r.rank = j.rank and r.id = j.id
left join cancel_request cr on cr.worker_id = le.worker_id and cr.id = j.id and cr.attempt = le.attempt
left join checkpoint cp on cp.tenant_id = j.tenant_id and cp.id = j.id;

-- The guard of a transition that first finds its rows and then deletes them by their place: when somebody else was
-- quicker with one of them, the statement is undone as a whole and tried again, and then finds fewer.

create function same_or_retry(expected bigint, deleted bigint) returns boolean language plpgsql as $$
begin
    if expected <> deleted then
        raise exception 'another transaction was quicker' using errcode = 'serialization_failure';
    end if;
    return true;
end $$;

-- The attempts before a person's retry, which no longer count against the job.

create function attempts_forgiven(options text) returns int language sql immutable parallel safe
return coalesce((options::jsonb ->> 'forgiven')::int, 0);

-- Partitions. Bounds are the smallest UUIDv7 of a day.

create function day_bound(day date) returns uuid language sql immutable parallel safe
return (lpad(to_hex((extract(epoch from day) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

create function partition_create(day date) returns int language plpgsql as $$
declare
    parent text;
    child text;
    made int := 0;
begin
    foreach parent in array array['job', 'outcome', 'attempt', 'log_chunk'] loop
        child := parent || '_' || to_char(day, 'YYYYMMDD');
        if to_regclass('horae.' || child) is null then
            -- Rows of that day may lie in the default partition already, if no server ran for days: they move along.
            execute format('create table horae.%I (like horae.%I including all)', child, parent);
            execute format('with moved as (delete from horae.%I where id >= %L and id < %L returning *)
                            insert into horae.%I select * from moved',
                           parent || '_default', horae.day_bound(day), horae.day_bound(day + 1), child);
            execute format('alter table horae.%I attach partition horae.%I for values from (%L) to (%L)',
                           parent, child, horae.day_bound(day), horae.day_bound(day + 1));
            made := made + 1;
        end if;
    end loop;
    return made;
end $$;

select partition_create((current_date + n)::date) from generate_series(-1, 3) as n;

-- Enqueue inside the user's own transaction: the job exists if and only if that transaction commits.

create function new_job_id() returns uuid language sql volatile
return encode(
    overlay(overlay(uuid_send(gen_random_uuid())
        placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6)
        placing '\x7000'::bytea from 7 for 2),
    'hex')::uuid;

create function check_submit_options(options jsonb) returns void language plpgsql immutable as $$
declare
    known constant text[] := array['run_at', 'delay', 'priority', 'queue', 'max_attempts', 'timeout', 'retry',
                                   'labels', 'concurrency_key', 'deadline', 'tenant'];
    wrong text;
begin
    select string_agg(k, ', ') into wrong from jsonb_object_keys(options) k where k <> all (known);
    wrong := case
        when wrong is not null then format('unknown option %s; known are %s', wrong, array_to_string(known, ', '))
        when options ? 'run_at' and options ? 'delay' then 'run_at and delay exclude each other'
        when (options ->> 'delay')::float not between 0 and 316224000 then 'delay must be 0 … 3660 days'
        when (options ->> 'priority')::int not between 1 and 10 then 'priority must be 1…10'
        when (options ->> 'max_attempts')::int not between 1 and 1000 then 'max_attempts must be 1…1000'
        when not ((options ->> 'timeout')::float > 0 and (options ->> 'timeout')::float <= 316224000)
            then 'timeout must be more than 0, at most 3660 days'
        when options ->> 'queue' !~ '^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,199}$' then 'queue is not a name'
        when length(options ->> 'concurrency_key') not between 1 and 200 then 'concurrency_key must be 1…200 characters'
        when options ? 'labels' and (jsonb_typeof(options -> 'labels') <> 'object'
             or exists (select from jsonb_each(options -> 'labels') where jsonb_typeof(value) <> 'string'
                        or key !~ '^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,199}$' or length(value #>> '{}') > 200))
            then 'labels must be an object of names and strings of at most 200 characters'
        when options ? 'retry' and (jsonb_typeof(options -> 'retry') <> 'object'
             or exists (select from jsonb_each(options -> 'retry') where not (
                 key in ('first', 'factor', 'cap') and jsonb_typeof(value) = 'number'
                 or key = 'jitter' and jsonb_typeof(value) = 'boolean'))
             or (options #>> '{retry,first}')::float not between 0 and 86400
             or (options #>> '{retry,factor}')::float not between 1 and 100
             or (options #>> '{retry,cap}')::float not between 0 and 2592000)
            then 'retry must have numbers first 0…86400, factor 1…100, cap 0…2592000, and jitter true or false'
    end;
    if wrong is not null then
        raise exception 'horae.submit: %', wrong;
    end if;
end $$;

create function submit(task text, params jsonb default '{}', options jsonb default '{}') returns uuid
language plpgsql security definer set search_path = horae, pg_temp as $$
declare
    owner int;
    definition horae.task;
    job_id uuid := new_job_id();
    present timestamptz := clock_timestamp();
    due timestamptz := present;
    level int;
    claim bigint;
    wanted_queue text;
    wanted_key text := coalesce(options ->> 'concurrency_key', '');
    lane int;
    extra jsonb;
begin
    options := (select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(options)
                where jsonb_typeof(value) <> 'null');
    perform check_submit_options(options);
    if jsonb_typeof(params) <> 'object' then
        raise exception 'horae.submit: params must be a JSON object, not %', jsonb_typeof(params);
    end if;
    if octet_length(params::text) > 1048576 then
        raise exception 'horae.submit: params are larger than 1 MiB';
    end if;
    select id into owner from tenant where name = coalesce(options ->> 'tenant', 'default');
    if owner is null then
        raise exception 'horae.submit: there is no tenant %', options ->> 'tenant';
    end if;
    select * into definition from horae.task t
    where t.tenant_id in (owner, 0) and t.name = submit.task
    order by t.tenant_id desc
    limit 1;
    if definition.name is null then
        raise exception 'horae.submit: unknown task %', submit.task
            using hint = 'start a worker that has it, or register it with PUT /v1/tasks/{name}';
    end if;
    due := coalesce((options ->> 'run_at')::timestamptz,
                    present + coalesce((options ->> 'delay')::float, 0) * interval '1 second');
    if extract(year from due) not between 1970 and 2200 then
        raise exception 'horae.submit: the year of run_at is outside 1970…2200';
    end if;
    -- The same arithmetic as horae.model.rank; a test compares the two.
    level := coalesce((options ->> 'priority')::int, definition.priority, 5);
    claim := (extract(epoch from greatest(due, present)) * 1000000)::bigint
             - case when level = 10 then 3600000000 else 60000000::bigint * (level - 5) end;
    if options ? 'deadline' then
        claim := least(claim, (extract(epoch from greatest((options ->> 'deadline')::timestamptz,
                                                           present - interval '1 hour')) * 1000000)::bigint);
    end if;
    wanted_queue := coalesce(options ->> 'queue', definition.queue, 'default');
    -- Looked for first: a lane made here is seen by others only when the user's transaction ends, and until then
    -- whoever needs the same new lane waits for it.
    select l.id into lane from horae.lane l
    where l.tenant_id = owner and l.task = submit.task and l.queue = wanted_queue
      and l.concurrency_key = wanted_key and l.requires = '';
    if lane is null then
        insert into lane (tenant_id, queue, task, concurrency_key)
        values (owner, wanted_queue, submit.task, wanted_key)
        on conflict do nothing;
        select l.id into lane from horae.lane l
        where l.tenant_id = owner and l.task = submit.task and l.queue = wanted_queue
          and l.concurrency_key = wanted_key and l.requires = '';
    end if;
    extra := jsonb_strip_nulls(jsonb_build_object(
        'max_attempts', coalesce((options ->> 'max_attempts')::int, definition.max_attempts),
        'timeout', coalesce((options ->> 'timeout')::float, definition.timeout_seconds),
        'retry', coalesce(options -> 'retry', definition.retry::jsonb),
        'labels', options -> 'labels', 'deadline', (options ->> 'deadline')::timestamptz));
    insert into job (id, rank, run_at, tenant_id, lane_id, priority, params, options)
    values (job_id, claim, due, owner, lane, level, params::text, nullif(extra, '{}')::text);
    if due <= present then
        insert into ready (rank, id, lane_id, attempt) values (claim, job_id, lane, 0);
    else
        insert into timer (run_at, rank, id, lane_id, attempt) values (due, claim, job_id, lane, 0);
    end if;
    return job_id;
end $$;
