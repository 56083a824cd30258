"""A small installation for one scene: servers as processes, with a bug or without; workers that are real, or played."""

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Final

from faults.effects import Run, read_runs
from horae.bench.program import Program
from horae.model.job import JobRequest
from horae.model.roles import Role
from horae.testing.stack import Stack, running_stack
from horae.testing.waiting import wait_for

from . import TESTS, history, trail, truth
from .bytecode import compiled_once
from .calls import Clients
from .campaign import APP, LEFT
from .case import Case
from .history import History
from .menu import LIMITS, TENANTS, Menu
from .puppet import Puppet

PATIENCE: Final = 40.0
IMPATIENCE: Final = 5.0
"""With a bug that loses jobs one would wait for them in vain; what keeps them takes a moment."""


async def came_true(condition: Callable[[], Awaitable[bool] | bool], seconds: float) -> bool:
    """Whether it did in time."""
    try:
        return bool(await wait_for(condition, seconds, interval=0.05))
    except AssertionError:
        return False


class Stage:
    def __init__(self, stack: Stack, record: History, open_things: AsyncExitStack, *, planted: bool) -> None:
        self.stack = stack
        self.observed = PATIENCE if planted else IMPATIENCE
        """How long a scene waits for what must not happen. Without a bug it waits in vain."""
        self._menu = Menu(random.Random(1))
        self._servers: dict[int, Program] = {}
        self._patience = IMPATIENCE if planted else PATIENCE
        self._record = record
        self._open = open_things
        self._effects = stack.folder / "effects"
        self._pids = count(10_000_001)

    async def servers(self, number: int = 1, **environ: str) -> None:
        """So many at least: a scene before this one may have left some."""
        for n in range(len(self._servers), number):
            self._servers[n] = await self.stack.server(f"server-{n}", **environ)

    async def server_dies(self) -> None:
        await self._servers[0].kill()

    async def server_again(self, **environ: str) -> None:
        await self.server_dies()
        self._servers[0] = await self.stack.server("server-0", **environ)

    async def worker(self, name: str) -> Program:
        program = await self.stack.worker(name, APP)
        await self.stack.until_joined(name)
        return program

    async def puppet(self, server: int = 0) -> Puppet:
        pid = next(self._pids)
        url, key = self.stack.address(f"server-{server}"), self.stack.keys[Role.WORKER]
        puppet = Puppet(url, key, f"puppet-{pid}", pid, self._effects)
        self._open.push_async_callback(puppet.close)
        await puppet.join()
        return puppet

    async def client(self) -> Clients:
        urls, key = [self.stack.url], self.stack.keys[Role.ADMIN]
        return await self._open.enter_async_context(Clients("client", urls, key, self._record, random.Random(1)))

    def runs(self) -> list[Run]:
        return read_runs(self._effects)

    def started(self, runs: int) -> bool:
        return len(self.runs()) >= runs

    def ended(self, runs: int) -> bool:
        return sum(run.ended for run in self.runs()) >= runs

    def job(self, kind: str, delay: float | None = None, tenant: str = TENANTS[0]) -> JobRequest:
        return self._menu.job(kind, tenant, delay)

    async def drained(self, puppet: Puppet | None = None, least: float = 0.0) -> None:
        """Until all jobs have ended, or one has waited for that in vain."""
        async with truth.connected(self.stack.dsn) as connection:

            async def empty() -> bool:
                if puppet is not None:
                    await puppet.run_some()
                return await connection.fetchval(LEFT) == 0

            await came_true(empty, max(self._patience, least))

    async def case(self) -> Case:
        folder = self.stack.folder
        case = Case(
            calls=history.read(folder / "history.jsonl"), runs=self.runs(), limits=LIMITS,
            stale=truth.stale_in(folder),
        )  # fmt: skip
        await truth.read_truth(self.stack.dsn, case)
        return case


@asynccontextmanager
async def open_stage(dsn: str, folder: Path, planted: str | None) -> AsyncIterator[Stage]:
    record = History(folder / "history.jsonl")
    # Who plays a worker sends no heartbeats.
    environ = {"EFFECTS": str(folder / "effects"), "PYTHONPATH": str(TESTS), "HORAE_LEASE_SECONDS": "60"}
    environ |= compiled_once()
    async with truth.connected(dsn) as connection:
        await trail.record(connection)
    async with running_stack(dsn, folder, **environ) as stack, AsyncExitStack() as open_things:
        open_things.callback(record.close)
        if planted is not None:
            stack.module = ("chaos.planted", planted, "--")
        yield Stage(stack, record, open_things, planted=planted is not None)
        for program in stack.servers + stack.workers:  # which pytest shows when the test has failed
            print(f"--- {program.name}\n{program.last_words()}")
