"""Days come and go: partitions ahead, retention behind, and the jobs that outlive their day."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import asyncpg
import pytest

from horae.engine.engine import Engine
from horae.engine.rows import state_of
from horae.model.errors import NotReady, StoreUnavailable, WrongState
from horae.model.ids import JobIds
from horae.model.job import JobRequest
from horae.model.states import End, State
from horae.store.database import Transaction
from horae.store.upkeep import BRIEFLY
from horae.testing.waiting import wait_for

from .staging import ROOT, done, duty, engine_config, join, resting_engine, submit

OLD = datetime.now(UTC).replace(hour=12) - timedelta(days=40)
TABLES = ("job", "outcome", "attempt", "log_chunk", "execution")


async def days(conn, table: str = "job") -> set[str]:
    rows = await conn.fetch(
        "select c.relname from pg_inherits i join pg_class c on c.oid = inhrelid where inhparent = $1::text::regclass",
        table,
    )
    return {row["relname"].removeprefix(f"{table}_") for row in rows}


@pytest.fixture
async def old_day(resting: Engine, conn) -> Engine:
    """An engine that has run for long: there is a day far behind."""
    await conn.execute("select partition_create($1)", OLD.date())
    return resting


async def old_job(engine: Engine, **request) -> str:
    """A job made on the old day."""
    job = await engine.submit.prepare(ROOT, JobRequest(task="work", **request))
    made = JobIds().make((OLD + timedelta(seconds=old_job.count)).timestamp())
    old_job.count += 1
    await engine.submit.store(job._replace(id=made))
    return made


old_job.count = 1


async def state(engine: Engine, job_id: str) -> State:
    return state_of(await engine.steer.get(ROOT, UUID(job_id)))


async def test_days_are_made_ahead(resting: Engine, conn):
    today = datetime.now(UTC).date()
    await duty(resting, "partitions").make_ahead(today + timedelta(days=10))
    wanted = {(today + timedelta(days=10 + n)).strftime("%Y%m%d") for n in range(4)}
    for table in TABLES:
        assert wanted <= await days(conn, table)


async def test_two_servers_that_make_days_at_once_do_not_harm_each_other(start_engine, conn):
    first, second = await start_engine(), await start_engine()
    later = datetime.now(UTC).date() + timedelta(days=20)
    await asyncio.gather(
        *(duty(engine, "partitions").make_ahead(later) for engine in (first, second)), return_exceptions=True
    )
    await duty(first, "partitions").make_ahead(later)
    assert later.strftime("%Y%m%d") in await days(conn, "log_chunk")


async def test_jobs_stored_before_their_day_was_made_move_into_it(resting: Engine, conn):
    """No server ran for days, and a user's transaction submitted meanwhile."""
    worker = await join(resting)
    for table in TABLES:
        for day in await days(conn, table) - {"default"}:
            await conn.execute(f"drop table {table}_{day}")
    job_id = str(await conn.fetchval("select horae.submit('work')"))
    assert await conn.fetchval("select count(*) from job_default") == 1
    await duty(resting, "partitions").run_once()
    assert await conn.fetchval("select count(*) from job_default") == 0
    await duty(resting, "scout").run_once()
    grants = await wait_for(lambda: resting.dispatch.take(worker, 1, 1))
    assert [grant.id for grant in grants] == [job_id]


async def test_an_old_day_is_dropped_with_what_ended_in_it(old_day: Engine, conn):
    worker = await join(old_day)
    ended = await old_job(old_day)
    grants = await old_day.dispatch.take(worker, 1, 1)
    await old_day.complete.attempts(worker.worker_id, [done(grant) for grant in grants])
    assert (await duty(old_day, "partitions").run_once())["dropped"] == 1
    for table in TABLES:
        assert OLD.strftime("%Y%m%d") not in await days(conn, table)
        assert await conn.fetchval(f"select count(*) from {table} where id = $1::uuid", ended) == 0
    left = "select count(*) from pg_class where relname ~ $1 and relkind = 'r'"
    assert await conn.fetchval(left, OLD.strftime("%Y%m%d")) == 0


