"""Dispatch: workers that want work meet lanes that have some.

A worker's exchange either finds work at once or becomes a *waiter*. Whenever work or room appears, the waiters are
served, the best-rated worker first. `choice` says from which lanes, `claims` takes, `learning` notes what that teaches
about the lanes, `grants` makes jobs of the rows; here is what binds them: who waits, and what wakes whom.

Everything here is a hint. A lane believed empty may have work (another server made it): the scout finds it within a
moment. A lane believed full may be empty: the claim returns less. *Floors* spare the claim from walking over the dead
index entries that a long snapshot keeps alive: each lane remembers the smallest rank that can still be there and lowers
it when it hears of a smaller one. Only the scout looks below, and it watches what that costs.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import structlog

from horae import failpoints
from horae.engine.backlog import Backlog
from horae.engine.breadth import nearly_filled
from horae.engine.choice import GRACE_SECONDS, Choice, Chosen
from horae.engine.claims import NOTHING, Claims
from horae.engine.grants import Grants
from horae.engine.lanes import Lanes
from horae.engine.learning import LOOK_AGAIN_SECONDS, Learning
from horae.engine.policy import Policy
from horae.engine.reservations import Reservations
from horae.engine.sessions import Session
from horae.engine.shares import Emergencies
from horae.engine.tally import Tally
from horae.engine.weave import woven
from horae.model.work import Grant

log = structlog.get_logger()

MAX_CLAIM: Final = 2000
NO_GROUP: Final = 0
"""Stands for lanes that wait for a worker they prefer."""
MAX_ROUNDS: Final = 32
"""So many claims are made for one answer, however many lanes look full and are not."""
MAX_IN_VAIN: Final = 4
REST_SECONDS: Final = 0.05
LANES_A_LOOK: Final = 32


class Waiter:
    __slots__ = ("answer", "leaving", "number", "session", "want")

    def __init__(self, session: Session, number: int, want: int, answer: "asyncio.Future[list[Grant]]") -> None:
        self.session = session
        self.number = number
        self.want = want
        self.answer = answer
        self.leaving = False
        """Its time is up while it is being served: an empty answer is an answer then."""


class Dispatch:
    def __init__(
        self, lanes: Lanes, policy: Policy, backlog: Backlog, claims: Claims, grants: Grants, tally: Tally
    ) -> None:
        self._lanes = lanes
        self._policy = policy
        self._backlog = backlog
        self._claims = claims
        self._grants = grants
        self._emergencies = Emergencies()
        self._choice = Choice(backlog, policy, self._emergencies, self.sessions)
        self._reservations = Reservations(backlog, self.sessions)
        self._sessions: dict[int, Session] = {}
        self._waiters: dict[Waiter, None] = {}
        self._alarms: dict[int, asyncio.TimerHandle] = {}
        self._learning = Learning(backlog, claims, self._emergencies, self._reservations, tally, self._alarm)
        policy.on_change.append(self._reconsider)

    # What others tell.

    def note_ready(self, heads: Mapping[int, int]) -> None:
        """Lanes that have work, with the smallest rank seen."""
        unknown = {
            lane_id: rank
            for lane_id, rank in heads.items()
            if not self._backlog.note(lane_id, self._lanes.key(lane_id), rank)
        }
        if unknown:
            spawn(self._learn_lanes(unknown))
        self._serve()

    async def _learn_lanes(self, heads: Mapping[int, int]) -> None:
        await self._lanes.keys(heads)
        self.note_ready({lane_id: rank for lane_id, rank in heads.items() if self._lanes.key(lane_id) is not None})

    def note_freed(self, groups: Mapping[int, int]) -> None:
        """Groups in which so many slots became free."""
        if sum(self._backlog.free(group_id, count) for group_id, count in groups.items()):
            self._serve()

    def note_lost(self, worker_id: int) -> None:
        self._sessions.pop(worker_id, None)

    def look_around(self) -> None:
        """Now and then: forgets workers that are gone, and keeps one free for a large job that waits too long."""
        for session in [session for session in self._sessions.values() if not session.alive]:
            del self._sessions[session.worker_id]
        self._reservations.look()
        self._serve()

    def _reconsider(self) -> None:
        self._backlog.reconsider()
        self._serve()

    # What workers ask.

    def sessions(self) -> Iterator[Session]:
        """The workers that talk to this server."""
        return (session for session in self._sessions.values() if session.alive)

    def session(self, worker_id: int) -> Session | None:
        return self._sessions.get(worker_id)

    async def take(self, session: Session, number: int, want: int) -> list[Grant]:
        """What there is for this worker now; an empty list when there is nothing."""
        self._sessions[session.worker_id] = session
        if not self._policy.version:
            await self._policy.refresh()
        want = self.allowed(session, want)
        return await self._take(session, number, want, self._choose(session, want))

    async def _take(self, session: Session, number: int, want: int, chosen: Sequence[Chosen]) -> list[Grant]:
        """Claims until the want is filled. Jobs in hand hold slots: they wait for few claims that find nothing."""
        grants: list[Grant] = []
        in_vain = 0
        for _ in range(MAX_ROUNDS):
            if not chosen:
                break
            got = await self._claim(session, number, chosen, want - len(grants))
            grants += got
            in_vain = 0 if got else in_vain + 1
            if grants and in_vain >= MAX_IN_VAIN:
                break
            chosen = [] if nearly_filled(len(grants), want) else self._choose(session, want - len(grants))
        else:
            self._learning.undo(session, chosen)
            self._alarm(NO_GROUP, REST_SECONDS)
        if grants:
            session.record.probing = session.record.probation
        return grants

    def _choose(self, session: Session, want: int) -> list[Chosen]:
        chosen = self._choice.choose(session, want)
        if self._choice.waiting_for_better:
            self._alarm(NO_GROUP, GRACE_SECONDS)
        return chosen

    def allowed(self, session: Session, want: int) -> int:
        """Of what a worker wants, how much it may have: on probation, one job at a time shows whether it is well."""
        want = min(want, MAX_CLAIM)
        if session.record.probation and any(other is not session for other in self.sessions()):
            return 0 if session.record.probing else min(want, 1)
        return want

    def probing(self) -> Iterator[tuple[Session, bool]]:
        """The workers here, and whether each has its probe and gets nothing beside it."""
        return ((session, self.allowed(session, 1) == 0) for session in list(self.sessions()))

    def wait(self, session: Session, number: int, want: int) -> Waiter:
        """Stands in line; `waiter.answer` is set when there is work, or `withdraw` ends it."""
        waiter = Waiter(session, number, want, asyncio.get_running_loop().create_future())
        self._waiters[waiter] = None
        return waiter

    def withdraw(self, waiter: Waiter) -> bool:
        """Leaves the line. False when it is being served: its answer will come, empty or not."""
        if self._waiters.pop(waiter, waiter) is None:
            return True
        waiter.leaving = True
        return False

    def depth(self) -> dict[str, int]:
        return self._backlog.depth() | {"waiting_workers": len(self._waiters)}

    def _serve(self) -> None:
        """Lanes are chosen for one waiter after the other, so that no more are started than there is work for."""
        if not self._waiters or not self._backlog.anything:
            return
        for waiter in sorted(self._waiters, key=_rating):
            session = waiter.session
            want = self.allowed(session, waiter.want) if self._choice.possible(session) else 0
            if chosen := self._choose(session, want):
                del self._waiters[waiter]
                spawn(self._serve_one(waiter, want, chosen))

    async def _serve_one(self, waiter: Waiter, want: int, chosen: Sequence[Chosen]) -> None:
        try:
            grants = await self._take(waiter.session, waiter.number, want, chosen)
        except Exception as error:  # noqa: BLE001 - whoever waits must hear of it, whatever it is
            if not waiter.answer.done():
                waiter.answer.set_exception(error)
            return
        if waiter.answer.done():
            # The worker went away while we claimed for it: it will name the number as lost, or its lease ends.
            log.info("grants_undelivered", worker=waiter.session.worker_id, jobs=len(grants))
        elif grants or waiter.leaving:
            waiter.answer.set_result(grants)
        else:
            # Not served again at once: what was there is not for it, and whatever comes serves the line.
            self._waiters[waiter] = None

    # Claiming.

    async def _claim(self, session: Session, number: int, chosen: Sequence[Chosen], want: int) -> list[Grant]:
        got = NOTHING
        try:
            failpoints.reach("claim.before_commit")
            got = await self._claims.take(session, number, chosen, want)
            failpoints.reach("claim.after_commit")
            outdated = bool(got.fruitless) and await self._policy.differs(chosen[0].policy)
        except BaseException:
            # What was taken comes back with the number, which has no answer; the lanes must be free for other claims.
            self._learning.learn(session, chosen, got, want)
            raise
        if outdated:
            # They gave nothing because the policy had changed: the lanes are as full as they were.
            self._learning.undo(session, got.fruitless)
            chosen = [lane for lane in chosen if lane not in got.fruitless]
        self._learning.learn(session, chosen, got, want)
        if got.rows:
            self._serve()
        return await self._grants.make(session, woven(got, chosen, self._backlog.shares.weight))

    def _alarm(self, group_id: int, seconds: float) -> None:
        """Lanes that a limit holds are tried again after this long, even if nobody says that there is room."""
        loop = asyncio.get_running_loop()
        earlier = self._alarms.get(group_id)
        if earlier is not None and earlier.when() <= loop.time() + seconds:
            return
        if earlier is not None:
            earlier.cancel()
        self._alarms[group_id] = loop.call_later(seconds, self._look_again, group_id)

    def _look_again(self, group_id: int) -> None:
        self._alarms.pop(group_id, None)
        self._backlog.free(group_id, LANES_A_LOOK)
        if self._backlog.is_blocking(group_id):
            self._alarm(group_id, LOOK_AGAIN_SECONDS)
        self._serve()


def _rating(waiter: Waiter) -> float:
    return waiter.session.rating


_tasks: set["asyncio.Task[None]"] = set()


def spawn(work: "asyncio.Future[None] | object") -> None:
    """Runs a coroutine on the side and keeps it alive until it ends."""
    task: asyncio.Task[None] = asyncio.ensure_future(work)  # type: ignore[arg-type]
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
