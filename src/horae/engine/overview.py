"""Overview: how things stand and how they went, in one look that costs the same with ten million jobs.

The sums come from `flow`, a few hundred rows whatever the range; all else is read up to a bound. An answer is shared by
everybody who asks for the same within a second, so a hundred open pages cost as much as one.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

import asyncpg

from horae.engine.access import Caller
from horae.engine.clock import Clock
from horae.engine.flows import SUMS, Flow
from horae.engine.limits import Limits, LimitView
from horae.engine.policy import Policy
from horae.engine.shared import Shared
from horae.model.errors import InvalidInput
from horae.model.ids import lowest_id
from horae.store.flows import Flows

COUNTED: Final = 5_000
"""Jobs of each state that are counted; of more, the last recount tells."""
LANES: Final = 2_000
WORKERS: Final = 20
SCHEDULES: Final = 200
TICKS: Final = 10
FAILING_HOURS: Final = 2_000
FAILING_TENANTS: Final = 20
FAILED_JOBS: Final = 500
CAUSES: Final = 8
FRESH_SECONDS: Final = 1.0


class Range(NamedTuple):
    steps: int
    step: int
    span: int
    """Of the sums that a step is made of; both in seconds."""


RANGES: Final = {
    "15m": Range(90, 10, 10),
    "1h": Range(180, 20, 10),
    "6h": Range(180, 120, 60),
    "1d": Range(144, 600, 60),
    "7d": Range(168, 3600, 3600),
    "30d": Range(180, 4 * 3600, 3600),
}
DEFAULT_RANGE: Final = "1h"


class Depth(NamedTuple):
    scheduled: int
    blocked: int
    ready: int
    running: int


class Overview(NamedTuple):
    at: datetime
    range: str
    step: int
    depth: Depth
    steps: list[tuple[datetime, Flow]]
    total: Flow
    oldest: asyncpg.Record | None
    workers: Sequence[asyncpg.Record]
    ticks: Sequence[asyncpg.Record]
    failures: Sequence[asyncpg.Record]
    gates: int
    limits: list[LimitView]


class Overviews:
    def __init__(self, flows: Flows, policy: Policy, limits: Limits, clock: Clock) -> None:
        self._flows = flows
        self._policy = policy
        self._limits = limits
        self._clock = clock
        self._answers: Shared[Overview] = Shared()

    async def get(self, by: Caller, tenant: tuple[int | None, str | None], name: str) -> Overview:
        """`tenant` is its number and its name; None for all of them."""
        if name not in RANGES:
            raise InvalidInput(f"range: {name[:40]!r} is none of {', '.join(RANGES)}", field="range")
        return await self._answers.get((tenant[0], name), FRESH_SECONDS, lambda: self._look(by, tenant, name))

    async def _look(self, by: Caller, tenant: tuple[int | None, str | None], name: str) -> Overview:
        tenant_id, now, wanted = tenant[0], self._clock.now(), RANGES[name]
        first = _first(now, wanted)
        steps = _steps(await self._flows.flow_list(tenant_id, wanted.span, first), first, wanted)
        total = Flow()
        for _, flow in steps:
            total.merge(flow)
        return Overview(
            at=now,
            range=name,
            step=wanted.step,
            depth=_depth(await self._flows.overview_depth(tenant_id, COUNTED)),
            steps=steps,
            total=total,
            oldest=await self._flows.overview_oldest(tenant_id, LANES),
            workers=await self._flows.overview_workers(tenant_id, WORKERS),
            ticks=await self._flows.overview_ticks(tenant_id, SCHEDULES, TICKS),
            failures=await self._flows.overview_failures(
                tenant_id, (lowest_id(first), first), FAILING_HOURS, FAILING_TENANTS, FAILED_JOBS, CAUSES
            ),
            gates=sum(1 for gate in self._policy.gates if not gate.releasing and _concerns(gate.tenant_id, tenant_id)),
            limits=await self._limits.list_all(by, tenant[1]) if self._policy.limits else [],
        )


def _concerns(whose: int | None, tenant_id: int | None) -> bool:
    return whose is None or tenant_id is None or whose == tenant_id


def _first(now: datetime, wanted: Range) -> datetime:
    """The beginning of the first step; the last one is the step of now."""
    last = int(now.timestamp()) // wanted.step * wanted.step
    return datetime.fromtimestamp(last - (wanted.steps - 1) * wanted.step, UTC)


def _steps(rows: Sequence[asyncpg.Record], first: datetime, wanted: Range) -> list[tuple[datetime, Flow]]:
    width = timedelta(seconds=wanted.step)
    steps = [(first + place * width, Flow()) for place in range(wanted.steps)]
    for row in rows:
        place = min((row["bucket"] - first) // width, wanted.steps - 1)
        flow = Flow()
        for name in SUMS:
            setattr(flow, name, row[name])
        flow.waits = row["waits"]
        steps[place][1].merge(flow)
    return steps


def _depth(row: asyncpg.Record) -> Depth:
    scheduled, blocked, ready = row["scheduled"], row["blocked"], row["ready"]
    if ready is None:  # Too many to be counted: all that wait, but for the others.
        ready = max(COUNTED, row["pending"] - scheduled - blocked)
    return Depth(scheduled, blocked, ready, row["running"])
