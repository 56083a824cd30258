-- What workers offer, who steers them, and running jobs that are to go on elsewhere.

alter type execution_end add value 'moved' after 'undelivered';

alter table worker
    add column gpus double precision,
    add column disk bigint,
    add column kinds text[] not null default '{function}', -- the kinds of task it can run
    add column widest int, -- the most slots one job can take; null: all
    add column steered_by text, -- who drains it, why, and until when
    add column steer_reason text,
    add column steer_until timestamptz;

-- A request apart from those of cancel_request: a cancel ends the job whatever its attempt reports, a move does not.

create table move_request (
    id uuid not null,
    worker_id int not null,
    lane_id int not null,
    attempt int not null,
    reason text not null default '',
    requested_at timestamptz not null default clock_timestamp(),
    requested_by text,
    primary key (worker_id, id)
);
