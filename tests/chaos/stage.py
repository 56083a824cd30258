"""A small installation for one scene: servers as processes, with a bug or without; workers that are real, or played."""

import random
import time
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

from . import PYTHONPATH, history, trail, truth
from .bytecode import compiled_once
from .calls import Clients
from .campaign import APP, LEFT
from .case import Case
from .history import History
from .menu import LIMITS, TENANTS, Menu
from .part import Freeze
from .puppet import Puppet

PATIENCE: Final = 40.0
"""For what must happen, if there is a bug."""
IMPATIENCE: Final = 5.0
"""For the same where there is none."""
DRAIN_SECONDS: Final = 20.0
"""With a bug: what has not ended then is lost."""
SOUND_DRAIN_SECONDS: Final = 120.0
"""Without one, where all ends at last, however slow the machine."""
CLIENT_SECONDS: Final = 30.0
"""A submit that the slowest machine has not answered by then would leave nothing to find."""


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
        self._drain_seconds = DRAIN_SECONDS if planted else SOUND_DRAIN_SECONDS
        self._menu = Menu(random.Random(1))
        self._servers: dict[int, Program] = {}
        self._record = record
        self._open = open_things
        self._effects = stack.folder / "effects"
        self._pids = count(10_000_001)
        self._freezes: list[Freeze] = []

    async def servers(self, number: int = 1, **environ: str) -> None:
        """So many at least: a scene before this one may have left some."""
        for n in range(len(self._servers), number):
            self._servers[n] = await self.stack.server(f"server-{n}", **environ)

    async def server_dies(self) -> None:
        await self._servers[0].kill()

    async def server_again(self, **environ: str) -> None:
        await self.server_dies()
        self._servers[0] = await self.stack.server("server-0", **environ)

    @asynccontextmanager
    async def frozen(self, agent: Program) -> AsyncIterator[None]:
        """Its children go on."""
        since = time.monotonic()
        self.stack.freeze(agent)
        try:
            yield
        finally:
            self.stack.thaw(agent)
            self._freezes.append(Freeze(frozenset({agent.pid}), since, time.monotonic(), host=False))

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
        clients = Clients("client", urls, key, self._record, random.Random(1), answer_seconds=CLIENT_SECONDS)
        return await self._open.enter_async_context(clients)

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

            await came_true(empty, max(self._drain_seconds, least))

    async def case(self) -> Case:
        folder = self.stack.folder
        case = Case(
            calls=history.read(folder / "history.jsonl"), runs=self.runs(), limits=LIMITS,
            stale=truth.stale_in(folder), freezes=self._freezes,
        )  # fmt: skip
        await truth.read_truth(self.stack.dsn, case)
        return case


@asynccontextmanager
async def open_stage(dsn: str, folder: Path, planted: str | None) -> AsyncIterator[Stage]:
    record = History(folder / "history.jsonl")
    # Who plays a worker sends no heartbeats.
    environ = {"EFFECTS": str(folder / "effects"), "PYTHONPATH": PYTHONPATH, "HORAE_LEASE_SECONDS": "60"}
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
