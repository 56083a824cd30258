-- Secrets, sealed. A tenant's values are encrypted with its data key, and that with a master key that no table holds.

create table tenant_key (
    tenant_id int not null,
    version int not null,
    master text not null, -- which master key wraps it: a fingerprint
    wrapped bytea not null,
    made_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, version)
);

create table secret (
    tenant_id int not null,
    name text not null,
    version int not null, -- grows with every new value
    key_version int not null, -- of the tenant key that seals it
    sealed bytea not null,
    size int not null, -- of the value, in bytes
    created_at timestamptz not null default clock_timestamp(),
    created_by text not null,
    updated_at timestamptz not null default clock_timestamp(),
    updated_by text not null,
    last_used_at timestamptz, -- to the minute: written by a duty, not by each use
    primary key (tenant_id, name)
);
