-- Vacuum does not give the empty end of the hot tables back to the disk: for that it locks a table whole, and claims and
-- ends of jobs stand meanwhile. What is empty there is used again within seconds.

alter table ready set (vacuum_truncate = off);
alter table lease set (vacuum_truncate = off);
alter table timer set (vacuum_truncate = off);