async def test_what_has_not_ended_outlives_its_day_and_goes_on(old_day: Engine, conn):
    worker = await join(old_day)
    running, failing = await old_job(old_day, priority=9), await old_job(old_day, priority=9)
    held = {grant.id: grant for grant in await old_day.dispatch.take(worker, 1, 2)}
    assert held.keys() == {running, failing}
    await old_day.output.save_checkpoint(worker.worker_id, held[failing].lane, failing, 1, b'"saved"')
    await old_day.complete.attempts(worker.worker_id, [done(held[failing], End.ERROR, retry_after=3600)])
    ready, scheduled = await old_job(old_day), await old_job(old_day, delay=7200)
    await duty(old_day, "partitions").run_once()
    states = [await state(old_day, job_id) for job_id in (running, failing, ready, scheduled)]
    assert states == [State.RUNNING, State.SCHEDULED, State.READY, State.SCHEDULED]

    assert await old_day.complete.attempts(worker.worker_id, [done(held[running])]) == []
    assert await state(old_day, running) is State.SUCCEEDED
    await conn.execute("update timer set run_at = clock_timestamp() - interval '1 second'")
    await old_day.timers.run_once()
    grants = {grant.id: grant for grant in await old_day.dispatch.take(worker, 2, 10)}
    assert grants.keys() == {failing, ready, scheduled}
    assert (grants[failing].attempt, bytes(grants[failing].checkpoint)) == (2, b'"saved"')
    assert await old_day.complete.attempts(worker.worker_id, [done(grant) for grant in grants.values()]) == []
    row = await old_day.steer.get(ROOT, UUID(failing))
    assert [e["ending"] for e in await old_day.steer.executions(row)] == ["error", "succeeded"]


async def test_what_outlived_its_day_is_forgotten_once_it_has_ended_long_ago(old_day: Engine, conn):
    worker = await join(old_day)
    job_id = await old_job(old_day, delay=3600)
    await duty(old_day, "partitions").run_once()
    await conn.execute("update timer set run_at = clock_timestamp() - interval '1 second'")
    await old_day.timers.run_once()
    (grant,) = await old_day.dispatch.take(worker, 1, 1)
    await old_day.complete.attempts(worker.worker_id, [done(grant)])
    await duty(old_day, "partitions").run_once()
    assert await state(old_day, job_id) is State.SUCCEEDED
    await conn.execute("update outcome set finished_at = finished_at - interval '31 days'")
    await duty(old_day, "partitions").run_once()
    for table in (*TABLES, "ready", "timer", "lease"):
        assert await conn.fetchval(f"select count(*) from {table}") == 0, table


async def test_large_results_go_with_their_day(old_day: Engine, conn, tmp_path):
    worker = await join(old_day)
    job_id = await old_job(old_day)
    (grant,) = await old_day.dispatch.take(worker, 1, 1)
    await old_day.output.save_result(worker.worker_id, UUID(job_id), 1, b'"large"')
    await old_day.complete.attempts(worker.worker_id, [done(grant, blob=7)])
    assert [path for path in (tmp_path / "objects").rglob("*") if path.is_file()]
    await duty(old_day, "partitions").run_once()
    assert [path for path in (tmp_path / "objects").rglob("*") if path.is_file()] == []


async def test_large_results_of_a_day_go_though_the_server_dies_when_the_day_is_detached(
    old_day: Engine, conn, tmp_path
):
    """One day detached and nothing of it removed is what the dead one leaves to the next."""
    worker = await join(old_day)
    job_id = await old_job(old_day)
    (grant,) = await old_day.dispatch.take(worker, 1, 1)
    await old_day.output.save_result(worker.worker_id, UUID(job_id), 1, b'"large"')
    await old_day.complete.attempts(worker.worker_id, [done(grant, blob=7)])
    await old_day.upkeep.partition_detach(OLD, UUID(int=2**128 - 1))
    assert (await duty(old_day, "partitions").run_once())["dropped"] == 1
    assert [path for path in (tmp_path / "objects").rglob("*") if path.is_file()] == []
    assert await conn.fetchval("select to_regclass($1)", f"job_{OLD:%Y%m%d}") is None


async def test_a_day_whose_objects_cannot_be_deleted_holds_up_nothing_else(
    old_day: Engine, conn, monkeypatch: pytest.MonkeyPatch
):
    def refuse(*_args: object) -> None:
        raise PermissionError("this folder is for writing only")

    next_day = OLD.date() + timedelta(days=1)
    await conn.execute("select partition_create($1)", next_day)
    worker = await join(old_day)
    job_id = await old_job(old_day)
    (grant,) = await old_day.dispatch.take(worker, 1, 1)
    await old_day.output.save_result(worker.worker_id, UUID(job_id), 1, b'"large"')
    await old_day.complete.attempts(worker.worker_id, [done(grant, blob=7)])
    await old_day.submit.once(ROOT, JobRequest(task="work"), "key", b"")
    await conn.execute("update idempotency set created_at = created_at - interval '3 days'")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", refuse)
        with pytest.raises(NotReady, match="writing only"):
            await duty(old_day, "partitions").run_once()
    assert await conn.fetchval(f"select count(*) from job_{OLD:%Y%m%d}") == 0
    assert await conn.fetchval("select to_regclass($1)", f"job_{next_day:%Y%m%d}") is None
    assert await conn.fetchval("select count(*) from idempotency") == 0
    assert (await duty(old_day, "partitions").run_once())["dropped"] == 1


