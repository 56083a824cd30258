"""Runs script tasks, in the sandbox unless the operator has named this worker unsandboxed for them."""

import asyncio
import contextlib
import functools
import os
from collections.abc import Mapping
from pathlib import Path

import structlog

from horae.model.errors import InvalidInput, SetupError
from horae.model.kinds import Kind, Script
from horae.model.states import End
from horae.model.work import JobError
from horae.worker.errands.errand import Errand, Outcome, Readiness, Usage
from horae.worker.errands.events import Events
from horae.worker.errands.lastline import LastLine, Listener
from horae.worker.errands.quarters import Quarters
from horae.worker.errands.workspace import Workspace
from horae.worker.sandbox.bubblewrap import PATH, Cell
from horae.worker.sandbox.sandbox import Run, Sandbox
from horae.worker.sandbox.trial import try_out
from horae.worker.sandbox.verdicts import judge
from horae.worker.scripts.building import Builder
from horae.worker.scripts.environments import Environments, key_of
from horae.worker.scripts.interpreters import python_of
from horae.worker.scripts.plan import INSIDE, furnish, outside, plan

log = structlog.get_logger()


class ScriptRunner:
    kind = Kind.SCRIPT

    def __init__(self, quarters: Quarters, environ: Mapping[str, str] | None = None) -> None:
        environ = os.environ if environ is None else environ
        self._quarters = quarters
        self._shut_in = Kind.SCRIPT not in quarters.unsandboxed
        self._path = PATH if self._shut_in else environ.get("PATH", os.defpath)
        self._sandbox = Sandbox(quarters.agent, shut_in=self._shut_in)
        self._builder = Builder(self._sandbox, environ, shut_in=self._shut_in)
        self._environments = Environments(quarters.cache / "environments")

    async def prepare(self) -> Readiness:
        try:
            await asyncio.to_thread(self._sandbox.find_tools, self._quarters.dead)
            await asyncio.to_thread(self._environments.evict)
            if self._shut_in:
                await try_out(self._sandbox, self._quarters.agent)
        except SetupError as error:
            return Readiness(ready=False, reason=error.detail)
        for remark in self._sandbox.remarks:
            log.warning("sandbox_without_control_groups", reason=remark)
        return Readiness(ready=True, isolation=self._sandbox.isolation)

    async def run(self, errand: Errand) -> Outcome:
        script = errand.brief.task.script
        assert script is not None  # noqa: S101 - the agent gives us tasks of our kind
        try:
            return await self._run(errand, script)
        except InvalidInput as error:
            return self._refused("invalid", error.detail)
        except OSError as error:
            return self._refused("sandbox", f"the script could not be started: {error}")

    async def _run(self, errand: Errand, script: Script) -> Outcome:
        if not script.requirements:
            return await self._carry_out(errand, script, None)
        python = python_of(script, self._path)
        key = key_of(script.requirements, python)
        make = functools.partial(self._builder.build, errand, script.requirements, python)
        async with self._environments.use(errand, key, make) as packages:
            if isinstance(packages, Outcome):
                return packages
            return await self._carry_out(errand, script, packages)

    async def _carry_out(self, errand: Errand, script: Script, packages: Path | None) -> Outcome:
        if errand.stop.done():
            return errand.stop.result().outcome()
        workspace, last_line = Workspace(errand), LastLine()
        cell = self._plan(errand, script, workspace, packages)
        events = Events(workspace.events, errand)
        try:
            run = await self._sandbox.run(Listener(errand, last_line), cell, errand.mark)
            await events.close()
        finally:
            events.abandon()
        await _take_output(run, errand, workspace)
        outcome = judge(run.ended, run.status, run.facts, events.retry_after)
        outcome.usage = run.usage
        if outcome.end is End.SUCCEEDED:
            outcome.result = workspace.result(script.result, last_line.text)
        else:
            workspace.discard_result()
        return outcome

    def _plan(self, errand: Errand, script: Script, workspace: Workspace, packages: Path | None) -> Cell:
        if self._shut_in:
            return plan(errand, script, workspace, INSIDE, packages)
        cell = plan(errand, script, workspace, outside(errand.folder, self._path), packages)
        furnish(errand.folder, cell)
        return cell

    def _refused(self, kind: str, text: str) -> Outcome:
        usage = Usage(isolation=self._sandbox.isolation)
        return Outcome(end=End.ERROR, error=JobError(kind, text), usage=usage)

    async def close(self) -> None:
        await self._sandbox.close()


async def _take_output(run: Run, errand: Errand, workspace: Workspace) -> None:
    if run.box is None:
        return
    with contextlib.closing(run.box):
        left_behind = await asyncio.to_thread(run.box.take, workspace.output, run.facts.bounds.disk)
    if left_behind:
        text = f"{left_behind} entries of the output folder were not taken: only files and folders are\n"
        errand.write("system", text.encode())
