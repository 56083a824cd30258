"""Kinds: what it costs to start a job of each kind.

Jobs that do nothing wait in a queue, and one slot runs them one after another; the figure is the time from one end to
the next. So it holds all that a job costs beside its own work: the brief, the sandbox, the process, the report.

Functions run in a warm child. A script is `true` in a shell, in the sandbox; a container is `true` of a root file
system that holds busybox and nothing else. HTTP calls, which go to a server on the same machine that answers at once,
run side by side in the agent's coroutine slots: theirs is the time a call costs, not the time it takes.
What this host cannot run is left out and said.
"""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from horae.bench.bench import Bench, submit_bulk, until_ended
from horae.bench.figures import Chart
from horae.bench.installation import APP, Installation
from horae.model.errors import SetupError
from horae.model.kinds import Container, HttpCall, Kind, Script
from horae.model.task import TaskDefinition

NAMES: Final = {
    Kind.FUNCTION: "bench.noop",
    Kind.SCRIPT: "bench.script",
    Kind.CONTAINER: "bench.container",
    Kind.HTTP: "bench.http",
}
FEWER: Final = {Kind.FUNCTION: 1, Kind.SCRIPT: 50, Kind.CONTAINER: 500, Kind.HTTP: 10}
"""For each job of the others there are so many functions: a round shall take about as long for all."""
ANSWER: Final = b"HTTP/1.1 204 No Content\r\n\r\n"


async def kinds(bench: Bench) -> None:
    rounds = range(1, bench.settings.rounds + 1)
    async with bench.installation() as place, answering_service() as port:
        root = busybox_root(place.folder / "root")
        await _define(place, port, root)
        found = [kind for kind in NAMES if kind is not Kind.CONTAINER or root is not None]
        spans = {kind: [await _round(bench, place, kind, f"round {number}") for number in rounds] for kind in found}
    for kind, took in spans.items():
        bench.notes.figure(kind.value, took, "ms")
    points = {kind.value: [(float(n), one) for n, one in enumerate(took, 1)] for kind, took in spans.items()}
    bench.notes.charts.append(Chart("kinds", "round", "ms a job", points))


async def _define(place: Installation, port: int, root: Path | None) -> None:
    tasks = [
        TaskDefinition(name=NAMES[Kind.SCRIPT], script=Script(source="true", interpreter="sh")),
        TaskDefinition(name=NAMES[Kind.HTTP], http=HttpCall(url=f"http://127.0.0.1:{port}/")),
    ]
    if root is not None:
        container = Container(image=f"rootfs:{root}", command=["/bin/true"])
        tasks.append(TaskDefinition(name=NAMES[Kind.CONTAINER], container=container))
    with place.client() as client:
        for task in tasks:
            await asyncio.to_thread(client.put_task, task)


async def _round(bench: Bench, place: Installation, kind: Kind, name: str) -> float:
    """Milliseconds from one end to the next."""
    jobs = max(2, bench.settings.jobs // FEWER[kind])
    line = b'{"task":"%s"}' % NAMES[kind].encode()
    await submit_bulk(place, [line] * jobs, bench.settings.batch)
    ended, began = await place.probe.value("outcome_count"), await place.probe.now()
    with bench.screen.step(f"{name}: {jobs:,} of kind {kind.value}", ended + jobs) as step:
        await place.start_worker(1, runs=_arguments(kind, place))
        await place.until_joined()
        await until_ended(place, ended + jobs, step)
    await place.stop_workers()
    window = (await place.probe.fetch("outcome_window", began))[0]
    if window["unsuccessful"]:
        raise SetupError(f"{window['unsuccessful']} of the jobs of kind {kind.value} did not succeed")
    return float(1e3 * window["seconds"] / (jobs - 1))


def _arguments(kind: Kind, place: Installation) -> list[str]:
    if kind is Kind.FUNCTION:
        return ["--app", APP]
    return ["--kinds", kind.value, "--state", str(place.folder / "state"), "--allow-networks", "127.0.0.1/32",
            "--container-roots", str(place.folder)]  # fmt: skip


def busybox_root(folder: Path) -> Path | None:
    """A root file system with busybox in it; None where there is none, or nothing to run it with."""
    busybox = shutil.which("busybox")
    if busybox is None or not any(map(shutil.which, ("podman", "docker"))):
        return None
    (folder / "bin").mkdir(parents=True)
    shutil.copy(busybox, folder / "bin" / "busybox")
    (folder / "bin" / "true").symlink_to("busybox")
    return folder


@asynccontextmanager
async def answering_service() -> AsyncIterator[int]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(ANSWER)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]