async def test_a_large_result_stored_before_its_day_is_dropped_is_there_after_the_completion(old_day: Engine):
    """The job runs while its day goes: it has stored its result and not yet said so."""
    worker = await join(old_day)
    job_id = await old_job(old_day)
    (grant,) = await old_day.dispatch.take(worker, 1, 1)
    await old_day.output.save_result(worker.worker_id, UUID(job_id), 1, b'"large"')
    assert (await duty(old_day, "partitions").run_once())["dropped"] == 1
    assert await old_day.complete.attempts(worker.worker_id, [done(grant, blob=7)]) == []
    ended = await old_day.output.result(1, UUID(job_id), 0)
    assert ended is not None
    assert ended.result == '"large"'


async def test_a_job_about_to_be_removed_is_not_retried(old_day: Engine):
    await join(old_day)
    job_id = await old_job(old_day, delay=3600)
    await old_day.steer.cancel(ROOT, UUID(job_id), "")
    with pytest.raises(WrongState, match="clone"):
        await old_day.steer.retry(ROOT, UUID(job_id), {})


async def submit_between(engine: Engine, tries: list[int], changing: asyncio.Task[int]) -> set[int]:
    """Submits until it came through between any five of the tries. Tells after how many of them it did."""
    came_through: set[int] = set()
    while len(came_through) < 5 and not changing.done():
        await submit(engine)
        came_through |= {len(tries)} - {0}
        await asyncio.sleep(0.02)
    return came_through


@pytest.fixture
def tries(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many milliseconds a change of days would wait for a lock, each time that it asked for its locks."""
    real, tries = Transaction.run, []

    async def run(tx: Transaction, statement: str) -> None:
        await real(tx, statement)
        if statement == BRIEFLY:
            query = "select setting::int from pg_settings where name = 'lock_timeout'"
            tries.append(await tx._connection.fetchval(query))

    monkeypatch.setattr(Transaction, "run", run)
    return tries


async def test_all_old_idempotency_keys_are_forgotten_however_many(
    resting: Engine, conn, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("horae.engine.duties.partitions.CLEAN_ROWS", 2)
    await join(resting)
    for number in range(6):
        await resting.submit.once(ROOT, JobRequest(task="work"), f"key {number}", b"")
    await conn.execute("update idempotency set created_at = created_at - interval '3 days' where key <> 'key 5'")
    await duty(resting, "partitions").run_once()
    assert [row["key"] for row in await conn.fetch("select key from idempotency")] == ["key 5"]


@pytest.mark.parametrize("work", ["make", "drop"])
async def test_a_long_reader_does_not_stop_submits_behind_a_change_of_days(
    old_day: Engine, conn, database: str, tries: list[int], work: str
):
    """pg_dump holds a share lock on `job`; the change of days must not queue up an exclusive one for long: each of its
    tries holds up whoever submits. How long they take is the machine's, what is between the tries is ours."""
    await join(old_day)
    await submit(old_day)
    reader = await asyncpg.connect(database)
    partitions, today = duty(old_day, "partitions"), datetime.now(UTC).date()
    async with reader.transaction():
        await reader.fetchval("select count(*) from horae.job")
        what = partitions.make_ahead(today + timedelta(days=30)) if work == "make" else partitions.detach_old(today)
        changing = asyncio.create_task(what)
        came_through = await submit_between(old_day, tries, changing)
        assert len(came_through) == 5, (came_through, tries)
        assert max(tries) <= 200
    await reader.close()
    assert await asyncio.wait_for(changing, 60) >= 1


async def test_a_lock_that_is_never_given_up_ends_in_an_error_and_not_in_silence(database: str, tmp_path):
    config = engine_config(database, tmp_path, call_seconds=2, patience_seconds=1)
    locker = await asyncpg.connect(database)
    async with resting_engine(config) as engine:
        await join(engine)
        async with locker.transaction():
            await locker.execute("lock table horae.ready in access exclusive mode")
            with pytest.raises(StoreUnavailable):
                await asyncio.wait_for(submit(engine), 30)
        await locker.close()
        await submit(engine)
