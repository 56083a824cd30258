"""A counter without a database: lanes with jobs, workers that ask, and the real choice and learning between them."""

from bisect import bisect_right
from collections.abc import Iterator

from horae.engine.backlog import Backlog
from horae.engine.choice import Choice, Chosen
from horae.engine.claims import Claimed, Claims
from horae.engine.durations import Durations
from horae.engine.learning import Learning
from horae.engine.policy import Policy
from horae.engine.reckoning import Reckoning
from horae.engine.reservations import Reservations
from horae.engine.sessions import Session
from horae.engine.shares import Emergencies, Shares
from horae.engine.tally import Tally, sums_of
from horae.model.matching import Offer
from horae.model.work import Finished
from horae.store.control import LaneKey

TASK = "work"


def worker(number: int = 1, *, queues: frozenset[str] | None = None, tenant_id: int | None = None) -> Session:
    session = Session(Offer(worker_id=number, slots=1000), tenant_id, frozenset({TASK}), queues, "active")
    session.renew(3600)
    return session


class Counter:
    def __init__(self) -> None:
        self.weights: dict[int, float] = {}
        self.seconds: dict[int, float] = {}
        """What a tenant's jobs are known to take."""
        self.shares = Shares(lambda tenant: self.weights.get(tenant, 1.0), lambda tenant, _: self.seconds.get(tenant))
        self.backlog = Backlog(self.shares)
        self.sessions: list[Session] = []
        self.emergencies = Emergencies()
        # Never read from a database: nothing is limited and no gate is closed but what a test puts in.
        self.policy = Policy(None, None)  # type: ignore[arg-type]
        self.choice = Choice(self.backlog, self.policy, self.emergencies, self._peers)
        self.reservations = Reservations(self.backlog, self._peers)
        self.learning = Learning(
            self.backlog, Claims(None, self.policy), self.emergencies, self.reservations, Tally(),  # type: ignore[arg-type]
            lambda group_id, seconds: None,
        )  # fmt: skip
        self.waiting: dict[int, list[int]] = {}
        """The ranks of the jobs in each lane."""
        self.keys: dict[int, LaneKey] = {}
        self.doubted: set[tuple[int, int]] = set()
        """Jobs that were taken to find out where a lane's head is."""

    def _peers(self) -> Iterator[Session]:
        return iter(self.sessions)

    def submit(self, lane_id: int, key: LaneKey, *ranks: int) -> None:
        self.keys[lane_id] = key
        self.waiting[lane_id] = sorted([*self.waiting.get(lane_id, []), *ranks])
        self.backlog.note(lane_id, key, min(ranks))

    def take(self, session: Session, want: int) -> list[tuple[int, int]]:
        """Lane and rank of each job, over as many claims as it takes."""
        got: list[tuple[int, int]] = []
        while len(got) < want and (chosen := self.choice.choose(session, want - len(got))):
            rows = self.rows(chosen, want - len(got))
            got += rows
            self.learning.learn(session, chosen, claimed(rows), want - len(got) + len(rows))
        return got

    def rows(self, chosen: list[Chosen], want: int) -> list[tuple[int, int]]:
        """What the statement would take: lane by lane, each from floor to ceiling and up to its quota."""
        rows: list[tuple[int, int]] = []
        for lane in chosen:
            ranks = self.waiting[lane.hint.lane_id]
            end = min(bisect_right(ranks, lane.ceiling), lane.quota, want - len(rows))
            rows += [(lane.hint.lane_id, rank) for rank in ranks[:end]]
            assert not end or ranks[0] >= lane.hint.floor, "a floor that hides a job"
            if lane.hint.doubtful:
                self.doubted |= set(rows[len(rows) - end :])
            del ranks[:end]
        return rows

    def run(self, session: Session, want: int, took: dict[int, float]) -> dict[int, float]:
        """Takes jobs and ends them: the worker-seconds each tenant used."""
        used: dict[int, float] = {}
        for lane_id, _ in self.take(session, want):
            tenant = self.keys[lane_id].tenant_id
            used[tenant] = used.get(tenant, 0.0) + took[tenant]
            self.end(session, lane_id, took[tenant])
        return used

    def end(self, session: Session, lane_id: int, took: float) -> None:
        reckoning = Reckoning(self, self.policy, self.backlog, Durations(), None, lambda _: session)  # type: ignore[arg-type]
        reckoning.note_ended(session.worker_id, sums_of([Finished(id="", lane=lane_id, attempt=1, took=took)]))

    def key(self, lane_id: int) -> LaneKey:
        return self.keys[lane_id]


def claimed(rows: list[tuple[int, int]]) -> Claimed:
    fields = [{"lane_id": lane_id, "rank": rank, "id": f"{lane_id}-{rank}", "attempt": 1} for lane_id, rank in rows]
    return Claimed(fields, [])  # type: ignore[arg-type]
