-- Callbacks: attempts whose end comes by a call from outside. One is opened when a worker gets the brief of such a job.
-- Once the worker has parked the attempt, its lease belongs to worker 0, the servers themselves: no row of `worker` has
-- that number, so nothing reclaims it.

create table callback (
    token bytea primary key, -- its SHA-256: who reads this table can answer for nobody
    id uuid not null,
    due_at timestamptz not null, -- when a server must see to it: its time is over, or an answer is there
    parked_at timestamptz,
    settled_at timestamptz, -- since when nothing is left to be done
    tenant_id int not null,
    lane_id int not null,
    attempt int not null,
    digest bytea, -- of the answer: whoever says the same again is told the same again
    answer text -- until it has been carried out
);
create index callback_job on callback (tenant_id, id);
create index callback_due on callback (due_at) where settled_at is null;
create index callback_settled on callback (settled_at) where settled_at is not null;
