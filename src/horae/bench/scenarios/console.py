"""The console over a full store: how long its pages take on the server, and what an open tab costs the browser.

The store is laid by SQL: pending jobs of many tenants that no worker serves, jobs that have ended (SHARE_ENDED of a
hundred for each hundred pending), the sums of a busy day, schedules. Then RATE jobs a second are submitted, at
instants fixed beforehand and over all tenants in turn, and a worker runs them off. Meanwhile the pages are asked for
in turn: the requests that a page makes go out at once, as from a browser that is signed in, and the page has its time
when the last of them is answered. A list that is not full after one answer asks on, as the page does.

With Chromium and the package playwright there, two pages are then open in a tab under the same load (`tabs`), and at
last left open for long under little of it: what a tab gathers comes with each pulse, of which there is one a second
under any load, and a server that answers at once lets more of them pass.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Final

from horae.bench.bench import NDJSON, Bench
from horae.bench.figures import Chart, distribution, percentile
from horae.bench.generator import post, send_at
from horae.bench.installation import Installation
from horae.bench.pages import Things, pages
from horae.bench.probe import Probe
from horae.bench.progress import Step
from horae.bench.scenarios.burdens import LAYER, READY_SHARE, UNSERVED
from horae.bench.scenarios.cron import lay_schedules
from horae.bench.scenarios.tabs import can_look, leave_tabs_open, look_at_tabs
from horae.bench.visitor import visitor
from horae.model.definition import ScheduleDefinition
from horae.wire.gates import GateCreate
from horae.wire.limits import LimitPut

RATE: Final = 5000
"""Jobs a second, each of which is submitted, started and ended."""
TRICKLE: Final = 100
TICK: Final = 0.05
SERVED: Final = "bench.noop"
SHARE_ENDED: Final = 20
SHARE_FAILED: Final = 2
DAY: Final = 86_400.0
SCHEDULES: Final = 10_000
TIMES_OF_DAY: Final = 200
LINES: Final = 1000
SCHEDULE: Final = "often"
LIMIT: Final = "unserved"
SHOWN: Final = 6
SUBMITTING: Final = 4


async def console(bench: Bench) -> None:
    bench.notes.settings["mix"] = (
        f"{READY_SHARE} % ready, the others due in 1 to 30 days; beside them {SHARE_ENDED} % as many that have ended, "
        f"and {RATE:,} more a second that run"
    )
    async with bench.installation() as place:
        await place.stop_server()
        await _lay(bench, place)
        await place.start_server()
        await _set_policy(place)
        await place.start_worker(bench.settings.slots)
        await place.until_joined()
        seen = can_look(bench)
        began = await place.probe.now()
        async with _flow(bench, place, RATE):
            await _measure_pages(bench, place)
            if seen:
                await look_at_tabs(bench, place)
        window = (await place.probe.fetch("outcome_window", began))[0]
        bench.notes.figure("flow", [window["rows"] / max(window["seconds"] or 0, 1e-9)], "jobs/s")
        if seen:
            async with _flow(bench, place, TRICKLE):
                await leave_tabs_open(bench, place)
        place.check()


# The store.


async def _lay(bench: Bench, place: Installation) -> None:
    settings, probe = bench.settings, place.probe
    await probe.fetch("tenants_make", settings.tenants)
    lanes = {task: await probe.fetch("lanes_make", task) for task in (UNSERVED, SERVED)}
    ids = {task: [row["id"] for row in rows] for task, rows in lanes.items()}
    tenants = [row["tenant_id"] for row in lanes[SERVED]]
    with bench.screen.step(f"laying {settings.pending:,} pending jobs", settings.pending) as step:
        await _in_layers(place, settings.pending, step, "backlog_lay", lambda _: (READY_SHARE, ids[UNSERVED], tenants))
    ended = max(settings.pending * SHARE_ENDED // 100, 100)
    stretch = DAY * min(LAYER, ended) / ended
    with bench.screen.step(f"laying {ended:,} jobs that have ended", ended) as step:
        await _in_layers(
            place, ended, step, "ended_lay",
            lambda laid: (SHARE_FAILED, ids[SERVED], tenants, DAY * (1 - laid / ended), stretch),
        )  # fmt: skip
    with bench.screen.step("laying sums and schedules"):
        await probe.fetch("sums_lay", tenants, SERVED)
        await _lay_schedules(place, max(min(SCHEDULES, settings.pending // 100), 1))
    with bench.screen.step("settling: vacuum and checkpoint"):
        await probe.fetch("vacuum_all")
        await probe.fetch("checkpoint")


async def _lay_schedules(place: Installation, schedules: int) -> None:
    """So many, at as many times of the day as people choose."""
    begin, times = datetime.now(UTC) + timedelta(hours=2), min(TIMES_OF_DAY, schedules)
    for number in range(times):
        at = begin + timedelta(days=1) * number / times
        await lay_schedules(place, f"nightly-{number}", schedules // times, at, DAY)


async def _in_layers(
    place: Installation, jobs: int, step: Step, query: str, rest: Callable[[int], tuple[object, ...]]
) -> None:
    """Over two connections, because it takes long. `rest` gives the query's arguments after the number of jobs."""
    starts = iter(range(0, jobs, LAYER))

    async def lay() -> None:
        probe = await Probe.open(place.dsn)
        try:
            for laid in starts:
                await probe.fetch(query, min(LAYER, jobs - laid), *rest(laid))
                step.reach(laid + LAYER)
        finally:
            await probe.close()

    await asyncio.gather(lay(), lay())


