"""Drain: how many jobs a second run when there is no end of them.

The jobs are there before the worker starts. The rate is that from the first completion to the last, as the database
recorded them; the worker's start is not in it. The log (WAL) is counted over submission and run together.
"""

from typing import NamedTuple

from horae.bench.bench import Bench, submit_bulk, until_ended
from horae.bench.figures import Chart
from horae.bench.installation import Installation
from horae.bench.progress import Screen
from horae.bench.settings import Settings
from horae.bench.usage import MB, Usage, children_usage, own_usage, tree_usage
from horae.model.errors import SetupError

SPAN = 0.25
JOB = b'{"task":"bench.noop"}'


class Drained(NamedTuple):
    jobs: int
    rate: float
    wal: float
    """Bytes a job, submission included."""
    usage: dict[str, Usage]
    curve: list[tuple[float, float]]


async def drain(bench: Bench) -> None:
    settings = bench.settings
    rounds = range(1, settings.rounds + 1)
    async with bench.installation() as place:
        found = [await drain_once(place, settings, bench.screen, f"round {number}") for number in rounds]
    bench.notes.figure("rate", [one.rate for one in found], "jobs/s")
    bench.notes.figure("wal", [one.wal for one in found], "B/job")
    for part in found[0].usage:
        bench.notes.figure(f"cpu_{part}", [one.usage[part].cpu / one.jobs * 1e6 for one in found], "µs/job")
    for part in found[0].usage:
        bench.notes.figure(f"peak_memory_{part}", [one.usage[part].peak / MB for one in found], "MB")
    curves = {f"round {number}": one.curve for number, one in enumerate(found, 1)}
    bench.notes.charts.append(Chart("drain", "seconds", "jobs/s", curves))


async def drain_once(
    place: Installation, settings: Settings, screen: Screen, name: str, lines: list[bytes] | None = None
) -> Drained:
    """Submits, then starts a worker and waits until all have run; the worker is stopped again."""
    lines = lines or [JOB] * settings.jobs
    probe = place.probe
    wal, ended = await probe.value("wal"), await probe.value("outcome_count")
    with screen.step(f"{name}: submitting {len(lines):,} jobs"):
        await submit_bulk(place, lines, settings.batch)
    began, before = await probe.now(), _usage(place)
    with screen.step(f"{name}: running {len(lines):,} jobs", ended + len(lines)) as step:
        await place.start_worker(settings.slots)
        await place.until_joined()
        # What the worker spent on its start is not the price of a job.
        before = _usage(place) | before
        await until_ended(place, ended + len(lines), step)
    usage = {part: used.minus(before[part]) for part, used in _usage(place).items()}
    await place.stop_workers()
    window = (await probe.fetch("outcome_window", began))[0]
    if window["unsuccessful"]:
        raise SetupError(f"{window['unsuccessful']} of the no-op jobs did not succeed: this measures nothing")
    curve = [(row["span"] * SPAN, row["rows"] / SPAN) for row in await probe.fetch("outcome_rate", began, SPAN)]
    rate = window["rows"] / max(window["seconds"], 1e-9)
    return Drained(len(lines), rate, (await probe.value("wal") - wal) / len(lines), usage, curve)


def _usage(place: Installation) -> dict[str, Usage]:
    parts = {}
    if place.cluster.pid is not None:
        parts["postgresql"] = tree_usage(place.cluster.pid)
    if place.server is not None:
        parts["server"] = own_usage(place.server.pid)
    for worker in place.workers:
        parts["agent"] = own_usage(worker.pid)
        parts["children"] = children_usage(worker.pid)
    return parts
