"""One container from its start until nothing of it is left: no process, no container, no control group."""

import asyncio
import os
import time
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import structlog

from horae.model.states import End
from horae.model.work import JobError
from horae.worker import tree
from horae.worker.child.verdict import clean
from horae.worker.containers.disk import Disk
from horae.worker.containers.engine import FAILED, Engine, complaint, environment
from horae.worker.containers.hold import ContainerHold, Meter
from horae.worker.ends import describe_exit
from horae.worker.errands.errand import Outcome
from horae.worker.sandbox.cgroups import Group, Hierarchy, clear
from horae.worker.sandbox.groups import remove_everywhere
from horae.worker.sandbox.limits import Bounds
from horae.worker.sandbox.supervisor import Ended, Process, Watched, supervise
from horae.worker.sandbox.verdicts import Facts, judge

log = structlog.get_logger()
LABEL: Final = "horae.errand"
AGENT_LABEL: Final = "horae.agent"
_NOT_RUN: Final = frozenset({FAILED, 126, 127})
"""Exit statuses of an engine that had nothing to run, or could not run it. A job can have the same of its own."""
_MONITOR_SECONDS: Final = 5.0
_LOOK_SECONDS: Final = 0.005


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """Where and as what a container runs."""

    engine: Engine
    name: str
    """Of the container, and of the control group around it."""
    mark: str
    folder: Path
    """For what the engine notes about it."""
    bounds: Bounds
    disk: Disk
    hierarchy: Hierarchy | None

    @property
    def pid_file(self) -> Path | None:
        return self.folder / "pid" if self.engine.podman else None


class Run(NamedTuple):
    ended: Ended
    status: int | None
    """The job's own; None when it was not started, or nobody knows."""
    facts: Facts


def outcome(run: Run, retry_after: float | None) -> Outcome:
    """The same words as for scripts, and the engine's own where it was not up to the job."""
    if run.status is not None or run.ended.order is not None or run.ended.breach is not None:
        return judge(run.ended, run.status, run.facts, retry_after)
    if run.ended.status < 0:
        text = f"the container was lost: {describe_exit(run.ended.status)}"
    else:
        text = f"the container was not started: {complaint(run.ended.last_words.decode(errors='replace'))}"
    return Outcome(end=End.ERROR, error=JobError("engine", clean(text)))


async def run_container(site: Site, errand: Watched, words: list[str]) -> Run:
    group = site.hierarchy.create(site.name, site.bounds) if site.engine.nests and site.hierarchy else None
    ended: Ended | None = None
    try:
        command = site.engine.command(*site.engine.run(*_flags(site, group), *words))
        # Its monitor leaves a note of an OOM where it was started.
        client = Process(command, environment=environment(site.mark), cwd=str(site.folder))
        hold = ContainerHold(site.mark, client, site.pid_file, Meter(site.hierarchy, group), site.bounds, site.disk)
        ended = await supervise(errand, client, hold)
        facts = hold.facts() if group is not None else await _ask_engine(site, hold.facts())
        return Run(ended, _own_status(ended, started=hold.pid is not None), facts)
    finally:
        await _see_off(site, gone=group is not None and ended is not None and _has_ended(ended))
        if group is not None:
            await asyncio.to_thread(_remove_group, group, site.name)


def _flags(site: Site, group: Group | None) -> list[str]:
    flags = ["--pull=never", "--log-driver=none", f"--name={site.name}"]
    flags += [f"--label={LABEL}={site.mark}", f"--label={AGENT_LABEL}={site.mark.partition('/')[0]}"]
    if group is not None:
        # With its sums kept in our group nothing of it is needed any more, and podman's monitor removes it by itself,
        # even if the agent is gone.
        flags += ["--rm", f"--cgroup-parent=/{site.name}", "--cgroups=no-conmon"]
    if site.engine.podman:
        flags += [f"--pidfile={site.pid_file}", f"--conmon-pidfile={site.folder / 'monitor'}"]
    return flags


def _has_ended(ended: Ended) -> bool:
    """By itself, so that the engine has removed it."""
    return ended.order is None and ended.breach is None and ended.status >= 0 and ended.status not in _NOT_RUN


def _own_status(ended: Ended, *, started: bool) -> int | None:
    if ended.status < 0 or (ended.status in _NOT_RUN and not started):
        return None
    return ended.status


async def _ask_engine(site: Site, facts: Facts) -> Facts:
    """Whether the kernel killed it for its memory, where we have no group that tells."""
    answer = await site.engine.call("inspect", "--format", "{{.State.OOMKilled}}", site.name)
    if answer.out.strip() != "true":
        return facts
    return facts._replace(reading=msgspec.structs.replace(facts.reading, ooms=1))


async def _see_off(site: Site, *, gone: bool) -> None:
    if not gone:
        await site.engine.remove(site.name)
    if site.engine.podman:
        await asyncio.to_thread(_wait_for_monitor, site.folder / "monitor")


def _wait_for_monitor(file: Path) -> None:
    """Podman's monitor removes the container when it has ended, and ends then itself. It may have become our child."""
    try:
        pid = int(file.read_text())
    except (OSError, ValueError):
        return
    give_up = time.monotonic() + _MONITOR_SECONDS
    while _is_there(pid) and time.monotonic() < give_up:
        time.sleep(_LOOK_SECONDS)


def _is_there(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == 0
    except ChildProcessError:
        process = tree.look(pid)
        return process is not None and process.alive


def _remove_group(group: Group, name: str) -> None:
    try:
        clear(group)
    except OSError as error:
        log.error("control_group_left", name=name, error=str(error))  # noqa: TRY400 - the next start removes it
    remove_everywhere(name)
