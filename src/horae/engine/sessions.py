"""Worker sessions: what this server remembers of a worker that talks to it."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from horae.store.control import LaneKey

MAX_JUDGED: Final = 100_000


class Session:
    """A joined worker. `valid_until` is this server's own, cautious idea of the lease; the database decides."""

    def __init__(
        self, worker_id: int, tenant_id: int | None, tasks: frozenset[str], queues: frozenset[str] | None, state: str
    ) -> None:
        self.worker_id = worker_id
        self.tenant_id = tenant_id
        self.state = state
        self.valid_until = 0.0
        self.orders_pending = True
        """Whether there may be something to cancel: looked up with the next answer."""
        self._tasks = tasks
        self._queues = queues
        self._judged: dict[int, bool] = {}
        self._nudges: set[asyncio.Future[None]] = set()

    @property
    def alive(self) -> bool:
        return time.monotonic() < self.valid_until

    @property
    def draining(self) -> bool:
        return self.state != "active"

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

    def can_run(self, lane_id: int, key: LaneKey) -> bool:
        judged = self._judged.get(lane_id)
        if judged is None:
            if len(self._judged) >= MAX_JUDGED:
                self._judged.clear()
            judged = self._judged[lane_id] = self._judge(key)
        return judged

    def _judge(self, key: LaneKey) -> bool:
        return (
            (self.tenant_id is None or self.tenant_id == key.tenant_id)
            and key.task in self._tasks
            and (self._queues is None or key.queue in self._queues)
        )
