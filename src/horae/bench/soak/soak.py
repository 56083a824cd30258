"""The run: an installation whose days are short, the load on it, and somebody who watches.

DAYS midnights pass, however long the run is. In the first WARM_UP of them nothing is as old as retention asks, so the
tables grow as they must; they and whatever else grows only at first are left out of the judgement. At the end the load
stops, and every job that was submitted must end.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

import asyncpg
import msgspec

from horae.bench.figures import rounded
from horae.bench.installation import Installation, cluster, installation
from horae.bench.measuring import circumstances, versions
from horae.bench.probe import Probe
from horae.bench.progress import Screen
from horae.bench.soak.acts import APP
from horae.bench.soak.days import RETENTION_DAYS, Days, passing_days
from horae.bench.soak.load import finish, loaded, open_client, prepare
from horae.bench.soak.report import Report, Watched
from horae.bench.soak.requests import QUEUES
from horae.bench.soak.series import Sample, Series, at_usual_pace, latencies, paces, rates, to_series
from horae.bench.soak.tally import Tally
from horae.bench.soak.watching import CPU, WAL, WORK, Watch, watch
from horae.client.client import AsyncClient
from horae.model.errors import HoraeError, SetupError
from horae.testing.clocks import COMPILER, SettableClock, find_compiler
from horae.testing.database import temporary_folder

DAYS: Final = 15
WARM_UP: Final = RETENTION_DAYS + 1
LOOKS: Final = 900
"""So many at most, and not more often than once a second."""
END_SECONDS: Final = 120.0
"""For jobs to end when no more come: the longest is due in twenty seconds, and a dead worker's wait for its lease."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    seconds: float
    rate: float
    """Jobs a second of the bulk submits."""
    slots: int = 2

    @property
    def day(self) -> float:
        return self.seconds / DAYS

    @property
    def look(self) -> float:
        return max(self.seconds / LOOKS, 1.0)


async def soak(plan: Plan, screen: Screen, keep: Callable[[Report], None]) -> Report:
    """`keep` gets the report as soon as there is one: what ends after it may fail."""
    compiler = find_compiler()
    if compiler is None:
        raise SetupError(f"for days that pass in minutes, a soak needs {COMPILER}")
    with temporary_folder() as folder:
        clock = SettableClock(compiler, folder)
        async with cluster(clock.prefix) as running, installation(running, retention_days=str(RETENTION_DAYS)) as place:
            report = await _run(plan, place, clock, screen)
            keep(report)
    return report


async def _run(plan: Plan, place: Installation, clock: SettableClock, screen: Screen) -> Report:
    facts = msgspec.to_builtins(plan) | circumstances()
    client = open_client(place)
    try:
        await prepare(place, client)
        runs = ("--app", APP, "--queues", ",".join(QUEUES))
        agent = await place.start_worker(plan.slots, runs=runs)
        await place.until_joined()
        tally, samples = Tally(), list[Sample]()
        async with passing_days(place, clock) as days:
            broken, left = "", 0
            try:
                async with loaded(place, client, plan.rate, tally) as calm, _watched(plan, place, agent.pid, samples):
                    await _last(plan, place, days, calm, tally, screen)
                left = await _end(place, client, screen)
            except (HoraeError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
                broken = f"{tally.now():.0f} s: {error!r}"
    finally:
        await client.close()
    return Report(
        settings=facts,
        versions=versions(),
        series=[_judged(each, plan) for each in _all_series(samples, tally, plan)],
        done=dict(tally.done),
        failed=dict(tally.failed),
        left_out=dict(tally.left_out),
        examples=tally.examples,
        days={"passed": days.passed, "made": days.made, "dropped": days.dropped, "tried_again": days.tried_again},
        left_over=left,
        broken=broken,
    )


@asynccontextmanager
async def _watched(plan: Plan, place: Installation, agent: int, samples: list[Sample]) -> AsyncIterator[None]:
    probe = await Probe.open(place.dsn)
    watching = asyncio.create_task(watch(Watch(place, probe, agent), plan.look, samples))
    try:
        yield
        if watching.done():
            watching.result()
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
        await probe.close()


async def _last(plan: Plan, place: Installation, days: Days, calm: asyncio.Lock, tally: Tally, screen: Screen) -> None:
    """The time itself. A program that dies ends it."""
    passing = asyncio.create_task(days.run(plan.day, calm, tally))
    try:
        with screen.step("under load", plan.seconds) as step:
            while (now := tally.now()) < plan.seconds:
                step.reach(now)
                place.check()
                if passing.done():
                    passing.result()
                await asyncio.sleep(1)
    finally:
        passing.cancel()
        await asyncio.gather(passing, return_exceptions=True)


async def _end(place: Installation, client: AsyncClient, screen: Screen) -> int:
    """How many jobs have not ended although nothing more came: none, if all is well."""
    await finish(client)
    deadline = time.monotonic() + END_SECONDS
    with screen.step("the last jobs end"):
        while left := await place.probe.value("left_over"):
            if time.monotonic() > deadline:
                break
            await asyncio.sleep(0.5)
    return int(left)


def _all_series(samples: list[Sample], tally: Tally, plan: Plan) -> list[Series]:
    found = to_series(samples)
    seen = [each for each in found if each.family not in {CPU, WAL, WORK}]
    pace = paces([point for each in found if each.family == WORK for point in each.points])
    cpu = [at_usual_pace(rates(each, each.name, "% of a core", 100), pace) for each in found if each.family == CPU]
    wal = [rates(each, each.name, "MB/s") for each in found if each.family == WAL]
    # A quarter of a day: at five a second enough for a 99th percentile once a day lasts minutes.
    return [
        *(at_usual_pace(each, pace) for each in latencies(tally.waits, max(plan.day / 4, 1.0))),
        *seen,
        pace,
        *(msgspec.structs.replace(each, family="processor time") for each in cpu),
        *(msgspec.structs.replace(each, family="log") for each in wal),
    ]


def _judged(series: Series, plan: Plan) -> Watched:
    points = [(rounded(at), rounded(value)) for at, value in series.points]
    return Watched(series.family, series.name, series.unit, series.judged(WARM_UP * plan.day), points)
