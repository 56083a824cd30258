"""Shedding: where the operator allowed it, no more jobs wait than may, and those of the lowest priority go first.

Ready jobs are looked through in the order of their key, stretch by stretch, on one server at a time. Priorities up to
a level are dropped; when a whole pass found too few, the level rises, up to 8: the highest two are never shed. A job
that is shed ends as `dropped` with the error `shed`, and can be brought back by a retry: none is silently gone.

How many are too many is asked of the database while the lock is held, and what was shed is written down before it is
let go: of several servers that each saw the same excess, the first sheds it.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Final
from uuid import UUID

import msgspec
import structlog

from horae.engine.admission import Admission
from horae.engine.duties.alone import alone
from horae.engine.tally import Tally
from horae.engine.watch import Ended, Watch
from horae.model.rank import EMERGENCY
from horae.model.states import State
from horae.model.work import JobError
from horae.store.database import Database, Rows
from horae.store.rollups import SoleActor

log = structlog.get_logger()

STRETCH: Final = 5000
STRETCHES_A_RUN: Final = 20
STEP: Final = 2
HIGHEST_SHED: Final = EMERGENCY - STEP
START: Final = (-1, -(2**63), UUID(int=0))


class Shedding:
    name = "shedding"
    interval = 1.0

    def __init__(
        self,
        database: Database,
        admission: Admission,
        tally: Tally,
        watch: Watch,
        flush: Callable[[], Awaitable[int]],
        *,
        allowed: bool,
    ) -> None:
        self._database = database
        self._flush = flush
        self._admission = admission
        self._tally = tally
        self._watch = watch
        self._allowed = allowed
        self._place = START
        self._level = STEP

    async def run_once(self) -> Mapping[str, int]:
        most = self._admission.max_pending
        if not self._allowed or most is None or self._admission.total_pending <= most:
            self._place, self._level = START, STEP
            return {}
        async with alone(self._database, self.name) as actor:
            return {} if actor is None else {"shed": await self._down_to(most, actor)}

    async def _down_to(self, most: int, actor: SoleActor) -> int:
        await self._flush()
        self._admission.total_pending = await actor.pending()
        shed = await self._shed(actor, self._admission.total_pending - most)
        await self._flush()
        await actor.duty_done(self.name, self.interval * 0.9)
        return shed

    async def _shed(self, actor: SoleActor, excess: int) -> int:
        shed = 0
        for _ in range(STRETCHES_A_RUN):
            if shed >= excess:
                break
            rows = await actor.shed_candidates(*self._place, STRETCH, self._level)
            chosen = [row for row in rows if not row["is_end"]][: excess - shed]
            if chosen:
                shed += await self._drop(actor, chosen)
            self._go_on(rows)
        if shed:
            log.warning("jobs_shed", jobs=shed, priority_up_to=self._level, pending=self._admission.total_pending)
        self._admission.total_pending -= shed
        return shed

    def _go_on(self, rows: Rows) -> None:
        """To the next stretch; after the last one, from the beginning with the next priorities."""
        end = next((row for row in rows if row["is_end"]), None)
        if end is not None:
            self._place = (end["lane_id"], end["rank"], end["id"])
        else:
            self._place, self._level = START, min(self._level + STEP, HIGHEST_SHED)

    async def _drop(self, actor: SoleActor, chosen: Rows) -> int:
        reason = f"more than {self._admission.max_pending} jobs waited, and priorities up to {self._level} were shed"
        error = msgspec.json.encode(JobError("shed", reason)).decode()
        jobs = [(row["tenant_id"], row["lane_id"], row["rank"], row["id"]) for row in chosen]
        dropped = await actor.job_shed(jobs, error)
        for lane_id, count in Counter(row["lane_id"] for row in dropped).items():
            self._tally.removed(lane_id, State.DROPPED, count)
        for row in dropped:
            self._watch.ended(row["id"], Ended(State.DROPPED, None, error, None, row["attempt"]))
        return len(dropped)
