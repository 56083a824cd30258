"""Carries work both ways: asks for jobs with one long poll at a time, and brings back how they ended.

A completion stays in the outbox until a call that carried it was answered; sent twice, the second is refused as stale.
A fetch whose answer never came may have been granted jobs we do not know of: its number is listed as lost for two
minutes, so that the server gives them away at once.
"""

import asyncio
from collections.abc import Callable
from typing import Final

import msgspec
import structlog

from horae.model.errors import HoraeError, WorkerGone
from horae.model.matching import Free
from horae.model.states import End
from horae.model.work import Finished, JobError
from horae.wire.workers import Exchange, Exchanged
from horae.worker.backoff import Backoff
from horae.worker.clock import now
from horae.worker.link import CALL_SECONDS, Link, is_refusal

log = structlog.get_logger()
LONG_POLL: Final = 30.0
LOST_SECONDS: Final = 120.0
_LARGEST: Final = 1000
_BUSY: Final = 50
"""A fetch that brought so many jobs will soon be followed by another, which can carry what has ended meanwhile."""
_GATHER_SECONDS: Final = 0.01


class Courier:
    def __init__(
        self,
        link: Link,
        want: Callable[[], int],
        free: Callable[[], Free | None],
        accept: Callable[[Exchanged], None],
        is_over: Callable[[], bool],
    ) -> None:
        self._link = link
        self._want = want
        self._free = free
        self._accept = accept
        self._is_over = is_over
        self._number = 0
        self._lost: dict[int, float] = {}
        self._outbox: list[Finished] = []
        self._under_way = 0
        self._largest = _LARGEST
        self._last_batch = 0
        self._outgoing = asyncio.Event()
        self._wake = asyncio.Event()
        self._poll: asyncio.Task[None] | None = None

    def reset(self) -> None:
        """A new membership: nothing that belonged to the old one counts."""
        self._number = 0
        self._lost.clear()
        self._outbox.clear()
        self._outgoing.clear()

    def bring(self, outcomes: list[Finished]) -> None:
        self._outbox += outcomes
        if self._outbox:
            self._outgoing.set()

    def wake(self) -> None:
        """More jobs may be wanted now."""
        self._wake.set()

    @property
    def idle(self) -> bool:
        """Everything brought so far has been answered for."""
        return not self._outbox and not self._under_way

    @property
    def lost(self) -> list[int]:
        oldest = now() - LOST_SECONDS
        self._lost = {number: at for number, at in self._lost.items() if at > oldest}
        return list(self._lost)

    def stop_polling(self) -> None:
        if self._poll is not None:
            self._poll.cancel()

    async def fetch(self) -> None:
        backoff = Backoff()
        while True:
            self._wake.clear()
            want = self._want()
            if want <= 0:
                await self._wake.wait()
                continue
            self._poll = asyncio.create_task(self._try(want, backoff))
            try:
                await asyncio.wait([self._poll])
            finally:
                self._poll.cancel()
            if not self._poll.cancelled():
                self._poll.result()

    async def report(self) -> None:
        backoff = Backoff()
        while True:
            await self._outgoing.wait()
            if self._last_batch >= _BUSY and len(self._outbox) < _LARGEST:
                await asyncio.sleep(_GATHER_SECONDS)
            if self._outbox:
                await self._try(0, backoff)
            else:
                self._outgoing.clear()  # A fetch took it along.

    async def _try(self, want: int, backoff: Backoff) -> None:
        try:
            await self._exchange(want)
        except WorkerGone:
            raise
        except HoraeError as error:
            log.warning("exchange_failed", error=str(error))
            await backoff.wait()
        else:
            backoff.reset()

    async def _exchange(self, want: int) -> None:
        if self._is_over():
            # After a freeze: the keeper has killed what ran, and no crash of a job's own making must be told of.
            raise WorkerGone("the lease is over: what happened since is not ours to report")
        batch, self._outbox = self._outbox[: self._largest], self._outbox[self._largest :]
        if not self._outbox:
            self._outgoing.clear()
        number = self._next_number() if want else 0
        self._under_way += 1
        try:
            answer = await self._call(want, number, batch)
        except BaseException as error:
            self._broken(number, batch, error)
            raise
        finally:
            self._under_way -= 1
        self._largest = _LARGEST
        if want:
            self._last_batch = len(answer.jobs)
        for stale in answer.stale:
            log.info("completion_was_stale", job=stale.id, attempt=stale.attempt)
        self._accept(answer)

    async def _call(self, want: int, number: int, batch: list[Finished]) -> Exchanged:
        wait = LONG_POLL if want else 0.0
        body = Exchange(want=want, number=number, lost=self.lost, wait=wait, finished=batch, free=self._free())
        return await self._link.ask("exchange", body, Exchanged, wait + CALL_SECONDS)

    def _next_number(self) -> int:
        self._number += 1
        return self._number

    def _broken(self, number: int, batch: list[Finished], error: BaseException) -> None:
        if number:
            self._lost[number] = now()
        if isinstance(error, HoraeError) and is_refusal(error) and batch:
            batch = self._without_the_refused(batch, error)
        self._outbox[:0] = batch
        if self._outbox:
            self._outgoing.set()

    def _without_the_refused(self, batch: list[Finished], error: HoraeError) -> list[Finished]:
        """One bad completion must not hold up the others, nor its job's lease for ever: find it, say so."""
        if len(batch) > 1:
            self._largest = 1
            return batch
        job = batch[0]
        log.error("completion_was_refused", job=job.id, attempt=job.attempt, error=str(error))
        if job.result is msgspec.UNSET and job.blob is None:
            return []
        plain = JobError("ResultRefused", f"the server did not take the result: {error}")
        return [Finished(id=job.id, lane=job.lane, attempt=job.attempt, end=End.FATAL, error=plain)]
