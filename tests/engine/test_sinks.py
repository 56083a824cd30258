"""Sinks: tabular results as Parquet or in a PostgreSQL table, once for each job."""

import asyncio
import io
import sys
from uuid import UUID, uuid4

import asyncpg
import pytest
from msgspec.structs import replace

from horae.engine.engine import Engine
from horae.engine.sinks import Sinks, parquet, parquet_key
from horae.model.addresses import read_networks
from horae.model.errors import InvalidInput, NotReady
from horae.model.kinds import Script, Sink
from horae.model.tabular import read_rows
from horae.model.task import TaskDefinition
from horae.store.files import LeaseFacts
from horae.store.sinks import append_rows, read_address

from .doorway import doorway
from .staging import engine_config, join, resting_engine, submit, take_one

ROWS = b'[{"id":1,"name":"Ada","at":"2026-11-16T10:00:00Z","tags":["x"]},{"id":2,"name":null,"score":1.5}]'
HELD = LeaseFacts(1, "default", "report")
HERE = read_networks(["127.0.0.0/8"])


class Given:
    """Secrets of one tenant."""

    def __init__(self, **secrets: str) -> None:
        self._secrets = secrets

    async def reveal(self, tenant_id: int, names: list[str]) -> dict[str, str]:
        assert tenant_id == 1
        return {name: self._secrets[name] for name in names}


def sinks_of(engine: Engine, **secrets: str) -> Sinks:
    return Sinks(engine.stores.objects, engine.tasks, Given(**secrets), HERE)


async def with_sink(engine: Engine, **sink: str) -> None:
    await engine.tasks.register(1, TaskDefinition(name="report", sink=Sink(**sink)))


@pytest.mark.parametrize("data", [b"[{}]", b"null", b"[]", b'"{\\"a\\":1}\\n\\n{\\"a\\":2}"', ROWS])
def test_lists_of_objects_and_lines_of_them_are_rows(data: bytes):
    assert isinstance(read_rows(data), list)


@pytest.mark.parametrize("data", [b"1", b"{}", b"[1]", b'[{"a":1},2]', b'"not json"', b'"[1]"', b"[", b"\xff"])
def test_what_is_no_table_is_refused(data: bytes):
    with pytest.raises(InvalidInput, match="list of objects"):
        read_rows(data)


def test_parquet_has_every_column_that_any_row_has():
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(io.BytesIO(parquet(read_rows(ROWS))))
    assert table.column_names == ["id", "name", "at", "tags", "score"]
    assert table.to_pylist()[1] == {"id": 2, "name": None, "at": None, "tags": None, "score": 1.5}


def test_values_without_a_common_type_are_refused_with_their_column():
    with pytest.raises(InvalidInput, match="column 'a'"):
        parquet([{"a": 1}, {"a": "x"}])


async def test_a_job_without_a_sink_costs_no_look_at_its_result(resting: Engine):
    await resting.tasks.register(1, TaskDefinition(name="report"))
    await sinks_of(resting).write(HELD, uuid4(), b"not even json")


async def test_rows_become_a_parquet_file_once_for_each_job(resting: Engine):
    await with_sink(resting, parquet="daily/reports")
    job_id, sinks, objects = uuid4(), sinks_of(resting), resting.stores.objects
    await sinks.write(HELD, job_id, ROWS)
    key = parquet_key("default", "daily/reports", job_id)
    assert key == f"tables/default/daily/reports/{job_id}.parquet"
    first = b"".join([piece async for piece in objects.read(key, 0, 10**6)])
    await sinks.write(HELD, job_id, b'[{"other": true}]')
    assert b"".join([piece async for piece in objects.read(key, 0, 10**6)]) == first


async def test_the_sink_is_written_before_the_upload_is_answered(resting: Engine):
    await with_sink(resting, parquet="p")
    session = await join(resting, "report")
    await with_sink(resting, parquet="p")
    job_id = await submit(resting, "report")
    grant = await take_one(resting, session)
    with pytest.raises(InvalidInput, match="list of objects"):
        await resting.output.save_result(session.worker_id, UUID(job_id), grant.attempt, b"1")


@pytest.fixture
async def target(conn, database: str):
    """A table of somebody else's, and its address."""
    await conn.execute("create schema sales")
    await conn.execute("create table sales.\"Order\" (id int primary key, name text, at timestamptz, tags jsonb, "
                       "score numeric, made timestamptz default now())")  # fmt: skip
    async with doorway(database) as address:
        yield address


