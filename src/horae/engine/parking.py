"""Parking: a worker is done with an attempt whose end comes by a callback, and hands it to the servers.

The lease stays and belongs to worker 0 from then on, in one statement: the job is running for every limit, key and
list as before, and it depends on no worker any more.
"""

from collections.abc import Mapping, Sequence

import msgspec

from horae import failpoints
from horae.engine.signals import Signals
from horae.model.callbacks import SERVER
from horae.model.states import End
from horae.model.work import Finished, JobError
from horae.store.callbacks import CallbackRows
from horae.store.control import LaneKey
from horae.store.jobs import Used

NO_CALLBACK = JobError("callback", "the worker parked the job, and no callback was opened for it")


class Parking:
    def __init__(self, rows: CallbackRows, signals: Signals) -> None:
        self._rows = rows
        self._signals = signals

    async def park(
        self, worker_id: int, parked: Sequence[Finished], lanes: Mapping[int, LaneKey], used: Sequence[Used]
    ) -> list[Finished]:
        """Takes them over, with what they used so far. Returns, as errors, those for which nobody could call back.

        A callback may be quicker than the worker: what it has ended, or what was parked before an answer to the worker
        got lost, is no news.
        """
        rows = [(f.lane, f.id, f.attempt, lanes[f.lane].tenant_id, f.waited) for f in parked]
        taken, asked = await self._rows.callback_park(worker_id, rows, used) if rows else (set(), False)
        failpoints.reach("park.after_commit")
        if asked:
            self._signals.cancel([SERVER])
        left = [f for f in parked if f.id not in taken]
        keys = [(lanes[f.lane].tenant_id, f.id, f.attempt) for f in left]
        known = await self._rows.callback_known(keys) if keys else set()
        wrong = [f for f in left if (f.id, f.attempt) not in known]
        return [msgspec.structs.replace(f, end=End.ERROR, error=NO_CALLBACK) for f in wrong]
