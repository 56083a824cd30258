-- Uniqueness and expiry: side tables, touched only by jobs that use them.

-- The jobs that keep others like them away. Whether one still does is judged by where the job is now, so nothing has to
-- be written here when it starts or ends; a duty forgets those that can no longer count.

create table unique_key (
    tenant_id int not null,
    hash bytea not null,
    job_id uuid not null,
    during text not null, -- waiting, running, active
    until timestamptz, -- of a period, which counts instead of `during`
    primary key (tenant_id, hash, job_id)
);

-- Start by then, or never.

create table expiry (
    expires_at timestamptz not null,
    id uuid not null,
    tenant_id int not null,
    primary key (tenant_id, id)
);
create index expiry_at on expiry (expires_at);

-- Whether a job has started since a person last asked for it: what only a job that never did is measured against.

create function has_started(tenant int, job uuid, options text) returns boolean language sql stable
return exists (
    select from attempt a
    where a.tenant_id = tenant and a.id = job and a.attempt > attempts_forgiven(options) and a.ending <> 'undelivered'
);
