"""Reckoning: what the end of jobs means for who runs next. Limits have room again, tenants are charged what their jobs
really used, and the worker's record grows.
"""

from collections.abc import Callable, Mapping
from typing import Final

from horae.engine.backlog import Backlog, LaneHint
from horae.engine.durations import Durations
from horae.engine.lanes import Lanes
from horae.engine.policy import Policy
from horae.engine.record import TaskRecords
from horae.engine.sessions import Session
from horae.engine.shares import SHORTEST_SECONDS
from horae.engine.signals import Signals
from horae.engine.tally import Runs
from horae.model.limits import spread_group
from horae.store.control import LaneKey

NOTHING: Final = 1e-9
"""Worker-seconds: what is left of a charge that was right, by rounding."""


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

    def note_ended(self, worker_id: int, ran: Mapping[int, Runs]) -> None:
        freed: dict[int, int] = {}
        session = self._session(worker_id)
        for lane_id, runs in ran.items():
            key = self._lanes.key(lane_id)
            if key is None:
                continue
            hint = self._backlog.known(lane_id)
            self._free(freed, worker_id, lane_id, key, hint, runs.ends)
            if session is not None:
                self._charge(session, lane_id, key, hint, runs)
                session.wants_part(lane_id)
                self._write_down(session, key, runs)
        if freed:
            self._signals.freed(freed)

    def _free(
        self, freed: dict[int, int], worker_id: int, lane_id: int, key: LaneKey, hint: LaneHint | None, count: int
    ) -> None:
        for group in self._policy.of(lane_id, key).groups:
            freed[group.id] = freed.get(group.id, 0) + count
        if hint is not None and hint.profile.placement.spread is not None:
            group = spread_group(lane_id, worker_id, hint.profile.placement.spread)
            freed[group.id] = freed.get(group.id, 0) + count

    def _charge(self, session: Session, lane_id: int, key: LaneKey, hint: LaneHint | None, runs: Runs) -> None:
        """They were charged what was expected of them; now what is known."""
        slots = hint.profile.demand.slots if hint is not None else 1
        jobs, charged = session.charges.settle(lane_id, runs.ends)
        if jobs < runs.ends:
            # Those that another server charged are charged about right there.
            charged += self._backlog.shares.cost(key.tenant_id, key.task) * (runs.ends - jobs) * slots
        wrong = max(runs.seconds, SHORTEST_SECONDS * runs.ends) * slots - charged
        if abs(wrong) > NOTHING:
            self._backlog.charge(session, key.tenant_id, wrong)

    def _write_down(self, session: Session, key: LaneKey, runs: Runs) -> None:
        tenant_id, task, worker_id = key.tenant_id, key.task, session.worker_id
        good, faults = runs.good, runs.faults
        elsewhere = self._records.elsewhere(tenant_id, task, worker_id) if faults else 0.0
        for _ in range(faults):
            session.record.failed(elsewhere)
        if good:
            seconds = (runs.seconds - runs.bad_seconds) / good
            session.record.succeeded(good, seconds, self._durations.expected(tenant_id, task))
        elif not faults:
            session.record.returned()
        if good or faults:
            self._records.note(tenant_id, task, worker_id, good + faults, faults)
