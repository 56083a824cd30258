"""What a job sends apart from its completion: a checkpoint, or a result too large for the exchange.

Both are tried again until the server has answered; when it does not, the lease ends first and the job with it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Final

import msgspec
import structlog

from horae.model.errors import HoraeError, WorkerGone
from horae.model.states import End
from horae.model.work import Finished, Grant, JobError
from horae.wire.workers import CheckpointUpload
from horae.worker.backoff import Backoff
from horae.worker.link import Link, is_refusal
from horae.worker.messages import Order, Save, Saved
from horae.worker.process import Child

log = structlog.get_logger()
PATIENCE: Final = 1800.0
"""How long a result is kept for a server that cannot store it. Then the attempt has failed, and may be tried again."""


class Uploads:
    def __init__(self, link: Link, bring: Callable[[list[Finished]], None]) -> None:
        self._link = link
        self._bring = bring
        self._work: set[asyncio.Task[None]] = set()

    @property
    def idle(self) -> bool:
        return not self._work

    def reset(self) -> None:
        for task in self._work:
            task.cancel()

    def save(self, child: Child, order: Order, save: Save) -> None:
        self._begin(self._save(child, order, save))

    def result(self, finished: Finished) -> None:
        self._begin(self._result(finished))

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    async def _save(self, child: Child, order: Order, save: Save) -> None:
        child.send(Saved(save.ticket, await self.checkpoint(order.grant, save.data)))

    async def checkpoint(self, grant: Grant, data: msgspec.Raw) -> str | None:
        """Why the server refused, or None once it is durable."""
        body = CheckpointUpload(id=grant.id, lane=grant.lane, attempt=grant.attempt, data=data)
        return await persist(lambda: self._link.post("checkpoints", body))

    async def _result(self, finished: Finished) -> None:
        data = bytes(finished.result or b"")
        end = End.FATAL
        try:
            async with asyncio.timeout(PATIENCE):
                refusal = await persist(lambda: self._link.put_result(finished.id, finished.attempt, data))
        except TimeoutError:
            end, refusal = End.ERROR, f"it could not be stored for {PATIENCE:g} s; the server's log says why"
        finished.result = msgspec.UNSET
        if refusal is not None:
            finished.end, finished.blob = end, None
            finished.error = JobError("ResultRefused", f"the server did not take the result: {refusal}")
        self._bring([finished])


async def persist(call: Callable[[], Awaitable[object]]) -> str | None:
    """Why the server refused, or None when it agreed."""
    backoff = Backoff()
    while True:
        try:
            await call()
        except WorkerGone:
            await asyncio.Event().wait()  # The heartbeat hears of it too and ends everything, this wait as well.
        except HoraeError as error:
            log.warning("upload_failed", error=str(error))
            if is_refusal(error):
                return str(error)
        else:
            return None
        await backoff.wait()
