-- What the console needs: who is signed in, and sums of what happened that any page can read at once.

-- Who is signed in by a browser. A session is good as long as its key is; like a key, it is stored as its SHA-256.

create table console_session (
    hash bytea primary key,
    key_id int not null,
    made_at timestamptz not null default clock_timestamp(),
    expires_at timestamptz not null
);
create index console_session_key on console_session (key_id);

-- Addresses that sign in once: whoever deletes the row has used it.

create table console_ticket (
    hash bytea primary key,
    key_id int not null,
    expires_at timestamptz not null
);

-- What happened in ten seconds, a minute or an hour, by tenant alone: a plot of any range reads some hundred rows,
-- however many tasks and queues there are. Servers add what they counted, as they do to `rollup`.

create table flow (
    tenant_id int not null, -- 0: all of them together
    span int not null, -- 10, 60 or 3600 seconds
    bucket timestamptz not null, -- its beginning
    submitted bigint not null,
    started bigint not null,
    succeeded bigint not null,
    failed bigint not null,
    cancelled bigint not null,
    other bigint not null, -- expired and dropped
    retried bigint not null,
    runs bigint not null, -- attempts whose time is in the next
    run_seconds double precision not null,
    waits bigint[] not null, -- jobs by how long after their time they started: see horae.model.delays
    primary key (tenant_id, span, bucket)
) with (fillfactor = 50);
create index flow_age on flow (span, bucket);
create index flow_failed on flow (span, bucket) where failed > 0; -- whose jobs fail

-- Of the jobs that wait, how many were scheduled and blocked when they were last counted; the others are ready.

alter table depth
    add column scheduled bigint not null default 0,
    add column blocked bigint not null default 0;
