"""Secrets for functions: asked for by a job when it wants one, fetched for that attempt, passed on to its process.

Whatever a process has been told it knows for the rest of its life: a variable of the module may hold it when the next
job runs there. So from then on all that comes out of that process is masked, whichever job wrote it.
"""

import asyncio

import structlog

from horae.model.errors import HoraeError, WorkerGone
from horae.model.work import Grant
from horae.wire.briefs import Brief
from horae.worker.backoff import Backoff
from horae.worker.link import Link, is_refusal
from horae.worker.messages import Ask, Order, Told
from horae.worker.process import Child

log = structlog.get_logger()


class Disclosure:
    def __init__(self, link: Link) -> None:
        self._link = link
        self._work: set[asyncio.Task[None]] = set()

    def give(self, child: Child, order: Order, ask: Ask) -> None:
        task = asyncio.create_task(self._give(child, order.grant, ask))
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    async def _give(self, child: Child, grant: Grant, ask: Ask) -> None:
        try:
            brief = await self._fetch(child, grant)
        except HoraeError as error:
            answer = Told(ask.ticket, {}, str(error))
        else:
            child.masker.learn(brief.secrets)
            answer = Told(ask.ticket, brief.secrets, None)
        if not child.buried.is_set():
            child.send(answer)

    async def _fetch(self, child: Child, grant: Grant) -> Brief:
        """Tried again while the server does not answer and the job lives; raises once it said no."""
        backoff = Backoff()
        while True:
            try:
                return await self._link.brief(grant.id, grant.lane, grant.attempt)
            except HoraeError as error:
                if is_refusal(error) or isinstance(error, WorkerGone) or child.buried.is_set():
                    raise
                log.warning("secrets_not_fetched", job=grant.id, error=str(error))
            await backoff.wait()
