"""Runs scripts as an agent does, without a server: an errand that keeps what it is told."""

import asyncio
import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec

from horae.model.kinds import Kind, Script
from horae.model.task import TaskDefinition
from horae.model.work import Grant
from horae.wire.briefs import Brief
from horae.worker import tree
from horae.worker.errands.errand import Outcome, StopOrder
from horae.worker.errands.quarters import MARK, Quarters
from horae.worker.scripts import ScriptRunner


class Recorder:
    """An errand whose words are kept."""

    def __init__(self, quarters: Quarters, task: TaskDefinition, params: Any, **more: Any) -> None:
        job = str(uuid4())  # No other test that runs beside this one has it.
        checkpoint = more.pop("checkpoint", msgspec.UNSET)
        self.grant = Grant(
            id=job,
            lane=1,
            attempt=more.pop("attempt", 1),
            task=task.name,
            params=msgspec.Raw(msgspec.json.encode(params)),
            checkpoint=checkpoint if checkpoint is msgspec.UNSET else msgspec.Raw(msgspec.json.encode(checkpoint)),
        )
        self.brief = Brief(id=job, attempt=self.grant.attempt, tenant="t", task=task, **more)
        self.folder = quarters.errand_folder(job, self.grant.attempt)
        self.mark = quarters.mark(job, self.grant.attempt)
        self.stop: asyncio.Future[StopOrder] = asyncio.get_running_loop().create_future()
        self.streams = {"stdout": b"", "stderr": b"", "system": b""}
        self.heard: list[tuple[str, Any]] = []
        self.guarded: set[int] = set()
        self.preparations: list[bytes] = []
        """What had been said when each began."""
        self.wrote = asyncio.Event()

    def write(self, stream: str, data: bytes) -> None:
        self.streams[stream] = (self.streams[stream] + data)[-100_000:]
        self.wrote.set()

    def progress(self, done: float, total: float | None, note: str | None) -> None:
        self.heard.append(("progress", (done, total, note)))

    async def checkpoint(self, data: bytes) -> None:
        self.heard.append(("checkpoint", msgspec.json.decode(data)))

    def partial(self, data: bytes) -> None:
        self.heard.append(("partial", msgspec.json.decode(data)))

    @contextlib.contextmanager
    def preparing(self) -> Iterator[None]:
        self.preparations.append(self.streams["system"])
        yield

    def guard(self, pid: int) -> None:
        self.guarded.add(pid)

    def unguard(self, pid: int) -> None:
        self.guarded.remove(pid)

    @property
    def text(self) -> str:
        return self.streams["stdout"].decode()

    @property
    def errors(self) -> str:
        return self.streams["stderr"].decode()

    @property
    def processes(self) -> list[int]:
        return tree.marked(f"{MARK}={self.mark}")

    async def said(self, text: str) -> None:
        while text not in self.text:
            self.wrote.clear()
            await asyncio.wait_for(self.wrote.wait(), 20)


class House:
    def __init__(self, state: Path, *, sandboxed: bool = True, environ: Mapping[str, str] | None = None) -> None:
        self.quarters = Quarters(state, () if sandboxed else [Kind.SCRIPT])
        self.runner = ScriptRunner(self.quarters, environ)

    def errand(self, source: str, interpreter: str | None = "sh", params: Any = None, **fields: Any) -> Recorder:
        """Fields of the script, of the task, or of the errand."""
        of_script = {name: fields.pop(name) for name in ("args", "requirements", "result") if name in fields}
        of_errand = {name: fields.pop(name) for name in ("checkpoint", "attempt") if name in fields}
        if "given_secrets" in fields:
            of_errand["secrets"] = fields.pop("given_secrets")
        task = TaskDefinition(name="t", script=Script(source=source, interpreter=interpreter, **of_script), **fields)
        return Recorder(self.quarters, task, {} if params is None else params, **of_errand)

    async def run(self, source: str, interpreter: str | None = "sh", params: Any = None, **fields: Any) -> "Done":
        errand = self.errand(source, interpreter, params, **fields)
        return Done(errand, await self.runner.run(errand))


class Done:
    def __init__(self, errand: Recorder, outcome: Outcome) -> None:
        self.errand = errand
        self.outcome = outcome
        self.end = outcome.end
        self.error = outcome.error

    @property
    def result(self) -> Any:
        return None if self.outcome.result is None else msgspec.json.decode(self.outcome.result)

    @property
    def output(self) -> dict[str, bytes]:
        folder = self.errand.folder / "output"
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
