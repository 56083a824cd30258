import asyncio
from itertools import chain
from pathlib import Path

import asyncpg
import pytest

from horae.model.errors import SetupError, StoreUnavailable, UnsafeStore
from horae.store import safety
from horae.store.migrate import check_server, known_migrations, migrate, pending, status
from horae.store.safety import Connection


@pytest.fixture
async def empty(database: str):
    """A connection to a database of which nothing is known yet."""
    connection = await asyncpg.connect(database)
    await connection.execute("drop schema horae cascade")
    yield connection
    await connection.close()


@pytest.fixture
def sql(tmp_path: Path) -> Path:
    (tmp_path / "0001_create_fruit.sql").write_text("create table fruit (name text);\ncreate table tree (name text);")
    (tmp_path / "0002_add_colour.sql").write_text("alter table fruit add colour text;")
    (tmp_path / "README.md").write_text("not a migration")
    return tmp_path


async def test_files_are_applied_in_order_and_once(empty: Connection, sql: Path):
    assert await migrate(empty, sql) == ["0001_create_fruit", "0002_add_colour"]
    assert await migrate(empty, sql) == []
    await empty.execute("insert into horae.fruit (name, colour) values ('quince', 'yellow')")


async def test_pending_and_status_tell_what_is_missing(empty: Connection, sql: Path):
    later = (sql / "0002_add_colour.sql").rename(sql / "later")
    await migrate(empty, sql)
    later.rename(sql / "0002_add_colour.sql")

    assert [migration.name for migration in await pending(empty, sql)] == ["0002_add_colour"]
    first, second = await status(empty, sql)
    assert first.applied_at is not None
    assert second.applied_at is None
    assert await migrate(empty, sql) == ["0002_add_colour"]


async def test_the_caller_s_session_is_left_as_it_was(empty: Connection, sql: Path):
    before = await empty.fetchrow("select current_setting('search_path'), current_setting('lock_timeout')")
    await migrate(empty, sql)
    assert await empty.fetchrow("select current_setting('search_path'), current_setting('lock_timeout')") == before
    assert await empty.fetchval("select count(*) from pg_locks where locktype = 'advisory'") == 0


async def test_servers_that_start_at_once_apply_each_file_once(empty: Connection, database: str, sql: Path):
    done = await asyncio.gather(*(migrate(database, sql) for _ in range(6)))
    assert sorted(chain(*done)) == ["0001_create_fruit", "0002_add_colour"]
    assert await empty.fetchval("select count(*) from horae.migration") == 2


async def test_an_index_is_built_concurrently_while_another_server_waits(empty: Connection, database: str, sql: Path):
    statement = "create index concurrently if not exists by_name on fruit (name);"
    (sql / "0003_index_fruit.sql").write_text(f"-- no transaction\n{statement}")
    done = await asyncio.gather(*(migrate(database, sql) for _ in range(4)))
    assert list(chain(*done)).count("0003_index_fruit") == 1
    assert await empty.fetchval("select indisvalid from pg_index where indexrelid = 'horae.by_name'::regclass")


async def test_a_file_that_fails_leaves_nothing_of_itself(empty: Connection, sql: Path):
    (sql / "0002_add_colour.sql").write_text("alter table fruit add colour text; select 1/0;")
    with pytest.raises(SetupError, match=r"0002_add_colour failed: division by zero"):
        await migrate(empty, sql)
    assert [entry.applied_at is None for entry in await status(empty, sql)] == [False, True]
    columns = "select column_name::text from information_schema.columns where table_name = 'fruit'"
    assert [row[0] for row in await empty.fetch(columns)] == ["name"]


async def test_a_locked_table_is_waited_for(empty: Connection, database: str, sql: Path, monkeypatch):
    monkeypatch.setattr("horae.store.migrate.LOCK_TIMEOUT", "50ms")
    (sql / "0002_add_colour.sql").rename(sql / "later")
    await migrate(empty, sql)
    (sql / "later").rename(sql / "0002_add_colour.sql")
    async with empty.transaction():
        await empty.execute("lock table horae.fruit in access share mode")
        migrating = asyncio.create_task(migrate(database, sql))
        # Longer than the lock timeout: the first attempt fails while the lock is held.
        await asyncio.wait([migrating], timeout=0.3)
        assert not migrating.done()
    assert await migrating == ["0002_add_colour"]


