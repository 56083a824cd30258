"""Lanes: what a great many lanes of a great many tenants cost dispatch.

Three databases on one PostgreSQL, each with a server only while it is measured, drained in turn:

- *simple*: one lane of one tenant;
- *beside*: the same, while all the other lanes have jobs ready that no worker has the task of. The server knows of
  every one of these lanes, and they compete for nothing;
- *through*: nothing but the many lanes, all of them for the worker that is there, and all tenants in turn.

A round begins when the server knows its lanes and has counted what waits, which it does every few minutes: what it and
PostgreSQL spend on that after a start is not the price of a job.

At the end jobs of the third are asked why they wait, while a worker runs others.

A tenant's lanes differ by their queue; the queues have the same names with all tenants.
"""

import asyncio
import time
from collections.abc import Sequence
from typing import Final

from horae.bench.bench import Bench
from horae.bench.figures import Chart
from horae.bench.installation import Installation
from horae.bench.scenarios.burdens import LAYER, UNSERVED, serving
from horae.bench.scenarios.drain import Drained, drain_once, run_off
from horae.bench.usage import own_usage, tree_usage
from horae.model.errors import SetupError

SERVED: Final = "bench.noop"
EXPLAINED: Final = 200
REST_SECONDS: Final = 2.0
REST_SHARE: Final = 0.1
"""Of a processor. A server that uses less, and its PostgreSQL, have nothing to learn any more."""
START_SECONDS: Final = 90.0
"""They are not waited for any longer."""


async def lanes(bench: Bench) -> None:
    bench.notes.settings["mix"] = "all ready, in lanes of many tenants"
    async with (
        bench.installation("simple") as simple,
        bench.installation("beside") as beside,
        bench.installation("through") as through,
    ):
        for place in (simple, beside, through):
            await place.stop_server()
        await _lay(bench, beside, UNSERVED)
        await _lay(bench, through, SERVED)
        rounds = [
            [
                await _simple(bench, simple, f"round {number}, simple"),
                await _simple(bench, beside, f"round {number}, beside"),
                await _through(bench, through, f"round {number}, through"),
            ]
            for number in range(1, bench.settings.rounds + 1)
        ]
        # A worker may have run more than it was asked for before it was stopped: all, if there were few.
        if waited := await _explain(bench, through):
            bench.notes.percentiles("explain", [waited], "ms")
    names = ("simple", "beside", "through")
    for place_number, name in enumerate(names[1:], 1):
        bench.notes.figure(f"cost_{name}", [100 * (1 - row[place_number].rate / row[0].rate) for row in rounds], "%")
    for place_number, name in enumerate(names):
        bench.notes.figure(f"rate_{name}", [row[place_number].rate for row in rounds], "jobs/s")
    for place_number, name in enumerate(names):
        for part in rounds[0][place_number].usage:
            cpu = [row[place_number].usage[part].cpu / row[place_number].jobs * 1e6 for row in rounds]
            bench.notes.figure(f"cpu_{part}_{name}", cpu, "µs/job")
    curves = {name: one.curve for name, one in zip(names, rounds[-1], strict=True)}
    bench.notes.charts.append(Chart("lanes, last round", "seconds", "jobs/s", curves))


async def _lay(bench: Bench, place: Installation, task: str) -> None:
    settings, probe = bench.settings, place.probe
    await probe.fetch("tenants_make", settings.tenants)
    made = await probe.fetch("lanes_spread", task, settings.lanes)
    ids, tenants = [row["id"] for row in made], [row["tenant_id"] for row in made]
    with bench.screen.step(f"laying {settings.pending:,} jobs into {len(ids):,} lanes", settings.pending) as step:
        for laid in range(0, settings.pending, LAYER):
            await probe.fetch("backlog_lay", min(LAYER, settings.pending - laid), 100, ids, tenants)
            step.reach(laid + LAYER)
    # In this order: after a checkpoint the first change to a page writes all of it to the log. A backlog that has been
    # worked on for some minutes has paid for that, and one just laid would pay for it with nearly every job.
    with bench.screen.step("settling: checkpoint and vacuum"):
        await probe.fetch("checkpoint")
        await probe.fetch("vacuum_all")


async def _simple(bench: Bench, place: Installation, name: str) -> Drained:
    async with serving(place):
        await _until_at_rest(place)
        return await drain_once(place, bench.settings, bench.screen, name)


async def _through(bench: Bench, place: Installation, name: str) -> Drained:
    settings = bench.settings
    if await place.probe.value("unfinished") < 2 * settings.jobs:
        raise SetupError("the backlog would run off within the round: give more with --pending, or fewer --jobs")
    async with serving(place):
        await _until_at_rest(place)
        wal = await place.probe.value("wal")
        return await run_off(place, settings, bench.screen, name, settings.jobs, wal, all_of_them=False)


async def _until_at_rest(place: Installation) -> None:
    """Until the server, just started, has got to know its lanes."""
    deadline = time.monotonic() + START_SECONDS
    used, spent = _used(place), 1.0
    while spent > REST_SHARE * REST_SECONDS and time.monotonic() < deadline:
        await asyncio.sleep(REST_SECONDS)
        before, used = used, _used(place)
        spent = used - before


def _used(place: Installation) -> float:
    """Seconds of processor time."""
    server = 0.0 if place.server is None else own_usage(place.server.pid).cpu
    return server + (0.0 if place.cluster.pid is None else tree_usage(place.cluster.pid).cpu)


async def _explain(bench: Bench, place: Installation) -> list[float]:
    async with serving(place):
        ids = [row["id"] for row in await place.probe.fetch("waiting_sample", EXPLAINED)]
        await place.start_worker(bench.settings.slots)
        await place.until_joined()
        with bench.screen.step(f"asking {len(ids)} jobs why they wait"):
            waited = await asyncio.to_thread(_ask, place, ids)
        await place.stop_workers()
    return waited


def _ask(place: Installation, ids: Sequence[str]) -> list[float]:
    waited = []
    with place.client() as client:
        for job_id in ids:
            began = time.monotonic()
            client.explain(job_id)
            waited.append((time.monotonic() - began) * 1e3)
    return waited
