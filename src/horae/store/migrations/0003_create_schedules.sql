-- Schedules: rules that make jobs. Every tick up to `cursor_at` has been dealt with: its job was made, or it stands in
-- `tick` as planned or skipped. Whoever moves the cursor, edits, pauses or deletes holds the lock of the schedule's row,
-- and a tick's job has an id derived from (schedule, nominal instant), so no tick can be fired twice.

create table schedule (
    id bigint generated always as identity primary key,
    tenant_id int not null,
    name text not null,
    task text not null,
    definition text not null, -- all that was asked, as JSON
    version int not null default 1,
    runs bigint not null default 0, -- ticks that became jobs, against max_runs
    cursor_at timestamptz not null,
    next_at timestamptz, -- when the next tick after the cursor must be seen to; null: there is none
    paused_at timestamptz,
    key_id int, -- its jobs are made in the name of this key
    tzdata text not null, -- the release of the time zone database that the rule was last saved with
    made_by text not null,
    made_at timestamptz not null default clock_timestamp(),
    changed_by text not null,
    changed_at timestamptz not null default clock_timestamp(),
    unique (tenant_id, name)
);
create index schedule_next on schedule (next_at) where paused_at is null;

-- Every change: who, when, why, and the definition as it was from then on. Outlives the schedule.

create table schedule_version (
    tenant_id int not null,
    name text not null,
    schedule_id bigint not null,
    version int not null,
    action text not null, -- created, changed, paused, resumed, deleted
    definition text not null,
    by text not null,
    why text not null default '',
    at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, name, schedule_id, version)
);

-- What became of each tick. A planned one is judged when it is due (`look_at`); one that waits is looked at again and
-- again. Of several ticks that were missed in a row, one row tells how many.

create table tick (
    schedule_id bigint not null,
    at timestamptz not null, -- the nominal instant
    origin text not null default 'rule', -- rule, trigger, or the backfill that made it
    tenant_id int not null,
    run_at timestamptz not null,
    state text not null, -- planned, waiting, fired, skipped
    job_id uuid,
    reason text,
    detail text,
    count int not null default 1,
    look_at timestamptz,
    primary key (schedule_id, at, origin)
);
create index tick_look on tick (look_at) where look_at is not null;
create index tick_open on tick (schedule_id, at) where look_at is not null;
create index tick_job on tick (schedule_id, at) where job_id is not null;
create index tick_old on tick using brin (at);

-- A range of the past to be run again. `cursor_at` as in schedule.

create table backfill (
    id bigint generated always as identity primary key,
    tenant_id int not null,
    schedule_id bigint not null,
    since timestamptz not null,
    until timestamptz not null,
    concurrency int not null,
    state text not null default 'running', -- running, done, cancelled
    total int not null,
    fired int not null default 0,
    skipped int not null default 0,
    cursor_at timestamptz not null,
    made_by text not null,
    made_at timestamptz not null default clock_timestamp(),
    finished_at timestamptz
);
create index backfill_running on backfill (id) where state = 'running';
create index backfill_schedule on backfill (schedule_id, id);

create table calendar (
    tenant_id int not null,
    name text not null,
    definition text not null,
    changed_by text not null,
    changed_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, name)
);

-- The shortest interval, in seconds, at which a schedule of the tenant may fire.

alter table tenant add column shortest_interval double precision not null default 1;
