"""Statistics: how the jobs of a task did over time, from sums that are kept anyway."""

from datetime import UTC, datetime, timedelta
from typing import Final

import asyncpg
import msgspec

from horae.engine.clock import Clock
from horae.model.errors import InvalidInput
from horae.model.lognormal import P50, P95, Sums, quantile
from horae.store.statistics import Statistics as StatisticsStore

MAX_STEPS: Final = 200
FINE: Final = timedelta(hours=6)
"""What reaches further back is told by the hour: shorter sums are not kept for longer."""
LONGEST: Final = timedelta(days=400)
HOUR: Final = 3600
STEPS: Final = (10, 60, 120, HOUR, 3 * HOUR, 6 * HOUR, 24 * HOUR, 7 * 24 * HOUR)
"""Seconds that a step may have. None between ten and a minute: it would be read from the sums of ten seconds, of which
a thousand tenants have 360,000 in an hour."""
DAY: Final = timedelta(days=1)


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """What happened to jobs: counts, and seconds that runs took and that jobs waited after they were due."""

    submitted: int = 0
    started: int = 0
    succeeded: int = 0
    failed: int = 0
    cancelled: int = 0
    other: int = 0
    retried: int = 0
    mean: float | None = None
    p50: float | None = None
    p95: float | None = None
    wait: float | None = None


COUNTS: Final = ("submitted", "started", "succeeded", "failed", "cancelled", "other", "retried")
NOTHING: Final = Figures()


class Span(msgspec.Struct, frozen=True):
    since: datetime
    until: datetime
    step: int

    def instants(self) -> list[datetime]:
        count = -(-int((self.until - self.since).total_seconds()) // self.step)
        return [self.since + timedelta(seconds=self.step * n) for n in range(count)]


class Statistics:
    def __init__(self, store: StatisticsStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def span(self, since: datetime | None, until: datetime | None) -> Span:
        """What was asked for, widened to whole steps; the last day unless it is said."""
        now = self._clock.now()
        until = until or now
        since = since or until - DAY
        if not timedelta() < until - since <= LONGEST:
            raise InvalidInput(f"since: at most {LONGEST.days} days before until, and not after it", field="since")
        fine = since >= now - FINE - timedelta(minutes=1)
        seconds = (until - since).total_seconds()
        step = next(step for step in STEPS if seconds / step <= MAX_STEPS and (fine or step >= HOUR))
        start = int(since.timestamp()) // step * step
        return Span(datetime.fromtimestamp(start, UTC), until, step)

    async def of_task(self, tenant_id: int | None, task: str, span: Span) -> list[tuple[datetime, Figures]]:
        return await self._steps(tenant_id, task, None, span)

    async def of_queue(self, tenant_id: int | None, queue: str, span: Span) -> list[tuple[datetime, Figures]]:
        return await self._steps(tenant_id, None, queue, span)

    async def _steps(
        self, tenant_id: int | None, task: str | None, queue: str | None, span: Span
    ) -> list[tuple[datetime, Figures]]:
        """Every step, also those in which nothing happened."""
        rows = await self._store.statistics_steps(tenant_id, task, span.since, span.until, span.step, queue)
        known = {row["at"]: figures(row) for row in rows}
        return [(at, known.get(at, NOTHING)) for at in span.instants()]

    async def of_tasks(self, tenant_id: int | None, span: Span) -> list[tuple[str, str, Figures]]:
        """Tenant, task and what became of its jobs."""
        rows = await self._store.statistics_tasks(tenant_id, span.since, span.until, span.step)
        return [(row["tenant"], row["task"], figures(row)) for row in rows]


def figures(row: asyncpg.Record) -> Figures:
    counts = {name: row[name] for name in COUNTS}
    sums = Sums(row["runs"], row["run_seconds"], row["run_squares"])
    return Figures(
        **counts,
        mean=sums.mean,
        p50=quantile(sums, P50),
        p95=quantile(sums, P95),
        wait=row["wait_seconds"] / row["waits"] if row["waits"] else None,
    )
