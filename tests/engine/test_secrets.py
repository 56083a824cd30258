"""Secrets at rest: sealed, bound to their place, readable only with the keys, whatever stops a rotation."""

import asyncio
import base64
import os
import signal
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

import horae
from horae.engine.keyrotation import KeyRotation
from horae.engine.masterkeys import MasterKeys, new_key, open_sealed, read_keys, seal
from horae.engine.secrets import Secrets
from horae.engine.vault import Vault
from horae.model.errors import Forbidden, InvalidInput, NotFound, SecretInUse, SecretsLocked, SetupError
from horae.model.kinds import HttpCall, Script, SecretUse, Sink
from horae.model.task import TaskDefinition, secrets_of
from horae.store.secrets import MAX_USERS
from horae.testing.waiting import wait_for

from .staging import ROOT

VALUE = "s3cr3t-välue"


class Keeping:
    """Secrets of tenants on one database, under changing master keys."""

    def __init__(self, engine, *keys):
        vault = Vault(MasterKeys(keys))
        self.secrets = Secrets(engine.stores.secrets, vault)
        self.rotation = KeyRotation(engine.stores.secrets, vault)

    async def set(self, name="TOKEN", value=VALUE, tenant_id=1):
        return await self.secrets.set(ROOT, tenant_id, name, value)

    async def reveal(self, name="TOKEN", tenant_id=1):
        return (await self.secrets.reveal(tenant_id, [name]))[name]


async def _tenants(engine, count):
    """The numbers of so many tenants, the default one first."""
    return [1, *[(await engine.access.create_tenant(None, f"t{number}")).id for number in range(1, count)]]


async def test_a_secret_comes_back_as_it_was_set_and_a_new_value_is_a_new_version(resting):
    keeping = Keeping(resting, new_key())
    assert (await keeping.set()).version == 1
    assert await keeping.reveal() == VALUE
    view = await keeping.set(value="another value")
    assert (view.version, view.size, view.created_by) == (2, 13, "root")
    assert await keeping.reveal() == "another value"


async def test_nothing_in_the_database_holds_the_value_or_a_key(resting, conn):
    key = new_key()
    await Keeping(resting, key).set()
    (row,) = await conn.fetch("select s.*, k.* from secret s join tenant_key k using (tenant_id)")
    stored = repr(tuple(row)).encode() + row["sealed"] + row["wrapped"]
    assert VALUE.encode() not in stored
    assert key not in stored
    assert VALUE not in repr(await Keeping(resting, key).secrets.list_all(None))


async def test_a_sealed_value_cannot_be_moved_to_another_name_or_tenant(resting, conn):
    keeping = Keeping(resting, new_key())
    await keeping.set("A")
    await keeping.set("B", "the other one")
    await conn.execute("update secret set sealed = (select sealed from secret where name = 'A') where name = 'B'")
    with pytest.raises(SecretsLocked, match="secret 1 B 1 was damaged or moved"):
        await keeping.reveal("B")
    await conn.execute("update tenant_key set tenant_id = 2")
    await conn.execute("update secret set tenant_id = 2")
    with pytest.raises(SecretsLocked, match="tenant key 2 1"):
        await keeping.reveal("A", tenant_id=2)


async def test_a_missing_secret_is_named_in_the_error(resting):
    keeping = Keeping(resting, new_key())
    await keeping.set()
    with pytest.raises(NotFound, match="no secret OTHER, THIRD; make it with `horae secret set OTHER`"):
        await keeping.secrets.reveal(1, ["TOKEN", "OTHER", "THIRD"])


async def test_without_a_key_or_with_a_wrong_one_it_is_said_what_to_set(resting):
    await Keeping(resting, new_key()).set()
    with pytest.raises(SecretsLocked, match="HORAE_SECRETS_KEY"):
        await Keeping(resting).reveal()
    with pytest.raises(SecretsLocked, match="HORAE_SECRETS_KEY"):
        await Keeping(resting).set("NEW")
    with pytest.raises(SecretsLocked, match=r"need the master key [0-9a-f]{12}; this server has [0-9a-f]{12}"):
        await Keeping(resting, new_key()).reveal()
    with pytest.raises(SecretsLocked):
        await Keeping(resting, new_key()).set("NEW")


