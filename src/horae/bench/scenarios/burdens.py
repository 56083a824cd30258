"""Burdens on the drain: a deep backlog, a snapshot held open, many tenants. Each should cost next to nothing.

- `deep`: two databases on one PostgreSQL, one of them empty, the other with millions of pending jobs of many tenants,
  which no worker serves: READY_SHARE of each hundred are ready, the others fall due in 1 to 30 days. Only the database
  under measurement has a server at the time.
- `snapshot`: a REPEATABLE READ transaction is open from before the submission to after the last completion, so that
  vacuum can clear away nothing of what the drain leaves.
- `tenants`: the drained jobs belong to many tenants, each with a lane of its own, in turn.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from horae.bench.bench import Bench
from horae.bench.installation import Installation
from horae.bench.probe import Probe
from horae.bench.scenarios.comparison import compare
from horae.bench.scenarios.drain import Drained, drain_once

READY_SHARE: Final = 30
LAYER: Final = 200_000
UNSERVED: Final = "bench.unserved"


async def deep(bench: Bench) -> None:
    bench.notes.settings["mix"] = f"{READY_SHARE} % ready, the others due in 1 to 30 days; no worker has their task"
    async with bench.installation("empty") as empty, bench.installation("deep") as full:
        await empty.stop_server()
        await full.stop_server()
        await _lay_backlog(bench, full)

        async def measure(place: Installation, name: str) -> Drained:
            async with serving(place):
                return await drain_once(place, bench.settings, bench.screen, name)

        await compare(bench, lambda name: measure(empty, name), lambda name: measure(full, name))


async def _lay_backlog(bench: Bench, place: Installation) -> None:
    """By SQL, because over HTTP millions take their time; the rows are those that submission would have made."""
    pending, probe = bench.settings.pending, place.probe
    await probe.fetch("tenants_make", bench.settings.tenants)
    lanes = await probe.fetch("lanes_make", UNSERVED)
    ids, tenants = [row["id"] for row in lanes], [row["tenant_id"] for row in lanes]
    with bench.screen.step(f"laying {pending:,} pending jobs of {len(ids):,} tenants", pending) as step:
        for laid in range(0, pending, LAYER):
            await probe.fetch("backlog_lay", min(LAYER, pending - laid), READY_SHARE, ids, tenants)
            step.reach(laid + LAYER)
    with bench.screen.step("settling: vacuum and checkpoint"):
        await probe.fetch("vacuum_all")
        await probe.fetch("checkpoint")


@asynccontextmanager
async def serving(place: Installation) -> AsyncIterator[None]:
    await place.start_server()
    try:
        yield
    finally:
        await place.stop_server()


async def snapshot(bench: Bench) -> None:
    async with bench.installation() as place:

        async def plain(name: str) -> Drained:
            return await drain_once(place, bench.settings, bench.screen, name)

        async def held(name: str) -> Drained:
            async with _snapshot(place.dsn):
                drained = await plain(name)
            # What the snapshot kept alive must not burden the next round, which is to be without it.
            await place.probe.fetch("vacuum_hot")
            return drained

        await compare(bench, plain, held)


@asynccontextmanager
async def _snapshot(dsn: str) -> AsyncIterator[None]:
    holder = await Probe.open(dsn)
    try:
        async with holder.transaction(isolation="repeatable_read"):
            await holder.fetch("snapshot_take")
            yield
    finally:
        await holder.close()


async def tenants(bench: Bench) -> None:
    settings = bench.settings
    spread = [b'{"task":"bench.noop","tenant":"bench-%d"}' % (1 + n % settings.tenants) for n in range(settings.jobs)]
    async with bench.installation() as place:
        await place.probe.fetch("tenants_make", settings.tenants)
        await compare(
            bench,
            lambda name: drain_once(place, settings, bench.screen, name),
            lambda name: drain_once(place, settings, bench.screen, name, spread),
        )
