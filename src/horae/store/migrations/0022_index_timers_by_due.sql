-- no transaction
-- Scheduled jobs as they fall due, those of one instant too: a page of them begins anywhere, and reads the index alone.
create index concurrently if not exists timer_due on horae.timer (run_at, id) include (lane_id);