async def test_rows_are_appended_with_the_types_of_the_table(conn, target: str):
    job_id = uuid4()
    assert await append_rows(target, "sales.Order", job_id, read_rows(ROWS), HERE)
    first, second = await conn.fetch('select * from sales."Order" order by id')
    assert (first["name"], first["at"].isoformat(), first["tags"]) == ("Ada", "2026-11-16T10:00:00+00:00", '["x"]')
    assert (float(second["score"]), second["name"], second["at"]) == (1.5, None, None)
    assert first["made"] is not None
    assert await conn.fetchval("select job_id from sales.horae_sunk") == job_id


async def test_a_second_attempt_finds_the_marker_and_writes_nothing(conn, target: str):
    job_id = uuid4()
    assert await append_rows(target, "sales.Order", job_id, [{"id": 1}], HERE)
    assert not await append_rows(target, "sales.Order", job_id, [{"id": 1}, {"id": 2}], HERE)
    assert await conn.fetchval('select count(*) from sales."Order"') == 1


async def test_attempts_at_the_same_moment_write_once(conn, target: str):
    job_id = uuid4()
    wrote = await asyncio.gather(*(append_rows(target, "sales.Order", job_id, [{"id": n}], HERE) for n in range(4)))
    assert sorted(wrote) == [False, False, False, True]
    assert await conn.fetchval('select count(*) from sales."Order"') == 1


async def test_rows_that_the_table_refuses_leave_no_marker(conn, target: str):
    job_id = uuid4()
    for rows in ([{"id": 1}, {"id": 1}], [{"id": "x"}], [{"nothing": 1}], [{"id": 10**12}]):
        with pytest.raises(InvalidInput, match="sink: table"):
            await append_rows(target, "sales.Order", job_id, rows, HERE)
    assert await append_rows(target, "sales.Order", job_id, [{"id": 1}], HERE)


async def test_a_name_of_a_column_cannot_leave_its_quotes(conn, target: str):
    with pytest.raises(InvalidInput, match="no column"):
        await append_rows(target, "sales.Order", uuid4(), [{'id") select 1; drop table sales."Order"; --': 1}], HERE)
    assert await conn.fetchval('select count(*) from sales."Order"') == 0


@pytest.mark.parametrize("table", ["missing", "sales.missing"])
async def test_a_table_that_is_not_there_is_refused(target: str, table: str):
    with pytest.raises(InvalidInput, match="sink: table"):
        await append_rows(target, table, uuid4(), [{"id": 1}], HERE)


async def test_a_database_that_is_away_is_tried_again_and_a_wrong_one_is_not(target: str):
    with pytest.raises(NotReady):
        await append_rows("postgresql://u:p@127.0.0.1:1/db", "t", uuid4(), [], HERE)
    with pytest.raises(InvalidInput):
        await append_rows(target.replace("/test_", "/no_such_"), "t", uuid4(), [], HERE)


@pytest.mark.parametrize(
    "address",
    ["", "host=/run user=x", "http://h/db", "mysql://u@h/db", "postgresql:///db", "postgresql://h/db",
     "postgresql://u@%2Frun%2Fpostgresql/db", "postgresql://u@h/db?host=/tmp", "postgresql://u@h/db?passfile=/etc/x",
     "postgresql://u@h/db?sslmode=odd", "postgresql://u@h:x/db", "postgresql://u@h/db?sslkey=/root/key"],
)  # fmt: skip
def test_an_address_that_is_not_plainly_a_host_of_postgresql_is_refused(address: str):
    with pytest.raises(InvalidInput, match="sink:"):
        read_address(address)


def test_an_address_says_all_so_that_nothing_of_the_server_s_own_is_given_away(monkeypatch):
    monkeypatch.setenv("PGPASSWORD", "the server's own")
    where = read_address("postgresql://u%40x@h/d?sslmode=require")
    assert (where["user"], where["password"], where["database"]) == ("u@x", "", "d")
    assert (where["port"], where["ssl"], where["passfile"]) == (5432, "require", "/dev/null")


async def test_the_sink_of_a_table_gets_its_address_from_the_tenant_s_secret(resting: Engine, conn, target: str):
    await with_sink(resting, table="sales.Order", dsn_secret="SALES")
    await sinks_of(resting, SALES=target + "\n").write(HELD, uuid4(), b'[{"id": 7}]')
    assert await conn.fetchval('select id from sales."Order"') == 7


async def test_a_sink_without_its_secret_is_refused(resting: Engine):
    await with_sink(resting, table="t", dsn_secret="MISSING")
    sinks = Sinks(resting.stores.objects, resting.tasks, resting.secrets, HERE)
    with pytest.raises(InvalidInput, match="MISSING"):
        await sinks.write(HELD, uuid4(), b"[]")


