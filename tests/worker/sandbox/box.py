"""Runs Python in the sandbox and says what came of it."""

import asyncio
import os

from horae.worker.errands.errand import Outcome, StopOrder
from horae.worker.sandbox.bubblewrap import PATH, Cell
from horae.worker.sandbox.limits import Bounds
from horae.worker.sandbox.sandbox import Sandbox
from horae.worker.sandbox.verdicts import judge

AGENT = f"test-{os.getpid()}"
"""Of this process alone: what bears an attempt's mark is killed at its end, and other tests run beside these."""


class Watcher:
    def __init__(self) -> None:
        self.stop: asyncio.Future[StopOrder] = asyncio.get_running_loop().create_future()
        self.text = ""
        self.errors = ""
        self.outcome: Outcome

    def write(self, stream: str, data: bytes) -> None:
        if stream == "stdout":
            self.text += data.decode()
        else:
            self.errors += data.decode()

    def guard(self, pid: int) -> None: ...
    def unguard(self, pid: int) -> None: ...


async def run(sandbox: Sandbox, *command: str, mark: str = f"{AGENT}/job/1", **fields) -> Watcher:
    watcher = fields.pop("watcher", None) or Watcher()
    fields.setdefault("bounds", Bounds())
    cell = Cell(command=list(command), environment={"PATH": PATH}, **fields)
    ran = await sandbox.run(watcher, cell, mark)
    watcher.outcome = judge(ran.ended, ran.status, ran.facts)
    watcher.outcome.usage = ran.usage
    if ran.box is not None:
        ran.box.close()
    return watcher


async def python(sandbox: Sandbox, source: str, **fields) -> Watcher:
    return await run(sandbox, "/usr/bin/python3", "-c", source, **fields)
