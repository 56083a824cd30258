-- What `explain` needs to know afterwards, or of other servers.

-- When lanes had work that a limit let not start. Appended some seconds later by the server that saw it; what it had
-- not written when it died is lost. `name` is the limit's name at that time.

create table lane_wait (
    lane_id int not null,
    since timestamptz not null,
    until timestamptz not null,
    name text not null
);
create index lane_wait_lane on lane_wait (lane_id, until);
create index lane_wait_old on lane_wait using brin (until);

-- Whether a worker is on probation and has the one job that shows whether it is well again.

alter table worker add column probing boolean not null default false;
