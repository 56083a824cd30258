-- Who is signed in to the console.

-- name: session_open
-- Signs a key in. Forgets sessions that are over, and the oldest of this key beyond a number. No row: the key is not good.
-- $1 hash, $2 key, $3 seconds, $4 sessions of the key at most, beside this one
with over as (
    delete from console_session where expires_at < clock_timestamp()
), crowded as (
    delete from console_session where hash in (
        select hash from console_session where key_id = $2 order by expires_at desc offset $4)
)
insert into console_session (hash, key_id, expires_at)
select $1, id, least(clock_timestamp() + $3 * interval '1 second', expires_at) from api_key
where id = $2 and revoked_at is null and (expires_at is null or expires_at > clock_timestamp())
returning expires_at;

-- name: session_find
-- The key behind a session, if both are good now.
-- $1 hash
select k.id, k.tenant_id, k.name, k.role, t.name as tenant, s.expires_at, clock_timestamp() as now
from console_session s
join api_key k on k.id = s.key_id
left join tenant t on t.id = k.tenant_id
where s.hash = $1 and s.expires_at > clock_timestamp() and k.revoked_at is null
  and (k.expires_at is null or k.expires_at > clock_timestamp());

-- name: session_close
-- $1 hash
delete from console_session where hash = $1;

-- name: ticket_make
-- Forgets those that are over. No row: the key is not good.
-- $1 hash, $2 key, $3 seconds
with over as (
    delete from console_ticket where expires_at < clock_timestamp()
)
insert into console_ticket (hash, key_id, expires_at)
select $1, id, clock_timestamp() + $3 * interval '1 second' from api_key
where id = $2 and revoked_at is null and (expires_at is null or expires_at > clock_timestamp())
returning expires_at;

-- name: ticket_use
-- The key that a ticket stands for. Of several that come at once, one deletes it.
-- $1 hash
with used as (
    delete from console_ticket where hash = $1 returning key_id, expires_at
)
select key_id from used where expires_at > clock_timestamp();
