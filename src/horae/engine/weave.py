"""Weave: the order in which the jobs of one claim start.

A claim brings jobs lane by lane. A worker that holds a second's worth of them would run one tenant's all before the
next one's, and a tenant with a single job would stand behind hundreds. So they are woven: emergencies first, then each
job at the virtual time at which its tenant, served in proportion to its weight, would have come to it.
"""

from collections.abc import Callable, Sequence
from typing import Final

import asyncpg

from horae.engine.choice import Chosen

EMERGENCIES: Final = -1
"""Stands for a tenant that is before all others."""


def woven(rows: list[asyncpg.Record], chosen: Sequence[Chosen], weight: Callable[[int], float]) -> list[asyncpg.Record]:
    if len(chosen) == 1 or len(rows) < 2:
        return rows
    steps: dict[int, tuple[int, float]] = {}
    for lane in chosen:
        tenant_id = lane.hint.key.tenant_id
        steps[lane.hint.lane_id] = (
            (EMERGENCIES, 0.0) if lane.first else (tenant_id, lane.job_seconds / weight(tenant_id))
        )
    reached: dict[int, float] = {EMERGENCIES: -1.0}
    placed: list[tuple[float, int]] = []
    for row in rows:
        tenant_id, step = steps[row["lane_id"]]
        at = reached.get(tenant_id, 0.0)
        reached[tenant_id] = at + step
        placed.append((at, len(placed)))
    placed.sort()
    return [rows[number] for _, number in placed]
