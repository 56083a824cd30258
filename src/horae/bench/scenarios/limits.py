"""Limits: many concurrency keys, each a mutex, over three servers; what they cost, and whether they hold.

The keys are drawn by Zipf's law, so that some are wanted all the time and most hardly ever. Rounds without and with
keys alternate, the jobs being the same otherwise. The rate is that at which the first EARLY of the jobs ended: what
remains then waits for a few keys only, one job after another, and says nothing about the cost of the limit.

Whether the limits hold is seen by a recorder that Horae has no part in: each job writes down which key it held, from
when to when by the clock that all processes of the machine share, and the records are laid over each other afterwards.
"""

import random
from collections import defaultdict
from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from horae.bench.bench import Bench, submit_bulk, until_ended
from horae.bench.figures import Chart
from horae.bench.installation import Installation
from horae.model.errors import SetupError

SERVERS: Final = 3
HOLD_SECONDS: Final = 0.001
EARLY: Final = 0.8
SPAN: Final = 0.25
SEED: Final = 8420


class Leg(NamedTuple):
    rate: float
    most: int
    """How many jobs held one key at once."""
    curve: list[tuple[float, float]]


async def limits(bench: Bench) -> None:
    keys = draw_keys(bench.settings.lanes, bench.settings.jobs)
    pairs = []
    async with bench.installation() as place:
        urls = [place.url, *[await place.start_peer() for _ in range(SERVERS - 1)]]
        for number in range(1, bench.settings.rounds + 1):
            free = await _leg(bench, place, urls, f"round {number}, without", keys, limited=False)
            pairs.append((free, await _leg(bench, place, urls, f"round {number}, with", keys, limited=True)))
    notes = bench.notes
    notes.figure("share", [100 * held.rate / free.rate for free, held in pairs], "%")
    notes.figure("rate_without", [free.rate for free, _ in pairs], "jobs/s")
    notes.figure("rate_with", [held.rate for _, held in pairs], "jobs/s")
    notes.figure("most_at_once", [held.most for _, held in pairs], "jobs")
    notes.figure("most_at_once_without", [free.most for free, _ in pairs], "jobs")
    lines = {"without": pairs[-1][0].curve, "with": pairs[-1][1].curve}
    notes.charts.append(Chart("limits, last round", "seconds", "jobs/s", lines))


def draw_keys(count: int, jobs: int) -> list[str]:
    """The keys of so many jobs: the nth key is drawn n times less often than the first."""
    weights = list(accumulate(1 / number for number in range(1, count + 1)))
    draws = random.Random(SEED).choices(range(count), cum_weights=weights, k=jobs)
    return [f"key-{number}" for number in draws]


async def _leg(bench: Bench, place: Installation, urls: list[str], name: str, keys: list[str], *, limited: bool) -> Leg:
    folder = place.folder / name.replace(" ", "-")
    folder.mkdir()
    ended = await place.probe.value("outcome_count")
    with bench.screen.step(f"{name}: submitting {len(keys):,} jobs"):
        await submit_bulk(place, [_job(folder, key, limited=limited) for key in keys], bench.settings.batch)
    began = await place.probe.now()
    with bench.screen.step(f"{name}: running {len(keys):,} jobs over {len(urls)} servers", ended + len(keys)) as step:
        for number, url in enumerate(urls):
            await place.start_worker(bench.settings.slots, f"bench-{number}", url)
        await until_ended(place, ended + len(keys), step)
        await place.stop_workers()
    seconds = (await place.probe.fetch("time_to_share", began, EARLY))[0]["seconds"]
    curve = [(row["span"] * SPAN, row["rows"] / SPAN) for row in await place.probe.fetch("outcome_rate", began, SPAN)]
    return Leg(EARLY * len(keys) / max(seconds, 1e-9), most_at_once(_records(folder, len(keys))), curve)


def _job(folder: Path, key: str, *, limited: bool) -> bytes:
    job: dict[str, object] = {
        "task": "bench.hold",
        "params": {"folder": str(folder), "key": key, "seconds": HOLD_SECONDS},
    }
    return msgspec.json.encode(job | {"concurrency_key": key} if limited else job)


def _records(folder: Path, jobs: int) -> list[tuple[str, int, int]]:
    lines = [line.split() for file in folder.glob("*.held") for line in file.read_text().splitlines()]
    if len(lines) != jobs:
        raise SetupError(f"{jobs} jobs ran and {len(lines)} records were written: this measures nothing")
    return [(key, int(first), int(last)) for key, first, last in lines]


def most_at_once(records: Iterable[tuple[str, int, int]]) -> int:
    """The most jobs that held one key at the same time."""
    changes: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for key, first, last in records:
        # At the same instant a start counts before an end: the recorder shall rather see too much.
        changes[key] += [(first, -1), (last, 1)]
    return max((max(accumulate(-change for _, change in sorted(one))) for one in changes.values()), default=0)
