"""Weave: the order in which the jobs of one claim start.

A claim brings jobs lane by lane. A worker that holds a second's worth of them would run one tenant's all before the
next one's, and a tenant with a single job would stand behind hundreds. So they are woven: each job at the virtual time
at which its tenant, served in proportion to its weight, would have come to it. Emergencies are before all time.
"""

from collections.abc import Callable, Sequence

import asyncpg

from horae.engine.choice import Chosen


def woven(rows: list[asyncpg.Record], chosen: Sequence[Chosen], weight: Callable[[int], float]) -> list[asyncpg.Record]:
    if len(chosen) == 1 or len(rows) < 2:
        return rows
    clocks: dict[tuple[int, float], list[float]] = {}
    steps: dict[int, tuple[list[float], float]] = {}
    for lane in chosen:
        tenant_id = lane.hint.key.tenant_id
        clock = clocks.setdefault((tenant_id, lane.start), [lane.start])
        steps[lane.hint.lane_id] = clock, lane.job_seconds / weight(tenant_id)
    placed: list[tuple[float, int]] = []
    for number, row in enumerate(rows):
        clock, step = steps[row["lane_id"]]
        placed.append((clock[0], number))
        clock[0] += step
    placed.sort()
    return [rows[number] for _, number in placed]
