"""Images are here before a container of them is run, and are looked for once, not before every job."""

import asyncio
import contextlib
import os
import signal
from collections import defaultdict
from collections.abc import Iterable

import structlog

from horae.model.states import End
from horae.model.work import JobError
from horae.worker import tree
from horae.worker.child.verdict import clean
from horae.worker.containers.engine import Engine, complaint, environment
from horae.worker.errands.errand import Errand, Outcome
from horae.worker.errands.narrator import Narrator
from horae.worker.sandbox.supervisor import Process, supervise

log = structlog.get_logger()


class Images:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._here: set[str] = set()

    async def fetch(self, image: str, policy: str, errand: Errand) -> Outcome | None:
        """Pulls it, if need be. What comes back is how the job ends because that could not be."""
        if policy == "never" or (policy == "missing" and image in self._here):
            return None
        async with self._locks[image]:
            if policy == "missing" and (image in self._here or await self._is_here(image)):
                self._here.add(image)
                return None
            return await self._pull(image, errand)

    def forget(self, image: str) -> None:
        """Somebody may have removed it: the next job looks again."""
        self._here.discard(image)

    async def fetch_ahead(self, images: Iterable[str]) -> None:
        for image in images:
            async with self._locks[image]:
                answer = await self._engine.call("pull", image, patience=3600)
            if answer.status:
                log.warning("image_not_pulled", image=image, reason=answer.words)
            else:
                self._here.add(image)

    async def _is_here(self, image: str) -> bool:
        return (await self._engine.call("image", "inspect", "--format", "{{.Id}}", image)).status == 0

    async def _pull(self, image: str, errand: Errand) -> Outcome | None:
        errand.write("system", f"pulling {image}\n".encode())
        process = Process(self._engine.command("pull", image), environment=environment(errand.mark))
        ended = await supervise(Narrator(errand), process, _PullHold(process.pid))
        if ended.order is not None:
            return ended.order.outcome()
        if ended.status:
            words = complaint(ended.last_words.decode(errors="replace"))
            return Outcome(end=End.ERROR, error=JobError("image", clean(f"{image} could not be pulled: {words}")))
        self._here.add(image)
        return None


class _PullHold:
    def __init__(self, pid: int) -> None:
        self._pid = pid

    def terminate(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGTERM)

    async def kill(self) -> None:
        await asyncio.to_thread(tree.end_tree, self._pid)

    def breach(self) -> JobError | None:
        return None
