"""The workloads. Each takes an entrant with no worker running, leaves it so, and gives values by figure."""

import asyncio
import random
import time
from typing import Final

from horae.bench.figures import percentile
from horae.bench.usage import Usage
from horae.model.errors import SetupError
from race.catalogue import Crew
from race.entrant import Entrant, until
from race.recovery import recovery
from race.settings import Settings
from race.traces import read_count, read_notes

Values = dict[str, float]
PATIENCE: Final = 180.0
WARM_SHARE: Final = 0.1
"""Of a drain: until then workers are still starting, and what that costs is not the price of a job."""
WARM_JOBS: Final = 20
AHEAD: Final = 5.0
DOWN: Final = 2.0
"""Seconds between the death of a worker and its return, as a supervisor would have it."""


async def single(entrant: Entrant, settings: Settings) -> Values:
    answer = await entrant.ask("single", seconds=settings.seconds)
    entrant.waiting += int(answer["jobs"]) + WARM_JOBS
    return {"single": answer["jobs"] / answer["seconds"]}


async def bulk(entrant: Entrant, settings: Settings) -> Values:
    if not entrant.peer.bulk:
        return {}
    jobs, before = settings.size(entrant.peer.jobs), entrant.usage()
    answer = await entrant.ask("bulk", jobs=jobs)
    entrant.waiting += jobs
    return {"bulk": jobs / answer["seconds"], "bulk cpu": sum(_costs(before, entrant.usage(), jobs).values())}


async def drain(entrant: Entrant, settings: Settings) -> Values:
    """All that waits; what the submissions before have not left is filled up."""
    await _fill(entrant, settings.size(entrant.peer.jobs), settings)
    jobs, entrant.waiting = entrant.waiting, 0
    return await _run_off(entrant, entrant.peer.busy, jobs, "drain")


async def ten_thousand(entrant: Entrant, settings: Settings) -> Values:
    await _fill(entrant, settings.shallow, settings)
    jobs, entrant.waiting = entrant.waiting, 0
    return await _run_off(entrant, entrant.peer.busy, jobs, "drain 10k")


async def million(entrant: Entrant, settings: Settings) -> Values:
    """Only a part of them is run; the others stand in the way, as they would."""
    await _fill(entrant, settings.deep, settings)
    part = min(settings.size(entrant.peer.jobs), entrant.waiting)
    found = await _run_off(entrant, entrant.peer.busy, part, "drain 1m", all_of_them=part == entrant.waiting)
    return {"waiting 1m": entrant.waiting, **found}


async def latency(entrant: Entrant, settings: Settings) -> Values:
    """One job at a time, with random pauses, so that no period of the peer hides or shows by chance."""
    began: dict[int, float] = {}
    entrant.forget()
    await entrant.start_workers(entrant.peer.prompt)
    await _warm_up(entrant)
    for number in range(WARM_JOBS, WARM_JOBS + settings.samples):
        await asyncio.sleep(random.uniform(0.01, 0.06))
        began[number] = (await entrant.ask("stamp", number=number))["began"]
        await _until_noted(entrant, number + 1)
    await entrant.stop_workers()
    starts = {note.number: note.at for note in read_notes(entrant.traces)}
    waits = [(starts[number] - at) / 1e6 for number, at in began.items()]
    return {"latency p50": percentile(waits, 0.5), "latency p99": percentile(waits, 0.99)}


async def due(entrant: Entrant, settings: Settings) -> Values:
    entrant.forget()
    await entrant.start_workers(entrant.peer.prompt)
    await _warm_up(entrant)
    answer = await entrant.ask("due", jobs=settings.due, ahead=AHEAD)
    if answer["spare"] < 0:
        raise SetupError(
            f"{entrant.peer.title} took longer than {AHEAD:g} s to take {settings.due} jobs for one instant"
        )
    # Whoever looks too often takes part in what he measures.
    await _until_noted(entrant, WARM_JOBS + settings.due, every=0.1)
    await entrant.stop_workers()
    lags = [(note.at - answer["due"]) / 1e6 for note in read_notes(entrant.traces)[WARM_JOBS:]]
    return {"due p99": percentile(lags, 0.99), "due last": max(lags), "due early": sum(lag < 0 for lag in lags)}