@pytest.mark.parametrize(
    ("value", "why"),
    [("abc", "at least 4"), ("  a  ", "at least 4"), ("x" * 65_537, "65,537 bytes"), ("a\0bcd", "zero byte"),
     ("abcd\ud800", "Unicode")],
)  # fmt: skip
async def test_values_that_cannot_be_masked_or_passed_on_are_refused_without_being_shown(resting, value, why):
    with pytest.raises(InvalidInput, match=why) as refused:
        await Keeping(resting, new_key()).set(value=value)
    assert value not in str(refused.value)


async def test_a_secret_that_tasks_use_is_deleted_only_by_force(resting):
    keeping = Keeping(resting, new_key())
    await keeping.set()
    await resting.tasks.register(1, TaskDefinition(name="mail", secrets=[SecretUse(name="TOKEN")]))
    assert (await keeping.secrets.get(1, "TOKEN")).used_by == ["mail"]
    with pytest.raises(SecretInUse, match="used by mail"):
        await keeping.secrets.delete(ROOT, 1, "TOKEN")
    await keeping.secrets.delete(ROOT, 1, "TOKEN", force=True)
    with pytest.raises(NotFound):
        await keeping.reveal()


USERS = [
    TaskDefinition(name="a", secrets=[SecretUse(name="TOKEN"), SecretUse(name="OTHER", env="X")]),
    TaskDefinition(name="b", script=Script(source="echo '${{ secrets.NO }}'", interpreter="sh"),
                   env={"A": "${{secrets.TOKEN}} $${{ secrets.NO }} ${{ params.x }}"}),
    TaskDefinition(name="c", http=HttpCall(url="https://x.org/", body={"k": "${{ secrets.TOKEN }}"}, sign_with="SIGN")),
    TaskDefinition(name="d", sink=Sink(table="t", dsn_secret="TOKEN")),
    TaskDefinition(name="e", queue="TOKEN"),
]  # fmt: skip


async def test_a_list_says_which_tasks_use_a_secret_wherever_they_name_it(resting):
    keeping = Keeping(resting, new_key())
    for name in ("NO", "SIGN", "TOKEN"):
        await keeping.set(name)
    for task in USERS:
        await resting.tasks.register(1, task)
    await resting.tasks.register(0, TaskDefinition(name="all", secrets=[SecretUse(name="SIGN")]))
    listed = {view.name: view.used_by for view in await keeping.secrets.list_all(1)}
    assert listed == {"NO": [], "SIGN": ["all", "c"], "TOKEN": ["a", "b", "c", "d"]}
    assert {view.name: view.used_by for view in await keeping.secrets.list_all(None)} == listed


async def test_the_migration_finds_the_secrets_of_tasks_as_the_model_does(resting, conn):
    for task in USERS:
        await resting.tasks.register(1, task)
    (migration,) = (Path(horae.__file__).parent / "store/migrations").glob("*_name_secrets_of_tasks.sql")
    await conn.execute("alter table task drop column secrets")
    await conn.execute(migration.read_text())
    found = dict(await conn.fetch("select name, secrets from task"))
    assert found == {task.name: secrets_of(task) for task in USERS}


async def test_of_very_many_tasks_that_use_a_secret_the_first_are_named(resting, conn):
    keeping = Keeping(resting, new_key())
    await keeping.set()
    await conn.execute(
        "insert into task (tenant_id, name, placement, secrets) select 1, 'task' || n, '', '{TOKEN}' "
        "from generate_series(1000, 1999) n"
    )
    used_by = (await keeping.secrets.get(1, "TOKEN")).used_by
    assert used_by == [f"task{number}" for number in range(1000, 1000 + MAX_USERS)]


