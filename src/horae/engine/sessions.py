"""Worker sessions: what this server remembers of a worker that talks to it."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from horae.engine.backlog import Profile
from horae.engine.breadth import Breadth
from horae.engine.charges import Charges
from horae.engine.line import Line
from horae.engine.numbers import Numbers
from horae.engine.record import Record
from horae.model.matching import Free, Offer, affinity, fits, sticky_choice, whole

MAX_JUDGED: Final = 100_000


class Session:
    """A joined worker. `valid_until` is this server's own, cautious idea of the lease; the database decides."""

    def __init__(
        self, offer: Offer, tenant_id: int | None, tasks: frozenset[str], queues: frozenset[str] | None, state: str
    ) -> None:
        self.worker_id = offer.worker_id
        self.tenant_id = tenant_id
        self.offer = offer
        self.state = state
        self.valid_until = 0.0
        self.orders_pending = True
        """Whether there may be something to cancel: looked up with the next answer."""
        self.whole: Free = whole(offer)
        self.free: Free = self.whole
        """What it said it has left."""
        self.load = 0.0
        """How busy it is, 0…1, as of its last heartbeat."""
        self.record = Record()
        self.numbers = Numbers()
        self.charges = Charges()
        self.breadth = Breadth()
        self.reserved_for: Profile | None = None
        """Kept free for a large job of this profile, until there is room for it."""
        self.line: Line | None = None
        self.profiles_judged = 0
        """How many of the backlog's profiles its line takes into account."""
        self._spread_out: dict[int, float] = {}
        self._tasks = tasks
        self._queues = queues
        self._judged: dict[Profile, bool] = {}
        self._nudges: set[asyncio.Future[None]] = set()

    @property
    def alive(self) -> bool:
        return time.monotonic() < self.valid_until

    @property
    def draining(self) -> bool:
        return self.state != "active"

    @property
    def rating(self) -> float:
        """The better, the smaller: how busy, how unlucky and how slow it has been of late."""
        return self.load + self.record.failing + self.record.slowness

    def renew(self, seconds: float) -> None:
        self.valid_until = time.monotonic() + seconds

    def steer(self, state: str) -> None:
        self.state = state
        self.nudge()

    def nudge(self) -> None:
        """Ends a waiting exchange now: there are orders for the worker."""
        for future in self._nudges:
            if not future.done():
                future.set_result(None)

    @contextmanager
    def nudged(self) -> Iterator["asyncio.Future[None]"]:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._nudges.add(future)
        try:
            yield future
        finally:
            self._nudges.discard(future)

    def can_run(self, profile: Profile) -> bool:
        """Whether it could run such jobs when idle. Whose jobs they are is asked elsewhere."""
        judged = self._judged.get(profile)
        if judged is None:
            if len(self._judged) >= MAX_JUDGED:
                self._judged.clear()
            judged = self._judged[profile] = (
                (profile.placement.runner is not None or profile.task in self._tasks)
                and (self._queues is None or profile.queue in self._queues)
                and fits(profile.placement, self.offer)
            )
        return judged

    def has_its_part(self, lane_id: int, seconds: float) -> None:
        """It runs as many jobs of a lane as may run on one worker. That is believed for so long, or until one ends."""
        self._spread_out[lane_id] = time.monotonic() + seconds

    def wants_part(self, lane_id: int) -> None:
        self._spread_out.pop(lane_id, None)

    def may_have_more(self, lane_id: int) -> bool:
        until = self._spread_out.get(lane_id)
        if until is not None and time.monotonic() >= until:
            del self._spread_out[lane_id]
        return lane_id not in self._spread_out

    def is_best(self, profile: Profile, others: Sequence["Session"]) -> bool:
        """Whether nobody among the others suits a preference better; sticky jobs have one home each."""
        placement = profile.placement
        if placement.sticky is not None:
            return sticky_choice(placement.sticky, [self.worker_id, *(o.worker_id for o in others)]) == self.worker_id
        mine = affinity(placement, self.offer)
        return all(affinity(placement, other.offer) <= mine for other in others)
