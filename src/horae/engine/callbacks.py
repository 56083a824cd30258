"""Callbacks: the end of an attempt, told by whoever has the token that was made for it.

A callback is opened when a worker gets its brief, so it can be answered from the first moment, before the worker has
parked the attempt or after the worker has died. An answer is written down first and carried out then, through the same
completion as a worker's: a server that dies in between leaves it to the duty of any other. What decides is the lease,
as for every completion; a token of an attempt that is over ends nothing.

Tokens carry 256 bits and are stored as SHA-256, so that looking one up tells nothing by its time.
"""

import hashlib
import secrets
from collections.abc import Callable
from datetime import timedelta
from typing import Final
from uuid import UUID

import asyncpg
import msgspec
import structlog

from horae import failpoints
from horae.engine.complete import Complete
from horae.engine.output import Output
from horae.engine.signals import Signals
from horae.engine.sinks import Sinks
from horae.engine.strangers import Strangers
from horae.model.callbacks import SERVER, CallbackAnswer, CallbackProgress, CallbackReport, answer_of
from horae.model.errors import HoraeError, InvalidInput, NotFound, WrongState
from horae.model.job import INLINE_RESULT_BYTES
from horae.model.states import End
from horae.model.work import Finished, JobError
from horae.store.callbacks import CallbackRows
from horae.store.database import LOST
from horae.store.files import LeaseFacts

log = structlog.get_logger()

PATH: Final = "/v1/callbacks/"
TOKEN_BYTES: Final = 32
MAX_NOTE: Final = 500
LOOKS: Final = 5
"""The lease moves at most once while an answer is carried out; the rest is for the unforeseen."""
BATCH: Final = 500
DEFER_SECONDS: Final = 60.0
UNKNOWN: Final = "no attempt waits for this callback: it is unknown, over, or its time has passed"
OVERDUE: Final = CallbackAnswer(end=End.TIMEOUT, error=JobError("timeout", "nobody called back in time"))
"""What the servers say themselves when nobody else does: the first word counts, theirs as well."""
_answers = msgspec.json.Decoder(CallbackAnswer)
_encoder = msgspec.json.Encoder()


class Accepted(msgspec.Struct, frozen=True):
    job_id: str
    attempt: int
    end: End | None = None


