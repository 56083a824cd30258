"""Fairness: what each tenant gets when some want all.

First, *waits*: one tenant has a mass of jobs waiting, and the others submit one job a second each, at instants fixed
beforehand (an open loop: a slow answer does not delay the next request). How long each job waited is told by the job
itself, from the instant at which it was to be submitted to the start of its body.

Then, *shares*: a few tenants of different weights all have more jobs than can run, of different durations. What each
got is the time that its jobs spent in their bodies, from the start on: the server does not know how long they take
until some have run, and makes up for it. It is compared with the weights: `deviation` is the furthest that a tenant is
from its due, in percent of that; Jain's index is 1 when all are served alike in proportion to their weights, and 1/n
when one gets everything.
"""

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

import msgspec

from horae.bench.bench import NDJSON, Bench, submit_bulk
from horae.bench.figures import Chart
from horae.bench.generator import post, send_at
from horae.bench.installation import Installation
from horae.bench.settings import Settings
from horae.model.errors import SetupError
from horae.wire.access import TenantCreate

FLOODING: Final = "bench-1"
TICK: Final = 0.02
"""Jobs that are due within one tick go into one request."""
GRACE: Final = 60.0
"""How long the last jobs may take to end: what they waited they tell themselves."""
SLOTS: Final = 8
SPAN: Final = 0.5


class Sharer(NamedTuple):
    tenant: str
    weight: float
    seconds: float
    """How long each of its jobs runs."""


SHARERS: Final = (Sharer("sharer-a", 1, 0.005), Sharer("sharer-b", 2, 0.020), Sharer("sharer-c", 4, 0.010))

Intervals = Mapping[str, Sequence[tuple[int, int]]]
"""From when to when each of a tenant's jobs ran, monotonic nanoseconds."""


async def fairness(bench: Bench) -> None:
    rounds = range(1, bench.settings.rounds + 1)
    async with bench.installation("waits") as place:
        await place.probe.fetch("tenants_make", bench.settings.tenants)
        waits = [await _quiet_round(bench, place, f"round {number}") for number in rounds]
    bench.notes.percentiles("wait", waits, "ms")
    async with bench.installation("shares") as place:
        await _make_sharers(place)
        shared = [await _shares_round(bench, place, f"round {number}") for number in rounds]
    parts = [{sharer.tenant: _worker_seconds(ran[sharer.tenant]) for sharer in SHARERS} for ran in shared]
    bench.notes.figure("deviation", [deviation(part) for part in parts], "%")
    bench.notes.figure("jain", [jain([part[one.tenant] / one.weight for one in SHARERS]) for part in parts], "of 1")
    lines = {f"weight {one.weight:g}": curve(shared[-1][one.tenant]) for one in SHARERS}
    bench.notes.charts.append(Chart("fairness, last round", "seconds", "worker-seconds", lines))


# Waits.


async def _quiet_round(bench: Bench, place: Installation, name: str) -> list[float]:
    settings = bench.settings
    with bench.screen.step(f"{name}: one tenant floods up to {settings.pending:,} jobs"):
        missing = settings.pending - await place.probe.value("unfinished")
        job = b'{"task":"bench.noop","tenant":"%s"}' % FLOODING.encode()
        await submit_bulk(place, [job] * max(missing, 1), settings.batch)
    await place.start_worker(settings.slots)
    await place.until_joined()
    began = await place.probe.now()
    with bench.screen.step(f"{name}: {settings.tenants - 1:,} others submit a job a second each"):
        await send_at(place.url, _plan(place.key, settings), settings.connections)
        if not await place.probe.value("unfinished"):
            raise SetupError("the flood has run off before the measurement ended: give more with --pending")
        waits = await _waits(place, began, settings)
    await place.stop_workers()
    return waits


