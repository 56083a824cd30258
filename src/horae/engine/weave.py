"""Weave: the order in which the jobs of one claim start.

A claim brings jobs lane by lane. A worker that holds a second's worth of them would run one tenant's all before the
next one's, and a tenant with a single job would stand behind hundreds. So they are woven: each at the virtual time at
which its tenant, served in proportion to its weight, would have come to it. Jobs so short that nobody could tell stay
together in pieces of a `MOMENT`: they end together too, and what an end costs for each lane is paid less often.
Emergencies are before all time.
"""

from collections.abc import Callable, Sequence
from operator import itemgetter

import asyncpg

from horae.engine.choice import MOMENT, Chosen
from horae.engine.claims import Claimed

_time = itemgetter(0)


def woven(got: Claimed, chosen: Sequence[Chosen], weight: Callable[[int], float]) -> list[asyncpg.Record]:
    rows = got.rows
    if len(chosen) == 1 or len(rows) < 2:
        return rows
    clocks: dict[tuple[int, float], list[float]] = {}
    steps: dict[int, tuple[list[float], float]] = {}
    for lane in chosen:
        tenant_id = lane.hint.key.tenant_id
        clock = clocks.setdefault((tenant_id, lane.start), [lane.start])
        steps[lane.hint.lane_id] = clock, lane.job_seconds / weight(tenant_id)
    placed: list[tuple[float, list[asyncpg.Record]]] = []
    begin = 0
    for lane_id, count in got.counts.items():
        clock, step = steps[lane_id]
        length = max(1, int(MOMENT / step))
        end = begin + count
        for first in range(begin, end, length):
            piece = rows[first : min(first + length, end)]
            placed.append((clock[0], piece))
            clock[0] += step * len(piece)
        begin = end
    placed.sort(key=_time)
    return [row for _, piece in placed for row in piece]
