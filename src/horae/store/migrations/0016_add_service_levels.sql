-- Service levels: what jobs of a tenant or a task are promised, whether it was kept, and when work that can wait starts.

create table service_level (
    id int generated always as identity primary key,
    tenant_id int, -- null: any tenant
    name text not null,
    task text, -- null: any task
    tier text not null default '',
    start_within double precision, -- seconds; null: nothing is promised
    target double precision not null, -- the share of jobs that shall start in time
    priority smallint, -- of jobs that have none
    off_peak text, -- windows and zone, as JSON
    off_peak_zone text,
    off_peak_minutes int4multirange, -- the same windows, as minutes of the week from Sunday's midnight on
    made_by text not null,
    made_at timestamptz not null default clock_timestamp(),
    reason text
);
create unique index service_level_name on service_level (coalesce(tenant_id, 0), name);
-- Which level is meant must be clear: there are no two for the same jobs.
create unique index service_level_scope on service_level (coalesce(tenant_id, 0), coalesce(task, ''));

-- By when jobs under a level are to start. A row goes when its job has started or ended; until then it is looked at when
-- that is at risk, when its time is over, and now and then while it is late. Only jobs under a level come here.

create table promise (
    due_at timestamptz not null,
    look_at timestamptz not null,
    id uuid not null,
    tenant_id int not null,
    level_id int not null,
    stage smallint not null default 0, -- 0 made, 1 at risk, 2 late and counted
    primary key (tenant_id, id)
) with (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0.5, autovacuum_vacuum_insert_scale_factor = 1
);
create index promise_look on promise (look_at);
create index promise_pressing on promise (level_id, due_at) where stage > 0;

-- Kept and broken promises in sums of ten minutes, by the time they were for.

create table attainment (
    bucket timestamptz not null,
    level_id int not null,
    tenant_id int not null,
    task text not null,
    kept bigint not null default 0,
    broken bigint not null default 0,
    primary key (level_id, bucket, tenant_id, task)
) with (fillfactor = 80);

-- Whether a job still waits for its first start.

create function awaits_start(tenant int, job uuid) returns boolean language sql stable
return exists (
    select from job j
    where j.tenant_id = tenant and j.id = job
      and not exists (select from outcome o where o.tenant_id = tenant and o.id = job)
      and not exists (select from lease l where l.lane_id = j.lane_id and l.id = job)
      and not has_started(tenant, job, j.options)
);

-- A job's new rank, found by its key whatever plan the caller's statement has.

create function job_rerank(tenant int, job_id uuid, new_rank bigint) returns void language sql volatile
begin atomic
    update job set rank = new_rank where tenant_id = tenant and id = job_id;
end;

create function week_minute(instant timestamptz, zone text) returns int language sql stable parallel safe
return (
    select (extract(dow from wall) * 1440 + extract(hour from wall) * 60 + extract(minute from wall))::int
    from (select instant at time zone zone) as w (wall)
);

-- The first moment from this one on at which a window is open: the rule of horae.model.offpeak, minute by minute.

create function off_peak_start(minutes int4multirange, zone text, instant timestamptz) returns timestamptz
language sql stable parallel safe return case
    when minutes @> week_minute(instant, zone) then instant
    else (
        select min(t) from generate_series(date_trunc('minute', instant) + interval '1 minute',
                                           instant + interval '15 days', interval '1 minute') as t
        where minutes @> week_minute(t, zone)
    )
end;

-- When a promise is looked at first: horae.model.promise.at_risk_from.

create function at_risk_from(start_by timestamptz, within double precision) returns timestamptz
language sql immutable parallel safe return start_by - least(within / 4, 600) * interval '1 second';

-- Enqueueing in the user's own transaction goes by the service levels, too.