class Callbacks:
    def __init__(
        self,
        rows: CallbackRows,
        complete: Complete,
        output: Output,
        sinks: Sinks,
        signals: Signals,
        public_url: str | None,
    ) -> None:
        self._rows = rows
        self._complete = complete
        self._output = output
        self._sinks = sinks
        self._base = (public_url or "").rstrip("/") + PATH
        self._strangers = Strangers()
        self.nudge: Callable[[], None] = lambda: None
        """Set by the engine: lets the duty look at once."""
        signals.on_cancel.append(self._note_cancel)

    def _note_cancel(self, worker_id: int) -> None:
        if worker_id == SERVER:
            self.nudge()

    async def open(self, tenant_id: int, lane_id: int, job_id: str, attempt: int, patience: timedelta) -> str:
        """The address for one attempt; without a public URL a path, which the worker knows to complete."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        seconds = patience.total_seconds()
        await self._rows.callback_open(_digest(token), tenant_id, job_id, lane_id, attempt, seconds)
        return self._base + token

    async def report(self, token: str, report: CallbackReport, address: str = "") -> Accepted:
        """What somebody says who has the token. The same said again is answered the same; anything else is refused."""
        self._strangers.check(address)
        try:
            return await self._report(_digest(token), report)
        except NotFound:
            self._strangers.note(address)
            raise

    async def _report(self, hashed: bytes, report: CallbackReport) -> Accepted:
        row = await self._rows.callback_find(hashed)
        if row is None:
            raise NotFound(UNKNOWN)
        if report.state is None and report.progress is not None:
            return await self._progress(hashed, row, report.progress)
        answer = answer_of(report)
        if row["digest"] is None and await self._rows.callback_answer(hashed, answer.digest, _text(answer)):
            failpoints.reach("callback.after_commit")
            await self._carry_out(hashed)
            return Accepted(row["id"], row["attempt"], answer.end)
        return await self._said_before(hashed, answer)

    async def _progress(self, hashed: bytes, row: asyncpg.Record, progress: CallbackProgress) -> Accepted:
        note = (progress.note or "").replace("\x00", "")[:MAX_NOTE] or None
        if not await self._rows.callback_progress(hashed, progress.done, progress.total, note):
            raise NotFound(UNKNOWN)
        return Accepted(row["id"], row["attempt"])

    async def _said_before(self, hashed: bytes, answer: CallbackAnswer) -> Accepted:
        row = await self._rows.callback_find(hashed)
        if row is None or row["digest"] in (None, OVERDUE.digest):
            raise NotFound(UNKNOWN)
        if row["digest"] != answer.digest:
            raise WrongState(f"attempt {row['attempt']} of job {row['id']} was reported before, in another way")
        await self._carry_out(hashed)
        return Accepted(row["id"], row["attempt"], answer.end)

    async def _carry_out(self, hashed: bytes) -> None:
        """Ends the attempt as its answer says, whoever holds it now. Done already: nothing happens."""
        for _ in range(LOOKS):
            row = await self._rows.callback_find(hashed)
            if row is None or row["settled_at"] is not None:
                return
            if row["worker_id"] is None or await self._end(row):
                failpoints.reach("callback.before_settle")
                await self._rows.callback_settle([hashed])
                return
        # The duty sees to it within a second.

    async def _end(self, row: asyncpg.Record) -> bool:
        answer = _answers.decode(row["answer"])
        finished = Finished(
            id=row["id"], lane=row["lane_id"], attempt=row["attempt"], end=answer.end, result=answer.result,
            error=answer.error, retry_after=answer.retry_after,
        )  # fmt: skip
        if answer.result is not msgspec.UNSET:
            try:
                finished = await self._with_result(row, finished, bytes(answer.result))
            except WrongState:
                return False
        return await self._ended(row["worker_id"], finished)

    async def _with_result(self, row: asyncpg.Record, finished: Finished, data: bytes) -> Finished:
        """Keeps a large result, and writes the task's sink, before the attempt ends: as when a worker brings one."""
        job_id = UUID(row["id"])
        try:
            if len(data) <= INLINE_RESULT_BYTES:
                await self._sinks.write(LeaseFacts(row["tenant_id"], row["tenant"], row["task"]), job_id, data)
                return finished
            await self._output.save_result(row["worker_id"], job_id, row["attempt"], data)
        except InvalidInput as error:
            fault = JobError("ResultRefused", f"the result was not taken: {error.detail}")
            return msgspec.structs.replace(finished, end=End.FATAL, result=msgspec.UNSET, error=fault)
        return msgspec.structs.replace(finished, result=msgspec.UNSET, blob=len(data))

    async def _ended(self, worker_id: int, finished: Finished) -> bool:
        return not await self._complete.attempts(worker_id, [finished])

    # What the servers see to by themselves.

    async def see_to_due(self) -> tuple[int, int]:
        """Carries out answers that are left, and ends attempts whose time is over. How many of each."""
        answered = overdue = 0
        later: list[bytes] = []
        for row in await self._rows.callback_due(BATCH):
            try:
                if row["answer"] is not None or row["worker_id"] is None:
                    answered += row["answer"] is not None
                    await self._carry_out(row["token"])
                elif row["worker_id"] == SERVER:
                    overdue += await self._give_up(row["token"])
                else:
                    later.append(row["token"])  # The call itself still runs; its own timeout ends it.
            except HoraeError as error:
                log.warning("callback_not_settled", job=row["id"], attempt=row["attempt"], why=error.detail)
                later.append(row["token"])
            except LOST:
                raise
            except Exception:  # One that nobody foresaw must not keep all that come after it from their end.
                log.exception("callback_not_settled", job=row["id"], attempt=row["attempt"])
                later.append(row["token"])
        if later:
            await self._rows.callback_defer(later, DEFER_SECONDS)
        return answered, overdue

    async def _give_up(self, hashed: bytes) -> bool:
        late = await self._rows.callback_answer(hashed, OVERDUE.digest, _text(OVERDUE))
        if late:
            await self._carry_out(hashed)
        return late

    async def carry_out_cancels(self) -> int:
        """Ends parked attempts that were asked to stop: there is nothing to wait for."""
        rows = await self._rows.callback_cancels(BATCH)
        return sum([await self.cancel(row["lane_id"], row["id"], row["attempt"], row["reason"]) for row in rows])

    async def cancel(self, lane_id: int, job_id: str, attempt: int, reason: str) -> bool:
        error = JobError("cancelled", reason or "cancelled while it waited for its callback")
        finished = Finished(id=job_id, lane=lane_id, attempt=attempt, end=End.CANCELLED, error=error)
        return await self._ended(SERVER, finished)

    async def forget(self, seconds: float) -> None:
        """Callbacks that were settled so long ago; who says the same again then is told 404."""
        await self._rows.callback_clean(seconds)

    async def of_job(self, tenant_id: int, job_id: UUID, attempt: int) -> asyncpg.Record | None:
        """Since when it is parked, and until when."""
        return await self._rows.callback_of_job(tenant_id, job_id, attempt)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def _text(answer: CallbackAnswer) -> str:
    return _encoder.encode(answer).decode()
