-- What `horae doctor` asks a database about its health. All of it reads catalogues and settings, none of it jobs.

-- name: checkup_settings
-- $1 names
select name, setting from pg_settings where name = any ($1::text[]);

-- name: checkup_missing_partitions
-- The partitions of today and tomorrow that do not exist.
select parent || '_' || to_char(day, 'YYYYMMDD') as name
from unnest(array['job', 'outcome', 'attempt', 'log_chunk', 'execution']) as parent,
     unnest(array[0, 1]) as ahead,
     lateral (select (now() at time zone 'utc')::date + ahead as day) as days
where to_regclass('horae.' || parent || '_' || to_char(day, 'YYYYMMDD')) is null
order by name;

-- name: checkup_connections
-- How many connections there are, and how many there may be.
select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as allowed,
       count(*) filter (where backend_type = 'client backend')::int as used
from pg_stat_activity;

-- name: checkup_oldest_transaction
-- The transaction of this database that has been open longest. While it is, vacuum cannot clear up behind any other.
select pid, coalesce(application_name, '') as application, state, left(query, 120) as query,
       extract(epoch from clock_timestamp() - xact_start)::float8 as seconds
from pg_stat_activity
where xact_start is not null and backend_type = 'client backend' and pid <> pg_backend_pid()
  and datname = current_database()
order by xact_start
limit 1;

-- name: checkup_servers
-- The servers that said within a day that they live, and how long ago they did.
select host, pid, version, load, extract(epoch from clock_timestamp() - seen_at)::float8 as silent
from horae.server
order by started_at;

-- name: checkup_masters
-- Which master keys wrap how many tenants' keys.
select master, count(*) as keys from horae.tenant_key group by master order by master;