async def _set_policy(place: Installation) -> None:
    """Limits and gates that hold nothing back, one for jobs that no worker has anyway, a schedule with many ticks."""
    with place.client() as client:
        for number in range(10):
            wanted = LimitPut(queue=f"other-{number}", max_running=number + 1)
            await asyncio.to_thread(client.put_limit, f"other-{number}", wanted)
            await asyncio.to_thread(client.create_gate, GateCreate(reason="bench", queue=f"other-{number}"))
        await asyncio.to_thread(client.put_limit, LIMIT, LimitPut(task=UNSERVED, max_running=10))
        often = ScheduleDefinition(name=SCHEDULE, task=SERVED, every="5s")
        await asyncio.to_thread(client.schedules.create, often)


async def _look_around(place: Installation) -> Things:
    probe = place.probe
    ended = await probe.value("one_ended", "succeeded")
    await probe.fetch("log_lay", ended, LINES)
    return Things(
        waiting=await probe.value("one_waiting"),
        scheduled=await probe.value("one_scheduled"),
        succeeded=ended,
        failed=await probe.value("one_ended", "failed"),
        worker=await probe.value("one_worker"),
        task=SERVED,
        queue="default",
        tenant="bench-1",
        schedule=SCHEDULE,
        cause="bench0",
        limit=LIMIT,
    )


# The load.


@asynccontextmanager
async def _flow(bench: Bench, place: Installation, rate: float) -> AsyncIterator[None]:
    """Jobs come and run, until the end of the block."""
    plan = _plan(place.key, bench.settings.tenants, rate)
    load = asyncio.create_task(send_at(place.url, plan, SUBMITTING))
    try:
        yield
        if load.done():
            load.result()
    finally:
        load.cancel()
        with suppress(asyncio.CancelledError):
            await load


def _plan(key: str, tenants: int, rate: float) -> Iterator[tuple[float, bytes]]:
    """The next batch each TICK, for as long as somebody asks; over the tenants in turn."""
    jobs = [b'{"task":"%s","tenant":"bench-%d"}' % (SERVED.encode(), 1 + number) for number in range(tenants)]
    size, start = round(rate * TICK), time.monotonic()
    for tick in count():
        batch = [jobs[(tick * size + number) % tenants] for number in range(size)]
        yield start + tick * TICK, post("/v1/jobs/bulk", key, b"\n".join(batch), NDJSON)


# The pages.


async def _measure_pages(bench: Bench, place: Installation) -> None:
    asked, turns = pages(await _look_around(place)), bench.settings.jobs
    times: dict[str, list[float]] = {page.name: [] for page in asked}
    async with visitor(place) as someone:
        with bench.screen.step(f"asking for {len(asked)} pages", turns) as step:
            for turn in range(turns):
                for page in asked:
                    times[page.name].append(await someone.open(page))
                step.reach(turn + 1)
    worst = max(times, key=lambda name: percentile(times[name], 0.99))
    bench.notes.settings["worst_page"] = worst
    bench.notes.figure("page_p99", [percentile([each for found in times.values() for each in found], 0.99)], "ms")
    bench.notes.figure("worst_page_p99", [percentile(times[worst], 0.99)], "ms")
    for name, found in times.items():
        bench.notes.figure(f"{name}_p50", [percentile(found, 0.5)], "ms")
        bench.notes.figure(f"{name}_p99", [percentile(found, 0.99)], "ms")
    slow = sorted(times, key=lambda name: percentile(times[name], 0.99), reverse=True)[:SHOWN]
    lines = {name: distribution(times[name]) for name in slow}
    bench.notes.charts.append(Chart("the slowest pages", "ms", "share of samples", lines))
