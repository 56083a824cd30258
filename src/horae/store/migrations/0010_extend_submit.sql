-- Enqueueing in the user's own transaction learns of emergencies, expiry and the placement of tasks.

-- Where the jobs of a task run that say nothing of it themselves: the canonical text that their lane has.

alter table task add column placement text not null default '';

create or replace function check_submit_options(options jsonb) returns void language plpgsql immutable as $$
declare
    known constant text[] := array['run_at', 'delay', 'priority', 'queue', 'max_attempts', 'timeout', 'retry',
                                   'labels', 'concurrency_key', 'deadline', 'tenant', 'expires', 'expires_in'];
    elsewhere constant text[] := array['requires', 'prefers', 'avoids', 'sticky', 'spread', 'unique'];
    wrong text;
begin
    select string_agg(k, ', ') into wrong from jsonb_object_keys(options) k where k = any (elsewhere);
    if wrong is not null then
        raise exception 'horae.submit: % cannot be given inside a transaction', wrong
            using hint = 'give it to the task, or submit by the SDK or over HTTP';
    end if;
    select string_agg(k, ', ') into wrong from jsonb_object_keys(options) k where k <> all (known);
    wrong := case
        when wrong is not null then format('unknown option %s; known are %s', wrong, array_to_string(known, ', '))
        when options ? 'run_at' and options ? 'delay' then 'run_at and delay exclude each other'
        when options ? 'expires' and options ? 'expires_in' then 'expires and expires_in exclude each other'
        when (options ->> 'expires_in')::float not between 0 and 316224000 then 'expires_in must be 0 … 3660 days'
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

create or replace function submit(task text, params jsonb default '{}', options jsonb default '{}') returns uuid
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
    select * into definition from horae.task t
    where t.tenant_id in (owner, 0) and t.name = submit.task
    order by t.tenant_id desc
    limit 1;
    if definition.name is null then
        raise exception 'horae.submit: unknown task %', submit.task
            using hint = 'start a worker that has it, or register it with PUT /v1/tasks/{name}';
    end if;
    defaults := coalesce(definition.extra::jsonb, '{}');
    if defaults ? 'unique' then
        raise exception 'horae.submit: the jobs of task % are unique, which a transaction cannot promise', submit.task
            using hint = 'submit by the SDK or over HTTP';
    end if;
    due := coalesce((options ->> 'run_at')::timestamptz,
                    present + coalesce((options ->> 'delay')::float, 0) * interval '1 second');
    expires := coalesce(
        (options ->> 'expires')::timestamptz,
        greatest(due, present)
            + coalesce((options ->> 'expires_in')::float, (defaults ->> 'expires_in')::float) * interval '1 second');
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
        'labels', options -> 'labels', 'deadline', (options ->> 'deadline')::timestamptz, 'expires', expires));
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
    return job_id;
end $$;