async def test_use_is_written_down_by_the_duty_and_not_by_the_use(resting, conn):
    keeping = Keeping(resting, new_key())
    await keeping.set()
    await keeping.reveal()
    assert await conn.fetchval("select last_used_at from secret") is None
    assert await keeping.secrets.note_use() == 1
    assert await conn.fetchval("select last_used_at from secret") is not None
    assert await keeping.secrets.note_use() == 0


async def test_many_may_set_secrets_at_once(resting):
    keeping = Keeping(resting, new_key())
    same = [keeping.set("SAME", f"value {number}") for number in range(8)]
    await asyncio.gather(*same, *(keeping.set(f"N{number}") for number in range(8)))
    assert (await keeping.secrets.get(1, "SAME")).version == 8
    assert (await keeping.reveal("SAME")).startswith("value ")
    assert await keeping.reveal("N7") == VALUE


# New keys.


async def test_a_new_master_key_rewraps_the_tenants_keys_and_the_old_one_can_go(resting):
    old, new = new_key(), new_key()
    tenants = await _tenants(resting, 3)
    for tenant_id in tenants:
        await Keeping(resting, old).set(tenant_id=tenant_id)
    assert await Keeping(resting, new, old).rotation.master(ROOT) == 3
    for tenant_id in tenants:
        assert await Keeping(resting, new).reveal(tenant_id=tenant_id) == VALUE
    with pytest.raises(SecretsLocked):
        await Keeping(resting, old).reveal()
    assert await Keeping(resting, new).rotation.master(ROOT) == 0


async def test_a_new_tenant_key_seals_all_of_its_secrets_anew_and_the_old_key_goes(resting, conn):
    keeping, (one, other) = Keeping(resting, new_key()), await _tenants(resting, 2)
    for number in range(205):
        await keeping.set(f"N{number}", f"value {number}")
    await keeping.set("OF_ANOTHER", tenant_id=other)
    before = {row["sealed"] for row in await conn.fetch("select sealed from secret where tenant_id = 1")}
    assert await keeping.rotation.tenant(ROOT, 1) == 205
    after = {row["sealed"] for row in await conn.fetch("select sealed from secret where tenant_id = 1")}
    assert before.isdisjoint(after)
    assert await keeping.secrets.reveal(1, ["N0", "N204"]) == {"N0": "value 0", "N204": "value 204"}
    keys = await conn.fetch("select tenant_id, version from tenant_key order by 1, 2")
    assert [tuple(row) for row in keys] == [(one, 2), (other, 1)]


async def test_secrets_set_while_a_tenant_key_is_rotated_stay_readable(resting):
    keeping = Keeping(resting, new_key())
    for number in range(20):
        await keeping.set(f"N{number}")
    sets = [keeping.set(f"N{number}", f"new {number}") for number in range(20)]
    await asyncio.gather(*(keeping.rotation.tenant(ROOT, 1) for _ in range(2)), *sets)
    names = [f"N{number}" for number in range(20)]
    assert await keeping.secrets.reveal(1, names) == {name: f"new {name[1:]}" for name in names}


async def test_the_master_key_is_not_a_tenants_to_rotate(resting):
    with pytest.raises(Forbidden):
        await Keeping(resting, new_key()).rotation.master(replace(ROOT, tenant_id=1))


ROTATE = """
import asyncio, sys
from horae.engine.access import Caller
from horae.engine.keyrotation import KeyRotation
from horae.engine.masterkeys import read_keys
from horae.engine.vault import Vault
from horae.model.roles import GRANTS, Role
from horae.store.database import Database, DatabaseConfig
from horae.store.secrets import SecretRows

async def main(dsn, keys, what):
    database = Database(DatabaseConfig.small(dsn))
    await database.open()
    rotation = KeyRotation(SecretRows(database), Vault(read_keys(keys, "test")))
    root = Caller(0, "root", Role.ADMIN, None, None, GRANTS[Role.ADMIN])
    await (rotation.master(root) if what == "master" else rotation.tenant(root, 1))

asyncio.run(main(*sys.argv[1:]))
"""


