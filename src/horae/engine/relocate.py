"""Relocate: running jobs stop where they are and go on at another worker, from their last checkpoint.

The worker is asked to stop the job, as for a cancel; when it reports `moved`, the job becomes ready again in a lane
whose placement leaves that worker out (see `complete`). It costs the job no attempt. Nothing is moved that could run
nowhere else, unless that is forced: then it waits for a worker that can.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg
import structlog

from horae.engine.access import Caller
from horae.engine.lanes import Lanes
from horae.engine.offers import away_from, nearest, serves
from horae.engine.rows import state_of
from horae.engine.signals import Signals
from horae.engine.steer import Steer
from horae.model.callbacks import SERVER
from horae.model.errors import NowhereToRun, WrongState
from horae.model.placement import read_placement
from horae.model.states import State
from horae.store.control import LaneKey
from horae.store.workers import Workers

log = structlog.get_logger()

MOST_MOVED: Final = 10_000
MAX_REASON: Final = 500


class Cleared(NamedTuple):
    """What became of a worker's jobs: so many are moved, so many stay, for no other worker could run them."""

    moving: int
    staying: int


class Relocate:
    def __init__(self, steer: Steer, workers: Workers, lanes: Lanes, signals: Signals) -> None:
        self._steer = steer
        self._workers = workers
        self._lanes = lanes
        self._signals = signals

    async def move(self, by: Caller, job_id: UUID, reason: str, *, force: bool) -> None:
        """Asks for one running job to go on elsewhere."""
        row = await self._steer.get(by, job_id)
        if state_of(row) is not State.RUNNING:
            raise WrongState(f"job {job_id} is {state_of(row)}: only a running job can be moved", state=state_of(row))
        if row["worker_id"] == SERVER:
            raise WrongState(f"job {job_id} waits for its callback, and no worker runs it that it could be moved from")
        if not force and (obstacle := await self._obstacle(row)):
            raise NowhereToRun(f"job {job_id} stays on worker {row['worker_id']}: {obstacle}; or force the move")
        if not await self.request([(row["lane_id"], row["id"])], reason, by.name):
            raise WrongState(f"job {job_id} has just ended or gone back; look and try again")

    async def clear(self, by: Caller, worker_id: int, reason: str) -> Cleared:
        """Moves what a worker runs, as far as others could run it."""
        held = await self._workers.lease_of_worker(worker_id, None, MOST_MOVED)
        keys = await self._lanes.keys(row["lane_id"] for row in held)
        others = [row for row in await self._running_workers() if row["id"] != worker_id]
        free = {lane_id for lane_id, key in keys.items() if _obstacle(others, away_from(key, worker_id)) is None}
        moving = [(row["lane_id"], UUID(row["id"])) for row in held if row["lane_id"] in free]
        asked = await self.request(moving, reason, by.name) if moving else {}
        return Cleared(len(asked), len(held) - len(moving))

    async def _obstacle(self, row: asyncpg.Record) -> str | None:
        keys = await self._lanes.keys([row["lane_id"]])
        others = [other for other in await self._running_workers() if other["id"] != row["worker_id"]]
        return _obstacle(others, away_from(keys[row["lane_id"]], row["worker_id"]))

    async def _running_workers(self) -> list[asyncpg.Record]:
        rows = await self._workers.worker_list(None, ["active"])
        return [row for row in rows if row["expires_at"] > row["now"]]

    async def request(self, jobs: Sequence[tuple[int, UUID]], reason: str, who: str) -> dict[str, int]:
        """Asks the workers. Returns who has what; jobs that no longer run are not in it."""
        asked = await self._workers.move_request_put(jobs, reason[:MAX_REASON], who)
        self._signals.cancel(set(asked.values()))
        log.info("move_requested", jobs=len(asked), workers=sorted(set(asked.values())), by=who)
        return asked


def _obstacle(workers: Sequence[asyncpg.Record], key: LaneKey) -> str | None:
    """Why none of these workers could run the jobs of a lane; None when one could."""
    found = nearest((row for row in workers if serves(row, key)), read_placement(key.requires))
    if found is None:
        return f"no other worker serves task {key.task} in queue {key.queue}"
    row, lacks = found
    if not lacks:
        return None
    return f"no other worker could run it; the nearest, {row['name']} ({row['id']}): " + "; ".join(
        misfit.words for misfit in lacks
    )
