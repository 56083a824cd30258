"""Several servers on one database: they hear of each other's work."""

import asyncio
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

from horae.engine.duties import notices
from horae.engine.engine import Engine
from horae.model.states import State
from horae.testing.proxy import Proxy, proxy_to, to_socket
from horae.testing.waiting import wait_for

from .staging import ROOT, done, engine_config, join, running_engine, submit, take_one


async def stop_looking(engine: Engine) -> None:
    """Without its own looks an engine knows only what it is told."""
    for loop in engine.duties:
        await loop.stop()
    await engine.timers.stop()


async def pair(start_engine) -> tuple[Engine, Engine]:
    first, second = await start_engine(), await start_engine()
    await stop_looking(second)
    return first, second


async def until_told(first: Engine, second: Engine) -> None:
    """Both listen: a notice of no consequence has come through."""
    heard = asyncio.Event()
    second.signals.on_cancel.append(lambda worker_id: heard.set() if worker_id == 0 else None)

    async def knock() -> bool:
        first.signals.cancel([0])
        try:
            await asyncio.wait_for(heard.wait(), 0.2)
        except TimeoutError:
            return False
        return True

    await wait_for(knock)


async def test_a_job_submitted_here_wakes_a_worker_there(start_engine):
    first, second = await pair(start_engine)
    await until_told(first, second)
    worker = await join(second)
    waiter = second.dispatch.wait(worker, 1, 1)
    job_id = await submit(first)
    (grant,) = await asyncio.wait_for(waiter.answer, 20)
    assert grant.id == job_id


async def test_a_cancel_here_reaches_a_worker_there(start_engine):
    first, second = await pair(start_engine)
    await until_told(first, second)
    worker = await join(second)
    job_id = await submit(second)
    await take_one(second, worker)
    await second.fleet.orders(worker)
    with worker.nudged() as nudge:
        assert await first.steer.cancel(ROOT, UUID(job_id), "") is State.RUNNING
        await asyncio.wait_for(nudge, 20)
    assert [order.id for order in await second.fleet.orders(worker)] == [job_id]


async def test_a_result_made_there_is_found_here(start_engine):
    first, second = await start_engine(), await start_engine()
    worker = await join(second)
    job_id = await submit(second)
    grant = await take_one(second, worker)
    waiting = asyncio.create_task(first.output.result(1, UUID(job_id), 30))
    await wait_for(lambda: first.watch.anybody)
    await second.complete.attempts(worker.worker_id, [done(grant)])
    assert (await asyncio.wait_for(waiting, 20)).state is State.SUCCEEDED


async def test_many_lanes_with_long_numbers_all_come_through(start_engine):
    """A notice holds 8,000 bytes: what does not fit goes with the next one."""
    first, second = await pair(start_engine)
    await until_told(first, second)
    heads = {2_000_000_000 + n: 1_763_245_678_123_456 for n in range(700)}
    heard: dict[int, int] = {}
    second.signals.on_ready.append(heard.update)
    first.signals.ready(heads)
    await wait_for(lambda: heard.keys() >= heads.keys())


async def test_what_was_heard_is_not_told_again(start_engine):
    first, second = await pair(start_engine)
    await until_told(first, second)
    told: list[int] = []
    first.signals.on_ready.append(told.extend)
    second.signals.on_ready.append(told.extend)
    first.signals.ready({2_000_000_000: 1})
    await wait_for(lambda: len(told) >= 2)
    await until_told(second, first)
    assert len(told) == 2


async def test_nonsense_on_the_channel_is_ignored(start_engine, conn):
    first, second = await pair(start_engine)
    await until_told(first, second)
    for nonsense in ("", "{", '{"sender": 5}', '{"sender":"x","ready":{"a":1}}', "x" * 7000):
        await conn.execute("select pg_notify('horae', $1)", nonsense)
    await until_told(first, second)


async def test_the_ear_comes_back_after_its_connection_was_ended(start_engine, conn):
    first, second = await pair(start_engine)
    await until_told(first, second)
    await conn.execute(
        """select pg_terminate_backend(pid) from pg_stat_activity
        where pid <> pg_backend_pid() and datname = current_database()"""
    )
    await until_told(first, second)


async def test_a_server_whose_line_went_dead_without_a_word_listens_again(
    start_engine, conn, database: str, tmp_path: Path, monkeypatch
):
    """It has nothing to tell, so it would never find out that nobody tells it anything."""
    monkeypatch.setattr(notices, "LOOK_SECONDS", 0.2)
    monkeypatch.setattr(notices, "ANSWER_SECONDS", 2.0)
    folder, port = parse_qs(urlsplit(database).query)["host"][0], await conn.fetchval("show port")
    with proxy_to(to_socket(f"{folder}/.s.PGSQL.{port}")) as line:
        async with running_engine(engine_config(through(line, database), tmp_path)) as far:
            near = await start_engine()
            await until_told(near, far)
            line.forsake_all()
            try:
                await until_told(near, far)
            finally:
                line.reset_forsaken()


def through(line: Proxy, database: str) -> str:
    return f"postgresql://horae@{line.host}:{line.port}{urlsplit(database).path}?sslmode=disable"
