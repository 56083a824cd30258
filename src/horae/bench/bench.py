"""What a scenario is given: settings, a place to write figures down, a screen to say what it does, and PostgreSQL."""

import asyncio
import time
from contextlib import AbstractAsyncContextManager
from typing import Final, NamedTuple

from horae.bench.figures import Notes
from horae.bench.generator import Load, post, send
from horae.bench.installation import Installation, installation
from horae.bench.progress import Screen, Step
from horae.bench.settings import Settings
from horae.model.errors import SetupError
from horae.store.embedded import Cluster

NDJSON: Final = "application/x-ndjson"
STUCK_SECONDS: Final = 120.0


class Bench(NamedTuple):
    settings: Settings
    notes: Notes
    screen: Screen
    cluster: Cluster

    def installation(self, name: str = "main") -> AbstractAsyncContextManager[Installation]:
        return installation(self.cluster, name)


async def submit_bulk(place: Installation, lines: list[bytes], batch: int, connections: int = 3) -> Load:
    """Submits one job a line over HTTP, and makes sure that all of them are there."""
    before = await place.probe.value("job_count")
    batches = (lines[start : start + batch] for start in range(0, len(lines), batch))
    requests = [post("/v1/jobs/bulk", place.key, b"\n".join(part), NDJSON) for part in batches]
    load = await send(place.url, requests, min(connections, len(requests)))
    missing = before + len(lines) - await place.probe.value("job_count")
    if missing:
        raise SetupError(f"{missing} of {len(lines)} submitted jobs are not in the database; see the server's answer")
    return load


async def until_ended(place: Installation, jobs: int, step: Step) -> None:
    """Waits until so many jobs in all have ended, with next to no load of its own.

    Counting is dear, so it is done only when outcomes have stopped growing since the last look.
    """
    size, since = -1, time.monotonic()
    while time.monotonic() < since + STUCK_SECONDS:
        row = (await place.probe.fetch("outcome_size"))[0]
        step.reach(min(row["rows"], jobs))
        if row["bytes"] != size:
            size, since = row["bytes"], time.monotonic()
        elif await place.probe.value("outcome_count") >= jobs:
            return
        place.check()
        await asyncio.sleep(0.25)
    raise SetupError(f"no job ended for {STUCK_SECONDS:g} s, and not all have: the server or the worker is stuck")


async def until_growth(place: Installation, jobs: int, step: Step) -> None:
    """Waits until about so many jobs have ended while more of them go on: PostgreSQL's statistics say how many."""
    deadline = time.monotonic() + STUCK_SECONDS
    rows = 0
    while rows < jobs:
        place.check()
        if time.monotonic() > deadline:
            raise SetupError(
                f"only {rows} of {jobs} jobs ended in {STUCK_SECONDS:g} s: the server or the worker is stuck"
            )
        await asyncio.sleep(0.25)
        rows = (await place.probe.fetch("outcome_size"))[0]["rows"]
        step.reach(min(rows, jobs))
