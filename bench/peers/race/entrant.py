"""A peer at the start: its store, its desk, and workers that come and go."""

import asyncio
import json
import os
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

from horae.bench.usage import Usage, children_usage, own_usage, tree_usage
from race import server, stores
from race.catalogue import Crew, Peer, Runtime, StoreKind
from race.environments import DRIVERS, interpreter
from race.processes import Process, Speaker

ANSWER_SECONDS: Final = 180.0
STORES: Final = {
    StoreKind.POSTGRESQL: stores.postgresql,
    StoreKind.REDIS: stores.redis,
    StoreKind.RABBITMQ: stores.rabbitmq,
}


class Entrant:
    def __init__(self, peer: Peer, program: str, folder: Path, store: stores.Store) -> None:
        self.peer = peer
        self.traces = folder / "traces"
        self.waiting = 0
        """Jobs that were submitted and not yet run, by the workloads' own account."""
        self.server: Process | None = None
        self.workers: list[Process] = []
        self.environ: dict[str, str] = {
            **{name: value for name, value in os.environ.items() if not name.startswith("HORAE_")},
            "RACE_STORE": store.url,
            "RACE_TRACES": str(self.traces),
            "PYTHONPATH": str(DRIVERS),
            "PYTHONUNBUFFERED": "1",
        }
        self._program = program
        self._folder = folder
        self._store = store
        self._desk: Speaker | None = None

    async def open_desk(self, crew: Crew) -> None:
        """The desk gets the settings of the workers that will run: some peers fix them when they make their queues."""
        ending = "mjs" if self.peer.runtime is Runtime.NODE else "py"
        self._desk = Speaker(
            f"the desk of {self.peer.title}",
            [self._program, str(DRIVERS / f"desk.{ending}"), self.peer.driver],
            self._settled(crew),
            self._folder / "desk.log",
        )
        await self._desk.start()
        await self._desk.line()

    async def close_desk(self) -> None:
        if self._desk is not None:
            await self._desk.stop()

    async def ask(self, do: str, **given: Any) -> dict[str, float]:
        assert self._desk is not None  # noqa: S101
        await self._desk.say(json.dumps({"do": do, **given}).encode())
        answer: dict[str, float] = json.loads(await self._desk.line(ANSWER_SECONDS))
        return answer

    def forget(self) -> None:
        """Traces of what ran so far are removed; no worker may run."""
        shutil.rmtree(self.traces, ignore_errors=True)
        self.traces.mkdir()

    async def start_workers(self, crew: Crew) -> None:
        commands = [crew.command] * crew.processes + [crew.beside] * bool(crew.beside)
        for number, command in enumerate(commands, 1):
            name, log = f"worker {number} of {self.peer.title}", self._folder / f"worker-{number}.log"
            environ = self._settled(crew) | {"RACE_WORKER": str(number)}
            worker = Process(name, self._worker_command(command), environ, log)
            await worker.start()
            self.workers.append(worker)

    def _worker_command(self, command: tuple[str, ...]) -> list[str]:
        if self.peer.runtime is Runtime.HORAE:
            return server.worker_command(self._folder, self.environ, command)
        first, *rest = command
        return [self._program, first if first.startswith("-") else str(DRIVERS / first), *rest]

    async def stop_workers(self) -> None:
        stopping, self.workers = self.workers, []
        await asyncio.gather(*(worker.stop() for worker in stopping))

    async def kill_workers(self) -> None:
        killed, self.workers = self.workers, []
        await asyncio.gather(*(worker.kill() for worker in killed))

    def check(self) -> None:
        for process in (self._desk, self.server, *self.workers):
            if process is not None:
                process.check()

    def usage(self) -> dict[str, Usage]:
        """By part: processor time of the store, of a server, of the workers and of what those start."""
        parts = {"store": tree_usage(self._store.pid)}
        if self.server is not None:
            parts["server"] = own_usage(self.server.pid)
        for worker in self.workers:
            _add(parts, "worker", own_usage(worker.pid))
            _add(parts, "children", children_usage(worker.pid))
        if self._desk is not None:
            parts["desk"] = tree_usage(self._desk.pid)
        return parts

    def _settled(self, crew: Crew) -> dict[str, str]:
        return self.environ | {"RACE_SETTINGS": json.dumps(crew.settings)} | dict(crew.environ)


def _add(parts: dict[str, Usage], name: str, more: Usage) -> None:
    so_far = parts.get(name, Usage(0.0, 0))
    parts[name] = Usage(so_far.cpu + more.cpu, max(so_far.peak, more.peak))


@asynccontextmanager
async def entered(peer: Peer, crew: Crew, folder: Path) -> AsyncIterator[Entrant]:
    """With a store of its own that nothing was ever in."""
    program = await asyncio.to_thread(interpreter, peer)
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(STORES[peer.store](folder))
        entrant = Entrant(peer, program, folder, store)
        entrant.forget()
        if peer.runtime is Runtime.HORAE:
            entrant.server = await server.start(folder, store.url, entrant.environ)
            stack.push_async_callback(entrant.server.stop)
        stack.push_async_callback(entrant.stop_workers)
        await entrant.open_desk(crew)
        stack.push_async_callback(entrant.close_desk)
        yield entrant


async def until(
    condition: Callable[[], Awaitable[bool]], entrant: Entrant, seconds: float, every: float = 0.02
) -> bool:
    """Whether it came true in time."""
    deadline = time.monotonic() + seconds
    while not await condition():
        entrant.check()
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(every)
    return True
