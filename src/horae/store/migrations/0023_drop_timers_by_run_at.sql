-- no transaction
-- What it gave, timer_due gives.
drop index concurrently if exists horae.timer_run_at;
