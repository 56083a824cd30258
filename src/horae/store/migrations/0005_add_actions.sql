-- Dead letters and bulk actions.

-- A failed job is in the dead letters until it is redriven or discarded. `cause` is the fingerprint of its error.

alter table outcome add column cause text;
alter table outcome add column discarded_at timestamptz;
alter table outcome add column discarded_by text;
-- The index of a partitioned table cannot be made concurrently; it holds failures alone.
-- squawk-ignore require-concurrent-index-creation
create index outcome_dead on outcome (tenant_id, cause, id) include (finished_at)
    where state = 'failed' and discarded_at is null;

-- Something done to all jobs that match a filter, in batches. Each batch, its counts and the cursor are one
-- transaction, so any server goes on where another stopped and no job is acted on twice.

create table bulk_action (
    id uuid primary key, -- made like a job's id: jobs with a greater one did not exist yet, and are left alone
    tenant_id int not null,
    action text not null,
    filter text not null,
    changes text,
    reason text not null default '',
    rate double precision, -- jobs a second
    total int, -- how many there were at the beginning
    more boolean not null default false, -- the total is a lower bound
    made_by text not null,
    created_at timestamptz not null default clock_timestamp(),
    state text not null default 'running', -- running, done, cancelled, failed, undoing, undone
    seen int not null default 0,
    done int not null default 0,
    skipped int not null default 0,
    failed int not null default 0,
    undone int not null default 0,
    note text, -- the last thing that went wrong
    cursor uuid not null, -- what comes next is older than this
    paced_until timestamptz, -- the instants up to then have been given to jobs
    touched_at timestamptz not null default clock_timestamp(),
    finished_at timestamptz,
    undo_until timestamptz
);
create index bulk_action_open on bulk_action (touched_at) where state in ('running', 'undoing');
create index bulk_action_list on bulk_action (tenant_id, id);

-- What an action did that can be undone: the job as it was, and its version afterwards. One that has changed since is
-- left alone.

create table bulk_item (
    action_id uuid not null,
    id uuid not null,
    before text,
    version text,
    primary key (action_id, id)
);