async def _stuck(conn):
    # Of activity a transaction sees only what it saw first, unless it is told to look again.
    await conn.fetchval("select pg_stat_clear_snapshot()")
    activity = "select exists (select from pg_stat_activity where wait_event_type = 'Lock' and datname = $1)"
    return await conn.fetchval(activity, await conn.fetchval("select current_database()"))


async def _killed_rotation(dsn, conn, keys, what, stuck):
    """Rotates in a process of its own, which is killed while it waits for the row that `stuck` locks."""
    text = ",".join(base64.b64encode(key).decode() for key in keys)
    async with conn.transaction():
        await conn.execute(stuck)
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", ROTATE, dsn, text, what)
        await wait_for(lambda: _stuck(conn), 60, what="the rotation to get stuck")
        process.send_signal(signal.SIGKILL)
        await process.wait()


async def test_a_master_rotation_that_is_killed_leaves_all_readable_and_can_be_run_again(resting, conn, database):
    old, new = new_key(), new_key()
    tenants = await _tenants(resting, 5)
    for tenant_id in tenants:
        await Keeping(resting, old).set(tenant_id=tenant_id)
    stuck = f"select from tenant_key where tenant_id = {tenants[2]} for update"
    await _killed_rotation(database, conn, [new, old], "master", stuck)
    done = await conn.fetchval("select count(*) from tenant_key where master = $1", MasterKeys([new]).current)
    assert done in (2, 3)  # PostgreSQL may finish the statement of a client that has died.
    keeping = Keeping(resting, new, old)
    for tenant_id in tenants:
        assert await keeping.reveal(tenant_id=tenant_id) == VALUE
    assert await keeping.rotation.master(ROOT) == 5 - done
    assert await Keeping(resting, new).reveal(tenant_id=tenants[4]) == VALUE


async def test_a_tenant_rotation_that_is_killed_leaves_all_readable_and_can_be_run_again(resting, conn, database):
    key = new_key()
    keeping = Keeping(resting, key)
    for number in range(150):
        await keeping.set(f"N{number:03}", f"value {number}")
    stuck = "select from secret where name = 'N120' for update"
    await _killed_rotation(database, conn, [key], "tenant", stuck)
    assert await conn.fetchval("select count(*) from secret where key_version = 2") == 100
    for number in (0, 120, 149):
        assert await keeping.reveal(f"N{number:03}") == f"value {number}"
    assert await keeping.rotation.tenant(ROOT, 1) == 50
    assert [row["version"] for row in await conn.fetch("select version from tenant_key")] == [2]
    assert await keeping.reveal("N120") == "value 120"


# The keys themselves.


def test_keys_are_read_from_lines_or_commas_and_show_only_fingerprints():
    keys = [os.urandom(32) for _ in range(2)]
    texts = [base64.b64encode(key).decode() for key in keys]
    for text in ("\n".join(texts) + "\n", ",".join(texts)):
        read = read_keys(text, "here")
        assert read.current == MasterKeys(keys).current
        assert all(part not in repr(read) for part in texts)


@pytest.mark.parametrize("text", ["", "\n", "nonsense!", base64.b64encode(b"short").decode()])
def test_a_bad_key_is_refused_without_being_shown(text):
    with pytest.raises(SetupError, match="new-key") as refused:
        read_keys(text, "the file")
    assert not text.strip() or text not in str(refused.value)


def test_a_changed_byte_is_noticed():
    key = new_key()
    sealed = bytearray(seal(key, b"value", "x", 1))
    assert open_sealed(key, bytes(sealed), "x", 1) == b"value"
    sealed[-1] ^= 1
    with pytest.raises(SecretsLocked):
        open_sealed(key, bytes(sealed), "x", 1)
