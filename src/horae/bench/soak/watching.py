"""What server, agent, children and PostgreSQL hold, and what the store takes, looked at every few seconds.

Memory is that of the kernel's books: *resident* has what processes share, *private* is what would be free if they
ended. PostgreSQL and the agent's children are sums over their processes, because some end and others take their place;
of PostgreSQL only what is private, as its processes share their buffers and touch more and more of them.

A shared host is not always equally quick, by a third and more, and that shows in all times alike. So each look also
measures the processor time of a piece of work that is always the same, of the kind that Horae does.
"""

import asyncio
import os
import socket
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
import psutil

from horae.bench.installation import Installation
from horae.bench.probe import Probe
from horae.bench.soak.series import Sample
from horae.bench.usage import MB, own_usage, tree_usage
from horae.model.errors import SetupError

Values = dict[tuple[str, str, str], float]
CPU: Final = "processor time so far"
WAL: Final = "log so far"
WORK: Final = "the same work"
MESSAGE: Final = [{"id": f"{n:032x}", "params": {"to": "a@example.com", "n": n}, "at": 1.5 * n} for n in range(200)]
ROUNDS: Final = 40


class Watch:
    """Looks at an installation. Its probe is its own: looks must not wait for others."""

    def __init__(self, place: Installation, probe: Probe, agent: int) -> None:
        self._place = place
        self._probe = probe
        self._agent = agent
        self._began = time.monotonic()

    async def look(self) -> Sample:
        at = time.monotonic() - self._began
        processes = await asyncio.to_thread(self._processes)
        objects = await asyncio.to_thread(_objects, self._place.folder / "objects")
        work = {(WORK, WORK, "s"): await asyncio.to_thread(same_work)}
        return Sample(at, processes | objects | work | await self._store())

    def _processes(self) -> Values:
        server, postmaster = self._place.server, self._place.cluster.pid
        if server is None or postmaster is None:
            raise SetupError("there is no server to watch")
        parts = {
            "server": _processes_of([server.pid]),
            "agent": _processes_of([self._agent]),
            "children": _below(self._agent),
            "PostgreSQL": [*_processes_of([postmaster]), *_below(postmaster)],
        }
        found: Values = {}
        for name, processes in parts.items():
            found |= _held(name, processes)
        del found["resident memory", "PostgreSQL", "MB"]
        return found | self._spent(server.pid, postmaster)

    def _spent(self, server: int, postmaster: int) -> Values:
        spent = {
            "server": own_usage(server).cpu,
            "worker": tree_usage(self._agent).cpu,
            "PostgreSQL": tree_usage(postmaster).cpu,
            "load": time.process_time(),
        }
        return {(CPU, name, "s"): seconds for name, seconds in spent.items()}

    async def _store(self) -> Values:
        found: Values = {(WAL, "log", "MB"): await self._probe.value("wal") / MB}
        partitions = dead = 0
        for row in await self._probe.fetch("table_sizes"):
            found["tables", row["family"], "MB"] = row["heap"] / MB
            found["indexes", row["family"], "MB"] = row["indexes"] / MB
            dead += row["dead"]
            partitions += row["tables"] if row["partitioned"] else 0
        found["catalogue", "PostgreSQL's own tables", "MB"] = await self._probe.value("catalogue_size") / MB
        for row in await self._probe.fetch("connections"):
            found["connections", row["whose"], "connections"] = row["rows"]
        return found | {("dead rows", "dead rows", "rows"): dead, ("partitions", "partitions", "tables"): partitions}


def same_work() -> float:
    """The processor time of it, some milliseconds: messages are written, sent, received and read."""
    here, there = socket.socketpair()
    began = time.thread_time()
    with here, there:
        for _ in range(ROUNDS):
            here.sendall(sent := msgspec.json.encode(MESSAGE))
            received = bytearray()
            while len(received) < len(sent):
                received += there.recv(1 << 16)
            msgspec.json.decode(received)
    return time.thread_time() - began


async def watch(watching: Watch, every: float, samples: list[Sample]) -> None:
    """Until cancelled. Looks that take longer than the time between them leave some out."""
    began = time.monotonic()
    while True:
        samples.append(await watching.look())
        await asyncio.sleep(every - (time.monotonic() - began) % every)


def _held(name: str, processes: Sequence[psutil.Process]) -> Values:
    resident = private = files = threads = count = 0
    for process in processes:
        with suppress(psutil.Error, OSError):
            memory = process.memory_full_info()
            files += process.num_fds()
            threads += process.num_threads()
            resident, private, count = resident + memory.rss, private + memory.uss, count + 1
    return {
        ("resident memory", name, "MB"): resident / MB,
        ("private memory", name, "MB"): private / MB,
        ("file descriptors", name, "descriptors"): files,
        ("threads", name, "threads"): threads,
        ("processes", name, "processes"): count,
    }


def _processes_of(pids: Iterable[int]) -> list[psutil.Process]:
    return [psutil.Process(pid) for pid in pids]


def _below(pid: int) -> list[psutil.Process]:
    with suppress(psutil.Error):
        return psutil.Process(pid).children(recursive=True)
    return []


def _objects(folder: Path) -> Values:
    """Files vanish while one looks: retention removes them."""
    files = folders = size = 0
    for root, _, names in os.walk(folder):
        folders += 1
        for name in names:
            with suppress(OSError):
                size += (Path(root) / name).stat().st_size
                files += 1
    return {
        ("objects", "size", "MB"): size / MB,
        ("object files", "files", "files"): files,
        ("object files", "folders", "files"): folders,
    }
