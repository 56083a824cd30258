"""Carries work both ways: asks for jobs with one long poll at a time, and brings back how they ended.

While jobs come by the hundred, a second call asks for more, a third brings the ends, and a fourth those that pile up
meanwhile: each is one transaction, and what one of them waits for (the database's disk, the server, this process) the
others use.

A completion stays in the outbox until a call that carried it was answered; sent twice, the second is refused as stale.
A fetch whose answer never came may have been granted jobs we do not know of: its number is listed as lost for two
minutes, so that the server gives them away at once.
"""

import asyncio
from collections.abc import Callable
from typing import Final

import msgspec
import structlog

from horae import failpoints
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
_LARGEST: Final = 2000
_BUSY: Final = 50
"""A fetch that brought so many jobs will soon be followed by another, which can carry what has ended meanwhile."""
_GATHER_SECONDS: Final = 0.01
_MOST_OUTGOING: Final = 2 * _LARGEST
"""Who has so much to report takes no more jobs: if this process dies, all of that is run again."""


class Courier:
    def __init__(
        self,
        link: Link,
        want: Callable[[int], int],
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
        self._asked = 0
        """How many jobs the fetches under way ask for."""
        self._largest = _LARGEST
        self._last_batch = 0
        self._outgoing = asyncio.Event()
        self._piled = asyncio.Event()
        """As much is outgoing as one call carries."""
        self._wake = asyncio.Event()
        self._hungry = asyncio.Event()
        """More jobs are wanted than the fetch under way asks for."""
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
        if len(self._outbox) >= _LARGEST:
            self._piled.set()

    def wake(self) -> None:
        """More jobs may be wanted now."""
        self._wake.set()

    @property
    def _busy(self) -> bool:
        return self._last_batch >= _BUSY

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
            want = self._wanted()
            if want <= 0:
                await self._wake.wait()
                continue
            if self._busy:
                self._hungry.set()
            self._poll = asyncio.create_task(self._try(want, backoff, LONG_POLL))
            try:
                await asyncio.wait([self._poll])
            finally:
                self._poll.cancel()
            if not self._poll.cancelled():
                self._poll.result()

    async def fetch_beside(self) -> None:
        """A second call while one is under way, for whoever runs jobs faster than one call at a time brings them."""
        backoff = Backoff()
        while True:
            await self._hungry.wait()
            self._hungry.clear()
            await asyncio.sleep(0)  # The other call goes first.
            if (want := self._wanted()) > 0:
                await self._try(want, backoff)

    def _wanted(self) -> int:
        return self._want(self._asked) if len(self._outbox) < _MOST_OUTGOING else 0

    async def report(self) -> None:
        backoff = Backoff()
        while True:
            await self._outgoing.wait()
            if self._busy and len(self._outbox) < _LARGEST:
                await asyncio.sleep(_GATHER_SECONDS)
            if self._outbox:
                await self._try(0, backoff)
            else:
                self._outgoing.clear()  # A fetch took it along.

    async def report_beside(self) -> None:
        """A second call while one is under way, for whoever ends jobs faster than one call at a time brings them."""
        backoff = Backoff()
        while True:
            await self._piled.wait()
            self._piled.clear()
            if len(self._outbox) >= _LARGEST:  # The other call went first.
                await self._try(0, backoff)

    async def _try(self, want: int, backoff: Backoff, wait: float = 0.0) -> None:
        try:
            await self._exchange(want, wait)
        except WorkerGone:
            raise
        except HoraeError as error:
            log.warning("exchange_failed", error=str(error))
            await backoff.wait()
        else:
            backoff.reset()

    async def _exchange(self, want: int, wait: float) -> None:
        self._check_lease()
        batch = [] if want and self._busy else self._take()
        number = self._next_number() if want else 0
        self._under_way += 1
        self._asked += want
        try:
            failpoints.reach("worker.before_exchange")
            answer = await self._call(want, wait, number, batch)
        except BaseException as error:
            self._broken(number, batch, error)
            raise
        finally:
            self._under_way -= 1
            self._asked -= want
        self._largest = _LARGEST
        self._wake.set()  # The other fetch may have counted on what did not come, or too much was outgoing.
        if want:
            self._last_batch = len(answer.jobs)
        for stale in answer.stale:
            log.info("completion_was_stale", job=stale.id, attempt=stale.attempt)
        failpoints.reach("worker.after_exchange")
        self._check_lease()
        self._accept(answer)

    def _check_lease(self) -> None:
        """After a freeze the keeper has killed what ran: no crash of a job's own making must be told of, and nothing of
        an answer that waited all the while may begin."""
        if self._is_over():
            raise WorkerGone("the lease is over: what happened since is not ours to report, and nothing is ours to run")

    def _take(self) -> list[Finished]:
        batch, self._outbox = self._outbox[: self._largest], self._outbox[self._largest :]
        if not self._outbox:
            self._outgoing.clear()
        return batch

    async def _call(self, want: int, wait: float, number: int, batch: list[Finished]) -> Exchanged:
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
