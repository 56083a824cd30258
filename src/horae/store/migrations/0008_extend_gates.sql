-- Gates: what their duties write down, and how often some of them can be closed. The table is new and small: its locks
-- are short.

alter table gate add column note text; -- what its condition could not be applied to, or how far its probes are
alter table gate add column noted_at timestamptz;
alter table gate add column release_next_at timestamptz; -- when the next job may go, of some that are let out at a rate
-- squawk-ignore disallowed-unique-constraint
alter table gate add column request uuid unique; -- that made it, so that it is not made twice

-- One emergency stop for a tenant, or for all; one gate of a task's circuit breaker, however many servers look.

-- squawk-ignore require-concurrent-index-creation
create unique index gate_one_stop on gate (coalesce(tenant_id, 0)) where kind = 'stop' and released_at is null;
-- squawk-ignore require-concurrent-index-creation
create unique index gate_one_breaker on gate (tenant_id, task) where kind = 'breaker' and released_at is null;
