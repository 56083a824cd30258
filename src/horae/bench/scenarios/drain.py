"""Drain: how many jobs a second run when there is no end of them.

The jobs are there before the worker starts. The rate is that from the first completion to the last, as the database
recorded them; the worker's start is not in it. The log (WAL) is counted over submission and run together.
"""

from typing import NamedTuple

from horae.bench.bench import Bench, submit_bulk, until_ended, until_growth
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
    wal = await place.probe.value("wal")
    with screen.step(f"{name}: submitting {len(lines):,} jobs"):
        await submit_bulk(place, lines, settings.batch)
    return await run_off(place, settings, screen, name, len(lines), wal)


async def run_off(
    place: Installation, settings: Settings, screen: Screen, name: str, jobs: int, wal: int, *, all_of_them: bool = True
) -> Drained:
    """Starts a worker and stops it when so many of the jobs that are there have run: all, or some of more."""
    probe = place.probe
    ended = await probe.value("outcome_count")
    began, before = await probe.now(), _usage(place)
    with screen.step(f"{name}: running {jobs:,} jobs", ended + jobs) as step:
        await place.start_worker(settings.slots)
        await place.until_joined()
        # What the worker spent on its start is not the price of a job.
        before = _usage(place) | before
        await (until_ended if all_of_them else until_growth)(place, ended + jobs, step)
    usage = {part: used.minus(before[part]) for part, used in _usage(place).items()}
    await place.stop_workers()
    window = (await probe.fetch("outcome_window", began))[0]
    if window["unsuccessful"]:
        raise SetupError(f"{window['unsuccessful']} of the no-op jobs did not succeed: this measures nothing")
    curve = [(row["span"] * SPAN, row["rows"] / SPAN) for row in await probe.fetch("outcome_rate", began, SPAN)]
    rate = window["rows"] / max(window["seconds"], 1e-9)
    return Drained(window["rows"], rate, (await probe.value("wal") - wal) / window["rows"], usage, curve)


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