async def test_a_table_that_stays_locked_is_told(empty: Connection, database: str, sql: Path, monkeypatch):
    monkeypatch.setattr("horae.store.migrate.LOCK_TIMEOUT", "20ms")
    monkeypatch.setattr("horae.store.migrate.ATTEMPTS", 2)
    (sql / "0002_add_colour.sql").rename(sql / "later")
    await migrate(empty, sql)
    (sql / "later").rename(sql / "0002_add_colour.sql")
    async with empty.transaction():
        await empty.execute("lock table horae.fruit in access share mode")
        with pytest.raises(SetupError, match="could not lock"):
            await migrate(database, sql)


async def test_an_applied_file_that_was_changed_is_refused(empty: Connection, sql: Path):
    await migrate(empty, sql)
    (sql / "0001_create_fruit.sql").write_text("create table fruit (name text, weight int);")
    with pytest.raises(SetupError, match="0001_create_fruit is not what was applied"):
        await migrate(empty, sql)


async def test_line_endings_do_not_change_a_file(empty: Connection, sql: Path):
    await migrate(empty, sql)
    file = sql / "0001_create_fruit.sql"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert await migrate(empty, sql) == []


async def test_a_database_of_a_newer_program_is_refused(empty: Connection, sql: Path):
    await migrate(empty, sql)
    (sql / "0002_add_colour.sql").unlink()
    with pytest.raises(SetupError, match="0002_add_colour, which this Horae does not know: upgrade horae"):
        await migrate(empty, sql)


async def test_a_role_that_may_not_create_the_schema_is_told_what_to_run(empty: Connection, sql: Path):
    role = f"guest_{await empty.fetchval('select current_database()')}"
    await empty.execute(f"create role {role}")
    try:
        await empty.execute(f"set role {role}")
        with pytest.raises(SetupError, match=rf'create schema horae authorization "{role}"'):
            await migrate(empty, sql)
    finally:
        await empty.execute("reset role")
        await empty.execute(f"drop role {role}")


async def test_a_role_that_owns_the_schema_needs_no_more(empty: Connection, sql: Path):
    role = f"guest_{await empty.fetchval('select current_database()')}"
    await empty.execute(f"create role {role}")
    await empty.execute(f"create schema horae authorization {role}")
    try:
        await empty.execute(f"set role {role}")
        assert len(await migrate(empty, sql)) == 2
    finally:
        await empty.execute("reset role")
        await empty.execute(f"drop owned by {role}")
        await empty.execute(f"drop role {role}")


async def test_a_role_that_may_not_look_is_told(empty: Connection, sql: Path):
    await migrate(empty, sql)
    role = f"guest_{await empty.fetchval('select current_database()')}"
    await empty.execute(f"create role {role}")
    try:
        await empty.execute(f"set role {role}")
        with pytest.raises(SetupError, match="connect as the role that owns the schema"):
            await migrate(empty, sql)
    finally:
        await empty.execute("reset role")
        await empty.execute(f"drop role {role}")


def test_a_gap_in_the_numbers_is_refused(sql: Path):
    (sql / "0004_add_size.sql").write_text("alter table fruit add size int;")
    with pytest.raises(SetupError, match="not numbered"):
        known_migrations(sql)


def test_every_sql_file_we_ship_is_a_migration():
    folder = Path(str(safety.__file__)).parent / "migrations"
    assert {f"{migration.name}.sql" for migration in known_migrations()} == {file.name for file in folder.glob("*.sql")}


async def test_the_test_database_has_all_of_them(conn: Connection):
    assert await pending(conn) == []


async def test_an_unreachable_database_is_told():
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        await migrate("postgresql://horae@127.0.0.1:1/horae")
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        await migrate("mysql://horae@127.0.0.1/horae")


async def test_a_server_that_would_lose_jobs_is_refused(conn: Connection):
    with pytest.raises(UnsafeStore, match="fsync = off"):
        await check_server(conn)
    await check_server(conn, allow_unsafe=True)


async def test_a_session_that_does_not_wait_for_the_disk_is_refused(durable_cluster):
    connection = await asyncpg.connect(durable_cluster.dsn)
    await check_server(connection)
    await connection.execute("set synchronous_commit = off")
    with pytest.raises(UnsafeStore, match="synchronous_commit = off"):
        await check_server(connection)
    await connection.close()


async def test_a_server_that_is_too_old_is_refused(conn: Connection, monkeypatch):
    monkeypatch.setattr(safety, "OLDEST_SERVER", 99)
    with pytest.raises(SetupError, match="Horae needs 99 or later"):
        await check_server(conn, allow_unsafe=True)
    with pytest.raises(SetupError, match="Horae needs 99 or later"):
        await migrate(conn)
