"""Engines on real databases: a resting one, moved by hand, and running ones with all their duties. Workers by hand."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from horae.engine.access import Caller
from horae.engine.engine import Engine, EngineConfig
from horae.engine.fleet import Joining
from horae.engine.sessions import Session
from horae.model.job import JobRequest
from horae.model.roles import GRANTS, Role
from horae.model.states import End
from horae.model.task import TaskDefinition
from horae.model.work import Finished, Grant, JobError
from horae.store.database import DatabaseConfig

ROOT = Caller(0, "root", Role.ADMIN, None, None, GRANTS[Role.ADMIN])
"""A key that belongs to no tenant; its jobs go to tenant `default`."""


def engine_config(dsn: str, folder: Path, **database: Any) -> EngineConfig:
    small = {"hot_connections": 2, "general_connections": 2} | database
    return EngineConfig(database=DatabaseConfig(dsn=dsn, **small), objects=str(folder / "objects"))


@asynccontextmanager
async def resting_engine(config: EngineConfig) -> AsyncIterator[Engine]:
    """An engine whose duties do not run by themselves: nothing happens but what the test does."""
    engine = Engine(config)
    await engine.database.open()
    await observe_clock(engine)
    await engine.policy.refresh()
    try:
        yield engine
    finally:
        await engine.database.close()


async def observe_clock(engine: Engine) -> None:
    """By the quickest of some looks: one that was held up on its way would be off by half of that."""
    time, looks = asyncio.get_running_loop().time, []
    for _ in range(5):
        sent = time()
        database_now = await engine.upkeep.clock()
        looks.append((time() - sent, database_now, sent))
    took, database_now, sent = min(looks)
    engine.clock.observe(database_now, sent, sent + took)


@asynccontextmanager
async def running_engine(config: EngineConfig) -> AsyncIterator[Engine]:
    engine = Engine(config)
    await engine.start()
    try:
        yield engine
    finally:
        await engine.stop()


async def join(engine: Engine, *tasks: str, by: Caller = ROOT, queues: list[str] | None = None) -> Session:
    """A worker that knows these tasks, joined and ready to take work."""
    definitions = [TaskDefinition(name=name) for name in tasks or ("work",)]
    worker = Joining(name="w", host="h", slots=10, tasks=definitions, queues=queues)
    return await engine.fleet.session(by, await engine.fleet.join(by, worker))


async def submit(engine: Engine, task: str = "work", *, by: Caller = ROOT, **request: Any) -> str:
    return (await engine.submit.one(by, JobRequest(task=task, **request))).id


def done(grant: Grant, end: End = End.SUCCEEDED, **more: Any) -> Finished:
    if end is not End.SUCCEEDED:
        more.setdefault("error", JobError("Boom", "it broke"))
    return Finished(id=grant.id, lane=grant.lane, attempt=grant.attempt, end=end, **more)


async def take_one(engine: Engine, session: Session, number: int = 1) -> Grant:
    (grant,) = await engine.dispatch.take(session, number, 1)
    return grant


def duty(engine: Engine, name: str) -> Any:
    """One of the engine's duties, to run by hand."""
    return next(loop.duty for loop in engine.duties if loop.duty.name == name)