async def _waits(place: Installation, began: datetime, settings: Settings) -> list[float]:
    """Of all of them: a job that has not even started is the longest wait of all, and must not be missing."""
    expected = sum(request.count(b"bench.waited") for _, request in _plan("", settings))
    give_up = time.monotonic() + GRACE
    while True:
        rows = await place.probe.fetch("results_of", began, "bench.waited")
        if len(rows) >= expected:
            return [int(row["result"]) / 1e6 for row in rows]
        if time.monotonic() > give_up:
            left = expected - len(rows)
            raise SetupError(f"{left} of {expected} jobs had not ended {GRACE:g} s after the last submit")
        await asyncio.sleep(SPAN)


def _plan(key: str, settings: Settings) -> Iterator[tuple[float, bytes]]:
    """Every tenant but the first submits once a second, each at its own moment of the second."""
    start = time.monotonic() + TICK
    quiet = settings.tenants - 1
    for tick in range(round(settings.seconds / TICK)):
        moment = (tick * TICK) % 1.0
        chosen = range(round(moment * quiet), round((moment + TICK) * quiet))
        instant = start + tick * TICK
        job = b'{"task":"bench.waited","params":{"since":%d},"tenant":"bench-%%d"}' % (instant * 1e9)
        if chosen:
            yield instant, post("/v1/jobs/bulk", key, b"\n".join(job % (number + 2) for number in chosen), NDJSON)


# Shares.


async def _make_sharers(place: Installation) -> None:
    with place.client() as client:
        for sharer in SHARERS:
            await asyncio.to_thread(client.create_tenant, TenantCreate(name=sharer.tenant, weight=sharer.weight))


async def _shares_round(bench: Bench, place: Installation, name: str) -> Intervals:
    seconds = bench.settings.seconds
    with bench.screen.step(f"{name}: {len(SHARERS)} tenants submit more than can run"):
        for sharer in SHARERS:
            job = {"task": "bench.pause", "tenant": sharer.tenant, "params": {"seconds": sharer.seconds}}
            jobs = int(1.5 * seconds * SLOTS / sharer.seconds)
            await submit_bulk(place, [msgspec.json.encode(job)] * jobs, bench.settings.batch)
    began = await place.probe.now()
    with bench.screen.step(f"{name}: they share {SLOTS} slots for {seconds:g} s"):
        await place.start_worker(SLOTS)
        await place.until_joined()
        await asyncio.sleep(seconds)
        end = time.monotonic_ns()
        await place.stop_workers()
    ran: dict[str, list[tuple[int, int]]] = {sharer.tenant: [] for sharer in SHARERS}
    for row in await place.probe.fetch("results_of", began, "bench.pause"):
        first, last = msgspec.json.decode(row["result"], type=tuple[int, int])
        if last <= end:
            ran[row["tenant"]].append((first, last))
    return ran


def _worker_seconds(ran: Sequence[tuple[int, int]]) -> float:
    return sum(last - first for first, last in ran) / 1e9


def deviation(used: Mapping[str, float]) -> float:
    """How far the tenant furthest from its due is from it, in percent of its due."""
    whole, weights = sum(used.values()), sum(sharer.weight for sharer in SHARERS)
    dues = {sharer.tenant: whole * sharer.weight / weights for sharer in SHARERS}
    return max(abs(100 * (used[tenant] / due - 1)) for tenant, due in dues.items()) if whole else 100.0


def jain(parts: Sequence[float]) -> float:
    squares = sum(part * part for part in parts)
    return sum(parts) ** 2 / (len(parts) * squares) if squares else 0.0


def curve(ran: Sequence[tuple[int, int]]) -> list[tuple[float, float]]:
    """Worker-seconds used so far, by the time since the first start."""
    points, used, start = [(0.0, 0.0)], 0.0, min((first for first, _ in ran), default=0)
    for first, last in sorted(ran, key=lambda one: one[1]):
        used += (last - first) / 1e9
        if (at := (last - start) / 1e9) >= points[-1][0] + SPAN:
            points.append((at, used))
    return points
