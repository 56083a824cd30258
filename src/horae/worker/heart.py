"""Keeps the lease alive, one call for all jobs, and hears of cancellations that no exchange brings."""

import asyncio
from collections.abc import Callable
from typing import Final

import structlog

from horae import failpoints
from horae.model.errors import HoraeError, Unreachable, WorkerGone
from horae.model.work import Progress
from horae.wire.workers import Heartbeat, HeartbeatAnswer, Joined
from horae.worker.clock import now
from horae.worker.lease import Lease
from horae.worker.link import Link

log = structlog.get_logger()
_PROGRESS_SECONDS: Final = 1.0
_TIMEOUT_SHARE: Final = 0.8
_KEEPER_LAG: Final = 0.5
"""The keeper strikes a moment after the agent should have."""


class Heart:
    def __init__(
        self,
        link: Link,
        describe: Callable[[], Heartbeat],
        progress: dict[str, Progress],
        accept: Callable[[HeartbeatAnswer], None],
        extend: Callable[[float], None],
    ) -> None:
        self._link = link
        self._describe = describe
        self._progress = progress
        self._accept = accept
        self._extend = extend

    async def run(self, joined: Joined, lease: Lease) -> None:
        self._extend(lease.fence_at + _KEEPER_LAG)
        while True:
            sent = now()
            if await self._beat(joined.heartbeat_seconds * _TIMEOUT_SHARE):
                lease.renew(sent)
                self._extend(lease.fence_at + _KEEPER_LAG)
                await self._pause(sent + joined.heartbeat_seconds)
            else:
                await asyncio.sleep(joined.heartbeat_seconds / 10)

    async def _beat(self, timeout: float) -> bool:
        beat = self._describe()
        beat.progress = list(self._progress.values())
        failpoints.reach("worker.before_heartbeat")
        try:
            answer = await self._link.ask("heartbeat", beat, HeartbeatAnswer, timeout)
        except WorkerGone:
            raise
        except HoraeError as error:
            log.warning("heartbeat_failed", error=str(error))
            if isinstance(error, Unreachable):
                await self._link.renew_exchanges()
            return False
        failpoints.reach("worker.after_heartbeat")
        for told in beat.progress:
            if self._progress.get(told.id) is told:
                del self._progress[told.id]
        self._accept(answer)
        return True

    async def _pause(self, until: float) -> None:
        """Until the next beat is due; sooner when there is progress to tell."""
        while (left := until - now()) > 0:
            await asyncio.sleep(min(left, _PROGRESS_SECONDS))
            if self._progress:
                return
