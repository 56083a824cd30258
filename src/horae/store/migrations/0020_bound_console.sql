-- What the console's pages read stays bounded with millions of jobs and a thousand busy tenants.

-- Sums of minutes, between those of ten seconds and of hours: an hour of a thousand tenants is 60,000 rows, not 360,000.

create table rollup_minute (like rollup including all);
