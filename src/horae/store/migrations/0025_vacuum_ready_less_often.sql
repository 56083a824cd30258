-- Each vacuum of `ready` reads its whole index and every page that lost a row. Where jobs of many lanes are taken from all
-- over a large backlog, those are nearly all pages: done at a fiftieth of the rows that took 4 to 8 µs a job, done at a
-- tenth it takes 2 to 3. Claims do not walk over what is dead meanwhile (floors), and a small table is vacuumed every few
-- seconds as before.

alter table ready set (autovacuum_vacuum_scale_factor = 0.1);
