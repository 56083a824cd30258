-- Tasks that are data: what each was and is, and who else may use it.

-- The number of the definition that is in force; 0: a function, whose definition its worker has.

alter table task add column version int not null default 0;

-- Every definition that a task ever had. Outlives the task, so that a deleted one can be brought back.

create table task_version (
    tenant_id int not null,
    task text not null,
    version int not null,
    definition text not null,
    made_at timestamptz not null default clock_timestamp(),
    made_by text not null,
    reason text not null default '',
    primary key (tenant_id, task, version)
);

-- Who may use a tenant's task beside the tenant itself.

create table task_share (
    guest_id int not null, -- 0: every tenant
    task text not null,
    tenant_id int not null, -- the owner
    with_secrets boolean not null default false, -- whether its jobs get the owner's secrets, not those of their tenant
    made_at timestamptz not null default clock_timestamp(),
    made_by text not null,
    primary key (guest_id, task, tenant_id)
);
create index task_share_owner on task_share (tenant_id, task);

-- Whose task a tenant means by a name: its own, else the one that stands for all tenants, else one that it was given.
-- Of several that were given, the one given first: nobody who gives something away takes the place of what is used.

create function task_meant(tenant int, name text, out owner_id int, out with_secrets boolean)
language sql stable return (
    select (found.owner_id, found.with_secrets) from (
        select t.tenant_id as owner_id, false as with_secrets, case t.tenant_id when 0 then 2 else 1 end as place,
               t.updated_at as since, 0 as guest_id
        from task t
        where t.tenant_id in (task_meant.tenant, 0) and t.name = task_meant.name
        union all
        select s.tenant_id, s.with_secrets, 3, min(s.made_at) over (partition by s.tenant_id), s.guest_id
        from task_share s
        where s.guest_id in (task_meant.tenant, 0) and s.task = task_meant.name and s.tenant_id <> task_meant.tenant
    ) found
    order by found.place, found.since, found.owner_id, found.guest_id desc
    limit 1
);

-- Enqueueing in the user's own transaction finds tasks that are shared, too.

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
