"""One seed after another: a fresh world, a calm phase, fire, quiet, drain, and the judgement."""

import asyncio
import math
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from faults.effects import read_runs
from faults.service import Service
from horae.model.errors import HoraeError
from horae.store.safety import Connection
from horae.testing.waiting import wait_for

from . import PYTHONPATH, history, journals, trail, truth
from .case import CALM, FIRE, PHASE, QUIET, WELL, Case, Violation
from .checkers import judge
from .faults import FAULTS
from .faults.clocks import CLOCK, DATABASE_STEPS
from .history import Call, End, History
from .listeners import listening
from .menu import LIMITS, references_in
from .plan import Strike, make_plan
from .summary import FAULT, WORDS, Summary, summed_up
from .workload import Workload
from .world import World, running_world

STRIKERS: Final = 4
"""How many faults strike at the same time."""
SECONDS_A_FAULT: Final = 0.8
CALM_SECONDS: Final = 4.0
FLOOD_SECONDS: Final = 8.0
DRAIN_SECONDS: Final = 90.0
"""Within which all must have ended when nothing is wrong any more; where a bug was planted, it is a third of that."""
CATCH_UP_SECONDS: Final = 30.0
"""Within which schedules tick again when all is well."""
LEASE_SECONDS: Final = 6.0
LISTENERS: Final = 6
APP: Final = "chaos.jobs:app"
LEFT: Final = """
select count(*) from (
    select from timer union all select from ready union all select from lease union all select from blocked
    union all select from bulk_action where state = 'running') left_over
"""

Tell = Callable[[str], None]


class Order(msgspec.Struct, kw_only=True):
    """What a campaign is told."""

    seeds: Sequence[int]
    jobs: int
    """By each seed."""
    faults: int
    """By each seed."""
    only: Sequence[str] = ()
    """Faults; left out: all that can be done here."""
    planted: str | None = None
    servers: int = 2
    workers: int = 2


def possible() -> dict[str, float]:
    """The faults that can be done here, with their weights."""
    return {name: getattr(fault, "weight", 1.0) for name, fault in FAULTS.items() if missing(name) is None}


def missing(fault: str) -> str | None:
    """Why a fault cannot be done here."""
    return getattr(FAULTS[fault], "missing", None)


def planned(order: Order, seed: int) -> list[Strike]:
    weights = possible()
    if order.only:
        weights = {name: weights[name] for name in order.only}
    return make_plan(seed, weights, order.faults, order.faults * SECONDS_A_FAULT)


