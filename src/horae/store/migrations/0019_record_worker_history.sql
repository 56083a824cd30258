-- What happened to workers: when they joined, were late, drained, put on probation or lost. Small and bounded: nothing is
-- written while a worker is well, lateness is summed up by ten minutes, and all of it goes after a month.

create table worker_event (
    worker_id int not null,
    at timestamptz not null default clock_timestamp(),
    event text not null, -- joined, late, drained, resumed, probation, trusted, left, lost
    who text, -- who steered it
    reason text,
    seconds double precision, -- late: the longest silence; drained: for how long
    times int not null default 1, -- late: how often in these ten minutes
    primary key (worker_id, at, event)
);

-- Whether a worker is on probation: it gets one job at a time. `probing` says whether that one is out.

alter table worker add column probation boolean not null default false;
