"""Reckoning: what the end of jobs means for who runs next. Limits have room again, tenants are charged what their jobs
really used, and the worker's record grows.
"""

from collections.abc import Callable, Sequence

from horae.engine.backlog import Backlog
from horae.engine.durations import Durations
from horae.engine.lanes import Lanes
from horae.engine.policy import Policy
from horae.engine.record import FAULTS, TaskRecords
from horae.engine.sessions import Session
from horae.engine.signals import Signals
from horae.model.limits import spread_group
from horae.model.states import End
from horae.model.work import Finished
from horae.store.control import LaneKey


class Reckoning:
    def __init__(
        self,
        lanes: Lanes,
        policy: Policy,
        backlog: Backlog,
        durations: Durations,
        signals: Signals,
        session: Callable[[int], Session | None],
    ) -> None:
        self._lanes = lanes
        self._policy = policy
        self._backlog = backlog
        self._durations = durations
        self._signals = signals
        self._session = session
        self._records = TaskRecords()

    def note_ended(self, worker_id: int, finished: Sequence[Finished]) -> None:
        by_lane: dict[int, list[Finished]] = {}
        for end in finished:
            by_lane.setdefault(end.lane, []).append(end)
        freed: dict[int, int] = {}
        session = self._session(worker_id)
        for lane_id, ends in by_lane.items():
            key = self._lanes.key(lane_id)
            if key is None:
                continue
            self._free(freed, worker_id, lane_id, key, len(ends))
            if session is not None:
                self._charge(session, lane_id, key, ends)
                session.wants_part(lane_id)
                self._write_down(session, key, ends)
        if freed:
            self._signals.freed(freed)

    def _free(self, freed: dict[int, int], worker_id: int, lane_id: int, key: LaneKey, count: int) -> None:
        for group in self._policy.of(lane_id, key).groups:
            freed[group.id] = freed.get(group.id, 0) + count
        hint = self._backlog.known(lane_id)
        if hint is not None and hint.profile.placement.spread is not None:
            group = spread_group(lane_id, worker_id, hint.profile.placement.spread)
            freed[group.id] = freed.get(group.id, 0) + count

    def _charge(self, session: Session, lane_id: int, key: LaneKey, ends: Sequence[Finished]) -> None:
        """They were charged what was expected of them; now what is known."""
        hint = self._backlog.known(lane_id)
        slots = hint.profile.demand.slots if hint is not None else 1
        jobs, charged = session.charges.settle(lane_id, len(ends))
        # Those that another server charged are charged about right there.
        charged += self._backlog.shares.cost(key.tenant_id, key.task) * (len(ends) - jobs) * slots
        self._backlog.charge(session, key.tenant_id, sum(end.took for end in ends) * slots - charged)

    def _write_down(self, session: Session, key: LaneKey, ends: Sequence[Finished]) -> None:
        tenant_id, task, worker_id = key.tenant_id, key.task, session.worker_id
        good = [end.took for end in ends if end.end is End.SUCCEEDED]
        faults = 0 if len(good) == len(ends) else sum(end.end in FAULTS for end in ends)
        elsewhere = self._records.elsewhere(tenant_id, task, worker_id) if faults else 0.0
        for _ in range(faults):
            session.record.failed(elsewhere)
        if good:
            session.record.succeeded(len(good), sum(good) / len(good), self._durations.expected(tenant_id, task))
        elif not faults:
            session.record.returned()
        if good or faults:
            self._records.note(tenant_id, task, worker_id, len(good) + faults, faults)
