"""Time: how soon after its due time a job starts, alone (`punctuality`) and in a crowd (`herd`).

A job returns the wall clock of its start. The due time is by PostgreSQL's clock, which on one host is the same.
"""

import random
import time
from datetime import UTC, datetime

import msgspec

from horae.bench.bench import Bench, submit_bulk, until_ended
from horae.bench.figures import Chart, distribution, percentile
from horae.bench.installation import Installation
from horae.bench.progress import Step
from horae.model.errors import SetupError
from horae.model.job import JobRequest

AHEAD = 3.0
"""Seconds between the submission and the first due time; a large herd gets more, for it takes longer to submit."""
SUBMIT_RATE = 5000
SPACING = 0.05
WARM_JOBS = 200


async def punctuality(bench: Bench) -> None:
    settings = bench.settings
    rounds: list[list[float]] = []
    async with bench.installation() as place:
        await _warm_up(bench, place)
        for number in range(1, settings.rounds + 1):
            with bench.screen.step(f"round {number}: {settings.jobs:,} jobs due one by one") as step:
                due = time.time() + AHEAD
                times = [due + random.uniform(0, settings.jobs * SPACING) for _ in range(settings.jobs)]
                rounds.append(await _lags(place, times, step))
    bench.notes.percentiles("lag", rounds, "ms")


async def herd(bench: Bench) -> None:
    """A herd of all jobs, and before it one of a tenth of them."""
    async with bench.installation() as place:
        await _warm_up(bench, place)
        for size in (max(bench.settings.jobs // 10, 1), bench.settings.jobs):
            await _herd(bench, place, size)


async def _herd(bench: Bench, place: Installation, size: int) -> None:
    rounds: list[list[float]] = []
    for number in range(1, bench.settings.rounds + 1):
        with bench.screen.step(f"round {number}: {size:,} jobs due at one instant") as step:
            due = time.time() + AHEAD + size / SUBMIT_RATE
            rounds.append(await _lags(place, [due] * size, step))
    notes = bench.notes
    notes.figure(f"last_of_{size}", [max(lags) for lags in rounds], "ms")
    for label, share in (("p50", 0.5), ("p99", 0.99)):
        notes.figure(f"{label}_of_{size}", [percentile(lags, share) for lags in rounds], "ms")
    lines = {f"round {number}": distribution(lags) for number, lags in enumerate(rounds, 1)}
    notes.charts.append(Chart(f"herd of {size:,}", "ms after due", "share started", lines))


async def _warm_up(bench: Bench, place: Installation) -> None:
    await place.start_worker(bench.settings.slots)
    await place.until_joined()
    with bench.screen.step("warming up") as step:
        await submit_bulk(place, [_line(time.time())] * WARM_JOBS, batch=10)
        await until_ended(place, WARM_JOBS, step)


async def _lags(place: Installation, times: list[float], step: Step) -> list[float]:
    """Milliseconds from due to start of jobs due at these times, which must not pass before all are submitted."""
    probe = place.probe
    began, ended = await probe.now(), await probe.value("outcome_count")
    await submit_bulk(place, [_line(due) for due in times], batch=1000)
    if time.time() > min(times):
        raise SetupError("the machine was too busy to submit the jobs before they fell due: try again when it is not")
    await until_ended(place, ended + len(times), step)
    rows = await probe.fetch("results_since", began)
    return [(int(row["result"]) / 1e9 - row["due"]) * 1000 for row in rows]


def _line(due: float) -> bytes:
    return msgspec.json.encode(JobRequest(task="bench.wall", run_at=datetime.fromtimestamp(due, UTC)))
