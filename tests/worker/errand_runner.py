"""A runner of tiny real processes, for tests of the agent's side: `sh -c SOURCE` and nothing more.

`SOURCE` is that of the script. It is not a sandbox; it keeps a runner's promises in the plainest way.
"""

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import Process

from horae.model.kinds import HttpCall, Kind, Script
from horae.model.states import End
from horae.model.task import TaskDefinition
from horae.model.work import JobError
from horae.worker import tree
from horae.worker.errands.errand import Errand, Outcome, Readiness, Usage
from horae.worker.errands.quarters import MARK, Quarters


def script(source: str) -> TaskDefinition:
    return TaskDefinition(name="s", script=Script(source=source))


def call(source: str) -> TaskDefinition:
    """As an HTTP call is, but for what it does."""
    return TaskDefinition(name="h", http=HttpCall(url=source))


class ShellRunner:
    def __init__(self, kind: Kind, quarters: Quarters) -> None:
        self.kind = kind
        self.quarters = quarters
        self.readiness = Readiness(True, isolation="none")
        self.cleaned: tuple[str, ...] | None = None
        self.closed = False

    async def prepare(self) -> Readiness:
        self.cleaned = self.quarters.dead
        return self.readiness

    async def run(self, errand: Errand) -> Outcome:
        process = await self.spawn(errand)
        reading = asyncio.create_task(self._read(process, errand))
        try:
            return await self._watch(process, errand, reading)
        finally:
            reading.cancel()
            if process.returncode is None:
                tree.end_tree(process.pid)
            errand.unguard(process.pid)
            await process.wait()

    async def spawn(self, errand: Errand) -> Process:
        task = errand.brief.task
        process = await asyncio.create_subprocess_exec(
            "sh", "-c", task.script.source if task.script else task.http.url,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
            start_new_session=True, cwd=errand.folder,
            env={"PATH": os.environ["PATH"], MARK: errand.mark, "PARAMS": bytes(errand.grant.params).decode(),
                 **errand.brief.secrets},
        )  # fmt: skip
        errand.guard(process.pid)
        return process

    async def _watch(self, process, errand, reading):
        waiting = asyncio.create_task(process.wait())
        await asyncio.wait({waiting, errand.stop}, return_when=asyncio.FIRST_COMPLETED)
        if waiting.done():
            await reading
            return self._outcome(process.returncode, errand)
        order = errand.stop.result()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        await asyncio.wait({waiting}, timeout=order.grace)
        return Outcome(end=order.end, error=JobError(order.end.value, order.text), usage=Usage(isolation="none"))

    async def _read(self, process, errand):
        while data := await process.stdout.read(65536):
            errand.write("stdout", data)

    def _outcome(self, status, errand):
        usage = Usage(isolation="none", cpu=0.5, peak_memory=4096, read_bytes=1, written_bytes=2)
        if status:
            return Outcome(end=End.ERROR, error=JobError("exit", f"status {status}"), usage=usage)
        result = errand.folder / "result"
        return Outcome(result=result.read_bytes() if result.exists() else None, usage=usage)

    async def close(self) -> None:
        self.closed = True
