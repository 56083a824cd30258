"""Weave: the order in which the jobs of one claim start.

A claim brings jobs lane by lane. A worker that holds a second's worth of them would run one tenant's all before the
next one's, and a tenant with a single job would stand behind hundreds. So they are woven: each at the virtual time at
which its tenant, served in proportion to its weight, would have come to it. Jobs so short that nobody could tell stay
together in pieces of `PIECE`: they end together too, and what an end costs for each lane is paid less often.
Emergencies are before all time.
"""

from collections.abc import Callable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final

import asyncpg

from horae.engine.choice import Chosen

PIECE: Final = 0.005
"""Seconds of virtual time."""
_lane_id = itemgetter("lane_id")
_time = itemgetter(0)


def woven(rows: list[asyncpg.Record], chosen: Sequence[Chosen], weight: Callable[[int], float]) -> list[asyncpg.Record]:
    if len(chosen) == 1 or len(rows) < 2:
        return rows
    clocks: dict[tuple[int, float], list[float]] = {}
    steps: dict[int, tuple[list[float], float]] = {}
    for lane in chosen:
        tenant_id = lane.hint.key.tenant_id
        clock = clocks.setdefault((tenant_id, lane.start), [lane.start])
        steps[lane.hint.lane_id] = clock, lane.job_seconds / weight(tenant_id)
    placed: list[tuple[float, list[asyncpg.Record]]] = []
    for lane_id, of_lane in groupby(rows, _lane_id):
        (clock, step), jobs = steps[lane_id], list(of_lane)
        length = max(1, int(PIECE / step))
        for first in range(0, len(jobs), length):
            piece = jobs[first : first + length]
            placed.append((clock[0], piece))
            clock[0] += step * len(piece)
    placed.sort(key=_time)
    return [row for _, piece in placed for row in piece]
