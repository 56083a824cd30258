"""A worker played by hand: it says to a server whatever a scene needs, in the worker's own protocol."""

import contextlib
import json
import os
import time
from pathlib import Path
from typing import Final

import msgspec

from horae.model.errors import HoraeError
from horae.model.states import End
from horae.model.work import Finished, Grant, JobError
from horae.wire.workers import Exchange, Exchanged, Join
from horae.worker.config import Connection
from horae.worker.link import Link

from .jobs import app

SLOTS: Final = 100
WAIT: Final = 20.0
ANSWER: Final = 20.0


class Puppet:
    def __init__(self, url: str, key: str, name: str, pid: int, effects: Path) -> None:
        """`pid`: the process that its jobs seem to run in."""
        self._link = Link(Connection(url, key))
        self._name = name
        self._pid = pid
        self._effects = effects
        self._number = 0

    async def join(self) -> None:
        tasks = [task.definition for task in app.tasks.values()]
        await self._link.join(Join(name=self._name, host="puppets", slots=SLOTS, tasks=tasks, pid=self._pid))

    async def close(self) -> None:
        await self._link.close()

    async def take(self, want: int = 1, wait: float = WAIT, *, lost: bool = False) -> list[Grant]:
        """Jobs, which begin to run when they are here."""
        grants = await self.granted(want, wait, lost=lost)
        for grant in grants:
            self._note(grant, "start")
        return grants

    async def granted(self, want: int = 1, wait: float = WAIT, *, lost: bool = False) -> list[Grant]:
        """Jobs that do not begin. `lost`: the answer to the call before this one never came."""
        numbers = [self._number] if lost else []
        self._number += 1
        asked = Exchange(want=want, number=self._number, wait=wait, lost=numbers)
        return (await self._link.ask("exchange", asked, Exchanged, wait + ANSWER)).jobs

    async def succeed(self, *grants: Grant) -> Exchanged:
        """Each has come to its end, and all are reported together."""
        for grant in grants:
            self._note(grant, "end")
        return await self.say(*(self.success(grant) for grant in grants))

    async def fail(self, grant: Grant) -> Exchanged:
        error = JobError("RuntimeError", "as the scene wants it")
        return await self.say(Finished(id=grant.id, lane=grant.lane, attempt=grant.attempt, end=End.ERROR, error=error))

    @staticmethod
    def success(grant: Grant) -> Finished:
        result = msgspec.Raw(json.dumps({"job": grant.id, "attempt": grant.attempt}).encode())
        return Finished(id=grant.id, lane=grant.lane, attempt=grant.attempt, result=result)

    async def say(self, *finished: Finished) -> Exchanged:
        return await self._link.ask("exchange", Exchange(finished=list(finished)), Exchanged, ANSWER)

    async def run_some(self) -> None:
        """Runs what there is now. A server with a bug may trip over it: what is left then is seen in the end."""
        with contextlib.suppress(HoraeError):
            await self.succeed(*await self.take(SLOTS, 0.3))

    def _note(self, grant: Grant, what: str) -> None:
        line = f"{grant.id} {grant.attempt} {what} {self._pid} {time.monotonic()}\n"
        file = os.open(self._effects, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(file, line.encode())
        finally:
            os.close(file)