async def test_the_user_who_may_not_make_the_marker_is_told_how_to(conn, database: str, target: str):
    await conn.execute("create role clerk login password 'x'")
    try:
        await conn.execute('grant usage on schema sales to clerk; grant insert on sales."Order" to clerk')
        async with doorway(database, "clerk") as address:
            with pytest.raises(InvalidInput, match="create table"):
                await append_rows(address, "sales.Order", uuid4(), [{"id": 1}], HERE)
    finally:
        await conn.execute("drop owned by clerk; drop role clerk")


def test_the_errors_that_are_refusals_are_errors_of_postgresql():
    assert issubclass(asyncpg.UndefinedTableError, asyncpg.SyntaxOrAccessError)


def test_without_pyarrow_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InvalidInput, match=r"horae\[sinks\]"):
        parquet([{"a": 1}])


async def test_what_will_be_no_better_the_next_time_is_refused_and_not_tried_again(conn, target: str):
    await conn.execute('create index on sales."Order" (name)')
    await conn.execute(
        "create function sales.refuse() returns trigger language plpgsql as $$ begin assert new.id < 9; return new; "
        'end $$; create trigger refuse before insert on sales."Order" for each row execute function sales.refuse()'
    )
    for row in ({"id": 1, "name": "".join(uuid4().hex for _ in range(500))}, {"id": 9}):
        with pytest.raises(InvalidInput, match="refused the rows"):
            await append_rows(target, "sales.Order", uuid4(), [row], HERE)


async def test_a_host_that_cannot_be_one_is_refused():
    with pytest.raises(InvalidInput, match="host"):
        await append_rows(f"postgresql://u:p@{'x' * 64}.example/db", "t", uuid4(), [], HERE)


def test_no_tenant_s_prefix_leads_among_the_files_of_another():
    job_id = uuid4()
    assert parquet_key("a", "b/c", job_id) != parquet_key("a/b", "c", job_id)


async def test_a_task_that_was_shared_with_secrets_writes_its_sink_with_the_owner_s(resting: Engine, conn, target: str):
    guest = (await resting.access.create_tenant(None, "guest")).id
    script = Script(source="echo", interpreter="sh")
    sink = Sink(table="sales.Order", dsn_secret="SALES")
    await resting.tasks.register(1, TaskDefinition(name="report", script=script, sink=sink))
    await resting.task_sharing.share(1, "report", ["guest"], "ann", with_secrets=True)
    held = LeaseFacts(guest, "guest", "report")
    await sinks_of(resting, SALES=target).write(held, uuid4(), b'[{"id": 7}]')
    assert await conn.fetchval('select id from sales."Order"') == 7


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "169.254.169.254", "10.1.2.3"]
)
async def test_a_sink_reaches_no_network_that_the_operator_has_not_allowed(host):
    with pytest.raises(InvalidInput, match="HORAE_ALLOW_NETWORKS"):
        await append_rows(f"postgresql://u:p@{host}:1/db", "t", uuid4(), [])


async def test_a_name_is_judged_by_the_very_address_that_is_connected_to(target: str, monkeypatch):
    """The first answer of the name server is public, the second is not: there is no second question."""
    loop = asyncio.get_running_loop()
    asked = []

    async def getaddrinfo(host, port, **more):
        asked.append(host)
        return [(2, 1, 6, "", ("203.0.114.1" if len(asked) == 1 else "127.0.0.1", port))]

    async def create_connection(factory, host, port, **more):
        raise ConnectionRefusedError(f"{host} was called")

    monkeypatch.setattr(loop, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr(loop, "create_connection", create_connection)
    with pytest.raises(NotReady, match=r"203\.0\.114\.1 was called"):
        await append_rows("postgresql://u:p@rebinding.example/db?sslmode=require", "t", uuid4(), [])
    assert asked == ["rebinding.example"]


async def test_a_server_allows_sinks_the_networks_of_its_settings(database: str, tmp_path, target: str, conn):
    config = replace(engine_config(database, tmp_path), allow_networks=["127.0.0.1"])
    async with resting_engine(config) as engine:
        await with_sink(engine, table="sales.Order", dsn_secret="SALES")
        engine.sinks._secrets = Given(SALES=target)
        await engine.sinks.write(HELD, uuid4(), b'[{"id": 7}]')
    assert await conn.fetchval('select id from sales."Order"') == 7
