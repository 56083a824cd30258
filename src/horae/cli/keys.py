"""`horae key` and `horae whoami`: who may do what."""

import asyncio
import os
from datetime import UTC, datetime

import msgspec
from cyclopts import App

from horae.cli.access import HERE, Access
from horae.cli.journal import open_journal
from horae.cli.screen import console, facts, note, print_json, print_lines, table
from horae.cli.text import relative
from horae.model.roles import Role
from horae.wire.access import Key, KeyCreate, KeyCreated

app = App(name="key", help="Create, list and revoke API keys.")


@app.command
def create(
    name: str,
    /,
    *,
    role: Role,
    tenant: str | None = None,
    expires_in: str = "365d",
    database: str | None = None,
    access: Access = HERE,
) -> None:
    """Create a key. Its secret is printed this once, alone on stdout; only a hash of it is stored.

    Parameters
    ----------
    name
        What the key is for.
    role
        What it may do.
    tenant
        The tenant it belongs to. Default: the caller's, or all tenants if that has none.
    expires_in
        How long it is good for, e.g. 90d (365d); "never" for a key that does not expire.
    database
        Write it into this database (postgresql://…) instead of asking a server, which wants a key itself:
        so a new installation gets its first one.
    """
    lifetime = None if expires_in == "never" else expires_in
    wanted = KeyCreate(name=name, role=role, tenant=tenant, expires_in=lifetime)
    if database is not None:
        open_journal(os.environ.get("HORAE_LOG") or "warning", "key")
        made = asyncio.run(_create_in(database, wanted))
    else:
        with access.client() as client:
            made = client.create_key(wanted)
    if access.json:
        print_json(made)
        return
    print(made.secret)
    note(f"key {made.key.id} ({made.key.name}, {made.key.role.value}): keep it now, it is not shown again")


async def _create_in(dsn: str, wanted: KeyCreate) -> KeyCreated:
    from horae.engine.access import Access as Keys
    from horae.store.checkup import connected
    from horae.store.control import Control
    from horae.store.database import Database, DatabaseConfig

    async with connected(dsn):
        pass  # A pool would try for long; this says at once what is wrong.
    database = Database(DatabaseConfig.small(dsn))
    await database.open()
    try:
        keys = Keys(Control(database))
        key, secret = await keys.create_key(None, wanted.name, wanted.role, wanted.tenant, wanted.expires_in)
    finally:
        await database.close()
    return KeyCreated(key=msgspec.convert(key, Key, from_attributes=True), secret=secret)


@app.command(name="list")
def list_keys(*, access: Access = HERE) -> None:
    """List the keys, without their secrets."""
    with access.client() as client:
        found = client.keys().items
    if access.json:
        print_lines(found)
        return
    now = datetime.now(UTC)
    columns = ("id", "name", "role", "tenant", "begins", "state", "made", "used")
    console().print(table(columns, (_row(key, now) for key in found)))


def _row(key: Key, now: datetime) -> tuple[str, ...]:
    return (
        str(key.id), key.name, key.role.value, key.tenant or "all", key.prefix, _state(key, now),
        relative(key.created_at, now), relative(key.last_used_at, now),
    )  # fmt: skip


def _state(key: Key, now: datetime) -> str:
    if key.revoked_at is not None:
        return f"revoked {relative(key.revoked_at, now)}"
    if key.expires_at is None:
        return "valid"
    return f"{'expires' if key.expires_at > now else 'expired'} {relative(key.expires_at, now)}"


@app.command
def revoke(key_id: int, /, *, access: Access = HERE) -> None:
    """Revoke a key, now and for good.

    Parameters
    ----------
    key_id
        The key's id, as `horae key list` shows it.
    """
    with access.client() as client:
        key = client.revoke_key(key_id)
    if access.json:
        print_json(key)
    else:
        print(key.id, "revoked")


def whoami(*, access: Access = HERE) -> None:
    """Show whose key is in use, and on which server."""
    with access.client() as client:
        me = client.whoami()
        url = client.connection.url
    if access.json:
        print_json(me)
        return
    rows = [("name", me.name), ("role", me.role.value), ("tenant", me.tenant or "all"), ("server", url)]
    console().print(facts(rows))
