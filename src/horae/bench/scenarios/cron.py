"""Schedules: many of them that fire at the same second (the herd), and what very many cost between their ticks.

The schedules are laid into the database as they would stand there after they were made by HTTP; everything after that
is the server's work: their ticks become jobs ahead of time, fall due, start.
"""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from horae.bench.bench import Bench, until_ended
from horae.bench.figures import Chart, distribution
from horae.bench.installation import Installation
from horae.bench.progress import Step
from horae.bench.usage import own_usage, tree_usage
from horae.model.definition import ScheduleDefinition
from horae.model.errors import SetupError
from horae.model.timing import Rule

AHEAD: Final = 3.0
PLAN_RATE: Final = 1000
"""Schedules a second that even a slow machine plans."""
TASK: Final = "bench.wall"


async def cron(bench: Bench) -> None:
    await _herd(bench)
    await _idle(bench)


async def _herd(bench: Bench) -> None:
    settings, rounds = bench.settings, []
    async with bench.installation("herd") as place:
        await place.start_worker(settings.slots)
        await place.until_joined()
        for number in range(1, settings.rounds + 1):
            with bench.screen.step(f"round {number}: {settings.jobs:,} schedules at one second") as step:
                rounds.append(await _fire(place, settings.jobs, step))
    bench.notes.figure("herd_last", [max(lags) for lags in rounds], "ms")
    bench.notes.percentiles("herd", rounds, "ms")
    lines = {f"round {number}": distribution(lags) for number, lags in enumerate(rounds, 1)}
    bench.notes.charts.append(Chart(f"{settings.jobs:,} schedules", "ms after the tick", "share started", lines))


async def _fire(place: Installation, size: int, step: Step) -> list[float]:
    """Milliseconds from tick to start, of each schedule."""
    probe = place.probe
    began, ended = await probe.now(), await probe.value("outcome_count")
    at = datetime.fromtimestamp(int(time.time() + AHEAD + size / PLAN_RATE), UTC)
    await lay_schedules(place, f"herd-{int(at.timestamp())}", size, at, 0.0)
    await until_ended(place, ended + size, step)
    rows = await probe.fetch("results_since", began)
    return [(int(row["result"]) / 1e9 - row["due"]) * 1000 for row in rows]


async def _idle(bench: Bench) -> None:
    settings = bench.settings
    shares: dict[str, list[float]] = {"without": [], "with": []}
    async with bench.installation("idle") as place:
        for name in ("without", "with"):
            if name == "with":
                # Their ticks lie between two and 26 hours ahead.
                with bench.screen.step(f"laying {settings.pending:,} schedules"):
                    later = datetime.now(UTC) + timedelta(hours=2)
                    await lay_schedules(place, "idle", settings.pending, later, 86_400.0)
            await asyncio.sleep(min(3.0, settings.seconds))
            with bench.screen.step(f"idle for {settings.seconds:g} s, {name} schedules"):
                for _ in range(settings.rounds):
                    shares[name].append(await _busy(bench, place, settings.seconds))
    bench.notes.figure("idle_without", shares["without"], "% of a core")
    bench.notes.figure("idle", shares["with"], "% of a core")


async def _busy(bench: Bench, place: Installation, seconds: float) -> float:
    """How much of one core server and database use when nothing happens."""
    before, began = _used(bench, place), time.monotonic()
    await asyncio.sleep(seconds)
    return 100 * (_used(bench, place) - before) / (time.monotonic() - began)


def _used(bench: Bench, place: Installation) -> float:
    if place.server is None or bench.cluster.pid is None:
        raise SetupError("there is no server to measure")
    return own_usage(place.server.pid).cpu + tree_usage(bench.cluster.pid).cpu


async def lay_schedules(place: Installation, name: str, size: int, at: datetime, spread: float) -> None:
    definition = ScheduleDefinition(name="NAME", task=TASK, rules=[Rule(every="30d", anchor=at)])
    text = msgspec.json.encode(definition).decode()
    await place.probe.fetch("schedules_lay", size, name, TASK, text, at, spread)