create or replace function submit(task text, params jsonb default '{}', options jsonb default '{}') returns uuid
language plpgsql security definer set search_path = horae, pg_temp as $$
declare
    owner int;
    definition horae.task;
    job_id uuid := new_job_id();
    present timestamptz := clock_timestamp();
    due timestamptz := present;
    promised horae.service_level;
    off_peak boolean := false;
    start_by timestamptz;
    level int;
    claim bigint;
    wanted_queue text;
    wanted_key text := coalesce(options ->> 'concurrency_key', '');
    lane int;
    extra jsonb;
    defaults jsonb;
    expires timestamptz;
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
    select t.* into definition
    from task_meant(owner, submit.task) meant join horae.task t on t.tenant_id = meant.owner_id and t.name = submit.task;
    if definition.name is null then
        raise exception 'horae.submit: unknown task %', submit.task
            using hint = 'start a worker that has it, or register it with PUT /v1/tasks/{name}';
    end if;
    defaults := coalesce(definition.extra::jsonb, '{}');
    if defaults ? 'unique' then
        raise exception 'horae.submit: the jobs of task % are unique, which a transaction cannot promise', submit.task
            using hint = 'submit by the SDK or over HTTP';
    end if;
    -- The most specific level, as horae.model.servicelevels has it.
    select s.* into promised from horae.service_level s
    where (s.tenant_id is null or s.tenant_id = owner) and (s.task is null or s.task = submit.task)
    order by s.task is null, s.tenant_id is null
    limit 1;
    level := coalesce((options ->> 'priority')::int, definition.priority, promised.priority, 5);
    due := coalesce((options ->> 'run_at')::timestamptz,
                    present + coalesce((options ->> 'delay')::float, 0) * interval '1 second');
    if promised.off_peak_zone is not null and level < 10 and not options ?| array['run_at', 'delay'] then
        due := off_peak_start(promised.off_peak_minutes, promised.off_peak_zone, present);
        off_peak := due > present;
    end if;
    start_by := greatest(due, present) + promised.start_within * interval '1 second';
    expires := coalesce(
        (options ->> 'expires')::timestamptz,
        greatest(due, present)
            + coalesce((options ->> 'expires_in')::float, (defaults ->> 'expires_in')::float) * interval '1 second');
    if extract(year from due) not between 1970 and 2200 then
        raise exception 'horae.submit: the year of run_at is outside 1970…2200';
    end if;
    -- The same arithmetic as horae.model.rank; a test compares the two.
    claim := (extract(epoch from greatest(due, present)) * 1000000)::bigint
             - case when level = 10 then 3600000000 else 60000000::bigint * (level - 5) end;
    if options ? 'deadline' then
        claim := least(claim, (extract(epoch from greatest((options ->> 'deadline')::timestamptz,
                                                           present - interval '1 hour')) * 1000000)::bigint);
    elsif start_by is not null then
        claim := least(claim, (extract(epoch from start_by) * 1000000)::bigint);
    end if;
    wanted_queue := coalesce(options ->> 'queue', definition.queue, 'default');
    -- Looked for first: a lane made here is seen by others only when the user's transaction ends, and until then
    -- whoever needs the same new lane waits for it.
    select l.id into lane from horae.lane l
    where l.tenant_id = owner and l.task = submit.task and l.queue = wanted_queue
      and l.concurrency_key = wanted_key and l.requires = definition.placement and l.urgent = (level = 10);
    if lane is null then
        insert into lane (tenant_id, queue, task, concurrency_key, requires, urgent)
        values (owner, wanted_queue, submit.task, wanted_key, definition.placement, level = 10)
        on conflict do nothing;
        select l.id into lane from horae.lane l
        where l.tenant_id = owner and l.task = submit.task and l.queue = wanted_queue
          and l.concurrency_key = wanted_key and l.requires = definition.placement and l.urgent = (level = 10);
    end if;
    extra := jsonb_strip_nulls(jsonb_build_object(
        'max_attempts', coalesce((options ->> 'max_attempts')::int, definition.max_attempts),
        'timeout', coalesce((options ->> 'timeout')::float, definition.timeout_seconds),
        'retry', coalesce(options -> 'retry', definition.retry::jsonb),
        'labels', options -> 'labels', 'deadline', (options ->> 'deadline')::timestamptz, 'expires', expires,
        'promise', case when promised.id is not null then jsonb_build_object(
            'level', promised.name, 'level_id', promised.id, 'within', promised.start_within, 'start_by', start_by,
            'off_peak', nullif(off_peak, false)) end));
    insert into job (id, rank, run_at, tenant_id, lane_id, priority, params, options)
    values (job_id, claim, due, owner, lane, level, params::text, nullif(extra, '{}')::text);
    if due <= present then
        insert into ready (rank, id, lane_id, attempt) values (claim, job_id, lane, 0);
    else
        insert into timer (run_at, rank, id, lane_id, attempt) values (due, claim, job_id, lane, 0);
    end if;
    if expires is not null then
        insert into expiry (expires_at, id, tenant_id) values (expires, job_id, owner);
    end if;
    if start_by is not null then
        insert into promise (due_at, look_at, id, tenant_id, level_id)
        values (start_by, at_risk_from(start_by, promised.start_within), job_id, owner, promised.id);
    end if;
    return job_id;
end $$;
