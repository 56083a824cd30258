-- What jobs leave in object storage: files from their output folders, and results too large for a row.

create table job_file (
    id uuid primary key default gen_random_uuid(), -- all that clients ever name it by
    tenant_id int not null,
    job_id uuid not null,
    attempt int not null, -- visible once the job has ended with this one
    name text, -- null: the result itself
    size bigint not null,
    sha256 bytea,
    media_type text,
    key text not null,
    created_at timestamptz not null default clock_timestamp(),
    expires_at timestamptz, -- null: as long as the job
    stored boolean not null default false, -- the file is there, as it was announced; of a result its outcome says so
    settled boolean not null default false -- found to be of the attempt that counts
);
-- One index for the files of a job, for those of dropped days, and against the same file twice.
create unique index job_file_job on job_file (job_id, attempt, name) nulls not distinct;
create index job_file_expires on job_file (expires_at) where expires_at is not null;
create index job_file_unsettled on job_file (created_at) where not settled;

-- How far the inline results of a task with a lifetime have been taken out. The rest of the outcome stays; its `blob`
-- becomes -1.
create table result_sweep (
    tenant_id int not null,
    task text not null,
    swept_at timestamptz not null,
    primary key (tenant_id, task)
);

-- What addresses of files are signed with where object storage cannot sign: the same on all servers.
create table signing_key (
    id int primary key,
    secret bytea not null
);
insert into signing_key (id, secret)
values (1, sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));
