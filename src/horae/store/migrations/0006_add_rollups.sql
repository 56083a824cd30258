-- What happened and how much waits, as sums: rollups, depths, quotas, and the servers that share them.

-- Sums of ten seconds, by tenant, task and queue. Servers add what they counted in memory, each at its own moments; a
-- server that dies takes its last second with it. Time leads the key: everybody reads the latest, and clears the oldest.

create table rollup (
    bucket timestamptz not null, -- the beginning of the ten seconds
    tenant_id int not null,
    task text not null,
    queue text not null,
    submitted bigint not null default 0,
    started bigint not null default 0,
    succeeded bigint not null default 0,
    failed bigint not null default 0,
    cancelled bigint not null default 0,
    other bigint not null default 0, -- expired and dropped
    retried bigint not null default 0, -- attempts that failed and will be made again
    runs bigint not null default 0, -- attempts whose time is in the next two
    run_seconds double precision not null default 0,
    run_squares double precision not null default 0, -- of the seconds: what the spread needs
    wait_seconds double precision not null default 0, -- from due to granted
    primary key (bucket, tenant_id, task, queue)
) with (fillfactor = 80);

-- The same by the hour, kept longer.

create table rollup_hour (like rollup including all);

-- How many jobs wait and run, by tenant and queue. Approximate by design: servers add their changes each second, and a
-- recount corrects now and then what they missed (jobs made by SQL, the last second of a server that died).

create table depth (
    tenant_id int not null,
    queue text not null,
    pending bigint not null default 0,
    running bigint not null default 0,
    primary key (tenant_id, queue)
) with (fillfactor = 50);

-- What may be submitted: a rate with a burst, and how many jobs may wait.

create table quota (
    scope text not null, -- tenant, user (the name of an API key) or queue
    tenant_id int not null, -- 0: for a user, a key of no tenant; for a queue, all tenants together
    name text not null,
    submit_rate double precision, -- a second
    burst int,
    max_pending bigint,
    updated_at timestamptz not null default clock_timestamp(),
    updated_by text not null,
    primary key (scope, tenant_id, name)
);

-- Jobs of users who may have only so many pending ones. A row goes when its job no longer waits.

create table quota_hold (
    tenant_id int not null,
    key_id int not null,
    id uuid not null,
    primary key (key_id, id)
);

-- The servers that live: each gives its share of a quota.

create table server (
    id uuid primary key,
    host text not null,
    pid int not null,
    version text not null,
    started_at timestamptz not null default clock_timestamp(),
    seen_at timestamptz not null default clock_timestamp(),
    load real not null default 0
) with (fillfactor = 50);

-- When duties that want a single actor are due again.

create table sole_duty (
    name text primary key,
    next_at timestamptz not null
);