async def kill(entrant: Entrant, settings: Settings) -> Values:
    """Jobs of 20 ms; in their midst all workers are killed, and started again a little later."""
    entrant.forget()
    await entrant.ask("bulk", jobs=settings.killed, task="work")
    await entrant.start_workers(entrant.peer.safe or entrant.peer.busy)
    await _until_noted(entrant, settings.killed // 5, every=0.02)
    await entrant.kill_workers()
    killed = time.monotonic_ns()
    await asyncio.sleep(DOWN)
    restarted = time.monotonic_ns()
    await entrant.start_workers(entrant.peer.safe or entrant.peer.busy)

    async def ended() -> bool:
        return len({note.number for note in read_notes(entrant.traces) if note.mark == "end"}) >= settings.killed

    await until(ended, entrant, settings.patience, every=0.2)
    await entrant.stop_workers()
    found = recovery(settings.killed, read_notes(entrant.traces), killed, restarted)
    # Of what never happened there is no time: the figure is then missing, and its cell empty.
    return {f"kill {name}": float(value) for name, value in found._asdict().items() if value is not None}


async def _fill(entrant: Entrant, jobs: int, settings: Settings) -> None:
    if entrant.waiting < jobs:
        answer = await entrant.ask("fill", jobs=jobs - entrant.waiting, seconds=settings.fill_seconds)
        entrant.waiting += int(answer["jobs"])


async def _run_off(entrant: Entrant, crew: Crew, jobs: int, name: str, *, all_of_them: bool = True) -> Values:
    """From the first start until so many have run and, if these are all, the store holds no unfinished job."""
    entrant.forget()
    before: dict[str, Usage] = {}
    at = 0

    async def ran() -> bool:
        nonlocal before, at
        count = read_count(entrant.traces)
        if not before and count.jobs >= jobs * WARM_SHARE:
            before, at = entrant.usage(), count.jobs
        return count.jobs >= jobs

    async def empty() -> bool:
        return (await entrant.ask("remaining"))["jobs"] == 0

    await entrant.start_workers(crew)
    if not await until(ran, entrant, PATIENCE) or (all_of_them and not await until(empty, entrant, PATIENCE)):
        raise SetupError(f"{entrant.peer.title} ran {read_count(entrant.traces).jobs} of {jobs} jobs, and no more")
    ended, usage, count = time.monotonic_ns(), entrant.usage(), read_count(entrant.traces)
    await entrant.stop_workers()
    costs = _costs(before, usage, max(count.jobs - at, 1))
    parts = {f"{name} cpu {part}": cost for part, cost in costs.items() if part != "desk"}
    rate = count.jobs / (ended - count.first) * 1e9
    return {name: rate, f"{name} cpu": sum(parts.values()), **parts}


async def _warm_up(entrant: Entrant) -> None:
    for number in range(WARM_JOBS):
        await entrant.ask("stamp", number=number)
    await _until_noted(entrant, WARM_JOBS)


async def _until_noted(entrant: Entrant, notes: int, every: float = 0.005) -> None:
    async def noted() -> bool:
        return len(read_notes(entrant.traces)) >= notes

    if not await until(noted, entrant, PATIENCE, every):
        raise SetupError(f"{entrant.peer.title} started {len(read_notes(entrant.traces))} of {notes} jobs, and no more")


def _costs(before: dict[str, Usage], after: dict[str, Usage], jobs: int) -> dict[str, float]:
    """Microseconds a job, by part."""
    return {part: used.minus(before.get(part, Usage(0.0, 0))).cpu / jobs * 1e6 for part, used in after.items()}


WORKLOADS: Final = {
    "single": single,
    "bulk": bulk,
    "drain": drain,
    "ten-thousand": ten_thousand,
    "latency": latency,
    "due": due,
    "million": million,
    "kill": kill,
}
ONCE: Final = ("ten-thousand", "million", "kill")
"""Long ones: in the first round only, each with a store of its own."""
