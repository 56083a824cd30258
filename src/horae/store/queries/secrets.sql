-- Secrets, sealed, and the tenants' keys that seal them, wrapped. Nothing here is ever in clear.

-- name: secret_lock
-- One at a time sets secrets of a tenant or changes its key; whoever comes next sees what the one before did.
-- $1 tenant
select pg_advisory_xact_lock(8422, $1);

-- name: tenant_key_newest
-- $1 tenant
select version, master, wrapped from tenant_key where tenant_id = $1 order by version desc limit 1;

-- name: tenant_key_add
-- $1 tenant, $2 version, $3 master, $4 wrapped
insert into tenant_key (tenant_id, version, master, wrapped) values ($1, $2, $3, $4);

-- name: tenant_key_foreign
-- Keys that another master key wraps than the one in use.
-- $1 the fingerprint of the one in use, $2 how many at most
select tenant_id, version, master, wrapped from tenant_key
where master <> $1
order by tenant_id, version
limit $2;

-- name: tenant_key_rewrap
-- Only if it is still wrapped as it was found.
-- $1 tenant, $2 version, $3 master, $4 wrapped, $5 wrapped before
update tenant_key set master = $3, wrapped = $4
where tenant_id = $1 and version = $2 and wrapped = $5
returning version;

-- name: tenant_key_drop
-- Keys that seal nothing any more; the newest stays.
-- $1 tenant, $2 the newest
delete from tenant_key k
where k.tenant_id = $1 and k.version < $2
    and not exists (select from secret s where s.tenant_id = $1 and s.key_version = k.version)
returning version;

-- name: secret_version
-- $1 tenant, $2 name
select version from secret where tenant_id = $1 and name = $2;

-- name: secret_put
-- $1 tenant, $2 name, $3 version, $4 key version, $5 sealed, $6 size, $7 who
insert into secret as s (tenant_id, name, version, key_version, sealed, size, created_by, updated_by)
values ($1, $2, $3, $4, $5, $6, $7, $7)
on conflict (tenant_id, name) do update
set version = $3, key_version = $4, sealed = $5, size = $6, updated_by = $7, updated_at = clock_timestamp()
returning name;

-- name: secret_list
-- With some of the tasks whose jobs get them: the tenant's own, and those that stand for all tenants.
-- $1 tenant or null for any, $2 name or null for all, $3 how many tasks of each at most
with used as (
    select t.tenant_id, u.secret, (array_agg(t.name order by t.name))[:$3] as tasks
    from task t cross join unnest(t.secrets) as u (secret)
    where t.secrets <> '{}' and ($1::int is null or t.tenant_id in ($1, 0)) and ($2::text is null or u.secret = $2)
    group by t.tenant_id, u.secret
)
select t.name as tenant, s.name, s.version, s.size, s.created_at, s.created_by, s.updated_at, s.updated_by,
       s.last_used_at, coalesce(own.tasks, '{}') || coalesce(everybodys.tasks, '{}') as used_by
from secret s
join tenant t on t.id = s.tenant_id
left join used own on own.tenant_id = s.tenant_id and own.secret = s.name
left join used everybodys on everybodys.tenant_id = 0 and everybodys.secret = s.name
where ($1::int is null or s.tenant_id = $1) and ($2::text is null or s.name = $2)
order by t.name, s.name
limit 10000;

-- name: secret_count
-- $1 tenant
select count(*) as secrets from secret where tenant_id = $1;

-- name: secret_get
-- What is needed to open them.
-- $1 tenant, $2 names
select s.name, s.version, s.sealed, s.key_version, k.master, k.wrapped
from secret s join tenant_key k on k.tenant_id = s.tenant_id and k.version = s.key_version
where s.tenant_id = $1 and s.name = any ($2::text[]);

-- name: secret_outdated
-- Those that an older key than the newest seals.
-- $1 tenant, $2 the newest key, $3 how many at most
select s.name, s.version, s.sealed, s.key_version, k.master, k.wrapped
from secret s join tenant_key k on k.tenant_id = s.tenant_id and k.version = s.key_version
where s.tenant_id = $1 and s.key_version < $2
order by s.name
limit $3;

-- name: secret_reseal
-- The same value under another key.
-- $1 tenant, $2 name, $3 version, $4 key version, $5 sealed
update secret set key_version = $4, sealed = $5 where tenant_id = $1 and name = $2 and version = $3 returning name;

-- name: secret_delete
-- $1 tenant, $2 name
delete from secret where tenant_id = $1 and name = $2 returning name;

-- name: secret_touch
-- $1 tenants, $2 names
update secret s set last_used_at = clock_timestamp()
from unnest($1::int[], $2::text[]) as used (tenant_id, name)
where s.tenant_id = used.tenant_id and s.name = used.name;