async def run_seed(order: Order, seed: int, folder: Path, tell: Tell) -> Summary:
    began = time.monotonic()
    record = History(folder / "history.jsonl")
    try:
        async with AsyncExitStack() as stack:
            world = await stack.enter_async_context(_world(order, folder))
            chance = random.Random(seed)
            workload = await stack.enter_async_context(Workload(world.urls, world.admin_key, record, chance))
            trial = Trial(world, workload, record, tell)
            service = await stack.enter_async_context(Service(seed))
            await trial.calm(order.jobs // 20, service.url)
            await trial.fire(planned(order, seed), order.jobs - order.jobs // 20, chance)
            drained = await trial.quiet(DRAIN_SECONDS if order.planted is None else DRAIN_SECONDS / 3)
            case = await collect(world, folder)
    finally:
        record.close()
    case.well_at, case.cursors, case.tracebacks = trial.well_at, trial.cursors, trial.tracebacks
    tell("judging")
    judging = time.monotonic()
    summary = summed_up(case, seed, trial.troubles + judge(case))
    summary.judged_seconds = time.monotonic() - judging
    summary.seconds, summary.drain_seconds, summary.planted = time.monotonic() - began, drained, order.planted
    summary.failpoints, summary.well_seconds = reached(folder), trial.well_seconds
    return summary


def _world(order: Order, folder: Path):  # type: ignore[no-untyped-def]
    environ = {
        "EFFECTS": str(folder / "effects"),
        "PYTHONPATH": PYTHONPATH,
        "HORAE_ALLOW_NETWORKS": "127.0.0.1/32",
        "HORAE_LEASE_SECONDS": f"{LEASE_SECONDS:g}",
        "HORAE_FAILPOINTS_REACHED": str(folder / "reached"),
    }
    return running_world(
        folder, servers=order.servers, workers=order.workers, app=APP, environ=environ, planted=order.planted
    )


class Trial:
    def __init__(self, world: World, workload: Workload, record: History, tell: Tell) -> None:
        self._world = world
        self._workload = workload
        self._record = record
        self._tell = tell
        self.troubles: list[Violation] = []
        """What was not well again though all faults were over."""
        self.well_seconds = 0.0
        """From the end of the fire until all parts did their work again."""
        self.well_at: datetime | None = None
        self.cursors: dict[str, datetime] = {}
        self.tracebacks: list[str] = []
        """What servers wrote while nothing was wrong."""

    def _enter(self, phase: str) -> None:
        self._tell(phase)
        self._record.end(self._record.invoke("campaign", PHASE, phase=phase), End.OK)

    async def calm(self, jobs: int, service: str) -> None:
        async with truth.connected(self._world.dsn) as connection:
            await trail.record(connection)
        await self._workload.prepare(service)
        self._enter(CALM)
        since = journals.lengths(self._world.folder)
        await self._workload.run(jobs, CALM_SECONDS)
        self.tracebacks += journals.tracebacks(self._world.folder, since)

    async def fire(self, plan: Sequence[Strike], jobs: int, chance: random.Random) -> None:
        """The load goes on until the last fault is over."""
        self._enter(FIRE)
        over = asyncio.Event()
        began = time.monotonic()
        seconds = plan[-1].at if plan else CALM_SECONDS
        waiting = list(reversed(plan))
        async with listening(self._world.urls, self._world.admin_key, LISTENERS, chance):
            load = asyncio.create_task(self._workload.run(jobs, seconds, over))
            flood = asyncio.create_task(self._flood(chance.uniform(0, seconds)))
            try:
                await asyncio.gather(*(self._strike_all(waiting, began, len(plan)) for _ in range(STRIKERS)))
            finally:
                over.set()
            await asyncio.gather(load, flood)

    async def _flood(self, after: float) -> None:
        await asyncio.sleep(after)
        await self._workload.flood(FLOOD_SECONDS)

    async def _strike_all(self, waiting: list[Strike], began: float, total: int) -> None:
        while waiting:
            strike = waiting.pop()
            await asyncio.sleep(max(0.0, began + strike.at - time.monotonic()))
            self._tell(f"fire {total - len(waiting)}/{total}: {strike.fault}")
            await self._strike(strike)

    async def _strike(self, strike: Strike) -> None:
        number = self._record.invoke("campaign", FAULT, fault=strike.fault, seed=strike.seed)
        try:
            await FAULTS[strike.fault].strike(self._world, random.Random(strike.seed))
        except Exception as error:  # noqa: BLE001 - the report counts it, and the others must have their turn
            self._record.end(number, End.FAILED, why=f"{type(error).__name__}: {error}"[:WORDS])
        else:
            self._record.end(number, End.OK)

    async def quiet(self, patience: float) -> float | None:
        """Seconds from the end of the fire until all jobs had ended; None if they have not."""
        self._enter(QUIET)
        began = time.monotonic()
        await self._well_again(self._world.quiet())
        self.well_seconds = time.monotonic() - began
        await self._well_again(self._workload.take_submits())
        self._enter(WELL)
        since = journals.lengths(self._world.folder)
        await self._workload.ask_again()
        await self._caught_up()
        await self._well_again(self._workload.stop_schedules())
        self._tell("draining")
        try:
            return await self._drained(began, patience)
        finally:
            self.tracebacks += journals.tracebacks(self._world.folder, since)
            self.troubles += [Violation("recovery", words) for part in self._world.parts for words in part.failures]

    async def _drained(self, began: float, patience: float) -> float | None:
        async with truth.connected(self._world.dsn) as connection:
            try:
                await wait_for(lambda: _empty(connection), patience, interval=0.2)
            except AssertionError:
                return None
        seconds = time.monotonic() - began
        await self._workload.read_large()
        return seconds

    async def _caught_up(self) -> None:
        """Whether every schedule has ticked since, its checker says. To stop one takes it up to now."""
        async with truth.connected(self._world.dsn) as connection:
            well_at = self.well_at = await truth.now(connection)

            async def all_have() -> bool:
                self.cursors = await truth.cursors(connection)
                return all(cursor >= well_at for cursor in self.cursors.values())

            with suppress(AssertionError):
                await wait_for(all_have, CATCH_UP_SECONDS, interval=0.2)

    async def _well_again(self, step: Awaitable[object]) -> None:
        try:
            await step
        except (AssertionError, TimeoutError, OSError, HoraeError) as error:
            self.troubles.append(Violation("recovery", f"not well when all was quiet: {type(error).__name__} {error}"))


async def _empty(connection: Connection) -> bool:
    return await connection.fetchval(LEFT) == 0


async def collect(world: World, folder: Path) -> Case:
    case = Case(
        calls=history.read(folder / "history.jsonl"),
        runs=read_runs(folder / "effects"),
        freezes=list(world.freezes),
        limits=LIMITS,
        lease_seconds=LEASE_SECONDS,
        stale=truth.stale_in(folder),
    )
    case.repeated = Counter(references_in(b"\n".join(world.sent_again)))
    case.astray = [astray(call) for call in case.calls if call.name == FAULT and call.asked["fault"] == CLOCK]
    await truth.read_truth(world.dsn, case)
    return case


def astray(strike: Call) -> tuple[float, float]:
    """From the furthest that the clock can show of before, to when each lease was renewed by the right one."""
    furthest = max(DATABASE_STEPS).total_seconds()
    until = math.inf if strike.ended_at is None else strike.ended_at
    return strike.invoked_at - furthest, until + furthest + 2 * LEASE_SECONDS


def reached(folder: Path) -> list[str]:
    """The failpoints that some process came by."""
    return sorted({line for path in folder.glob("reached*") for line in path.read_text().split()})
