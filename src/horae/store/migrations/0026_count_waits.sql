-- Of few starts a server looks how late they came, and each stands for those that were claimed with it. How many that are
-- is what the mean divides by.

alter table rollup add column waits bigint not null default 0; -- starts that wait_seconds is of
alter table rollup_minute add column waits bigint not null default 0;
alter table rollup_hour add column waits bigint not null default 0;
