-- Sums of minutes and hours over all tenants, as tenant 0: a plot of what all of them did read a thousand rows for each
-- minute. They are made with those of the tenants; here those that are there already get theirs.

insert into rollup_minute (bucket, tenant_id, task, queue, submitted, started, succeeded, failed, cancelled, other, retried,
                     runs, run_seconds, run_squares, wait_seconds)
select bucket, 0, task, queue, sum(submitted), sum(started), sum(succeeded), sum(failed), sum(cancelled), sum(other),
       sum(retried), sum(runs), sum(run_seconds), sum(run_squares), sum(wait_seconds)
from rollup_minute
group by bucket, task, queue;

insert into rollup_hour (bucket, tenant_id, task, queue, submitted, started, succeeded, failed, cancelled, other, retried,
                     runs, run_seconds, run_squares, wait_seconds)
select bucket, 0, task, queue, sum(submitted), sum(started), sum(succeeded), sum(failed), sum(cancelled), sum(other),
       sum(retried), sum(runs), sum(run_seconds), sum(run_squares), sum(wait_seconds)
from rollup_hour
group by bucket, task, queue;
