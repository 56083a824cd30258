"""Group commit: single submits that arrive together go down in one statement.

A flush starts at once when none is under way, and whatever arrives meanwhile makes the next one. So an idle system
answers after one commit, a busy one shares each commit among all that wait, and there is no timer to tune. The answer
is given only after the commit.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Final

import asyncpg
import structlog

from horae.engine.admission import Admission
from horae.model.errors import HoraeError, InvalidInput, OutcomeUnknown, Overloaded, StoreUnavailable
from horae.model.overload import STRAINED
from horae.store.jobs import Jobs, NewJob

log = structlog.get_logger()

BATCH: Final = 1000
MAX_WAITING: Final = 20_000
STRAINED_WAITING: Final = int(MAX_WAITING * STRAINED)
FLUSHES_AT_ONCE: Final = 2


class GroupCommit:
    def __init__(self, jobs: Jobs, admission: Admission, announce: Callable[[Sequence[NewJob]], None]) -> None:
        self._jobs = jobs
        self._admission = admission
        self._announce = announce
        self._waiting: list[tuple[NewJob, asyncio.Future[None]]] = []
        self._flushing = 0
        self._flushes: set[asyncio.Task[None]] = set()
        admission.watch(lambda: len(self._waiting) / MAX_WAITING)

    @property
    def strained(self) -> bool:
        """Whether so many wait that not everybody may join them."""
        return len(self._waiting) >= STRAINED_WAITING

    async def store(self, job: NewJob) -> None:
        if len(self._waiting) >= MAX_WAITING:
            raise Overloaded("too many submits are waiting for the database; try again", retry_after=1)
        stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((job, stored))
        if self._flushing < FLUSHES_AT_ONCE and (self._flushing == 0 or len(self._waiting) >= BATCH):
            self._flushing += 1
            flush = asyncio.create_task(self._flush())
            self._flushes.add(flush)
            flush.add_done_callback(self._flushes.discard)
        await stored

    async def _flush(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[:BATCH], self._waiting[BATCH:]
                await self._flush_batch(batch)
        finally:
            self._flushing -= 1

    async def _flush_batch(self, batch: list[tuple[NewJob, "asyncio.Future[None]"]]) -> None:
        jobs = [job for job, _ in batch]
        started = time.monotonic()
        try:
            await self._jobs.job_submit(jobs)
        except asyncpg.PostgresError as error:
            if len(batch) > 1:
                # One job the database refuses must not fail its neighbours: find it by trying each alone.
                for single in batch:
                    await self._flush_batch([single])
                return
            log.warning("submit_refused", error=repr(error))
            _fail(batch, _refusal(error))
        except HoraeError as error:
            _fail(batch, error)
        except Exception as error:
            # Nobody foresaw it. Those that wait behind this batch must not stand until somebody else submits.
            log.exception("submit_failed")
            _fail(batch, OutcomeUnknown(f"storing the job failed, whether it was stored is unknown: {error!r}"))
        except BaseException:
            _fail(batch, OutcomeUnknown("the server is stopping; whether the job was stored is unknown"))
            raise
        else:
            self._admission.flushed(time.monotonic() - started)
            self._announce(jobs)
            for _, stored in batch:
                if not stored.done():
                    stored.set_result(None)


def _refusal(error: asyncpg.PostgresError) -> HoraeError:
    """Whose fault it is decides whether the client should try again."""
    if isinstance(
        error, asyncpg.DataError | asyncpg.IntegrityConstraintViolationError | asyncpg.ProgramLimitExceededError
    ):
        return InvalidInput(f"the database refused the job: {error}")
    return StoreUnavailable(f"the database cannot store jobs now: {error}", retry_after=2)


def _fail(batch: Sequence[tuple[NewJob, "asyncio.Future[None]"]], error: HoraeError) -> None:
    for _, stored in batch:
        if not stored.done():
            stored.set_exception(error)
