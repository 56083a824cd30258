"""The sandbox: runs a command shut in as far as this host allows, and says how far that is.

Nothing runs in it before a trial has shown that it holds. What a job needs is made ready ahead of it: the filter is
compiled once, and a launcher waits for its order.

With `shut_in` false, which only an operator can say, the command runs as the agent's user, on the host as it is; its
limits hold as far as control groups and rlimits go.
"""

import asyncio
import contextlib
import itertools
import os
import platform
import secrets
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

import structlog

from horae.model.errors import SetupError
from horae.model.work import Usage
from horae.worker import tree
from horae.worker.errands.quarters import MARK
from horae.worker.sandbox.box import Box
from horae.worker.sandbox.bubblewrap import BOX_FOLDERS, Cell, stage
from horae.worker.sandbox.cgroups import Group, Hierarchy, Reading, clear, group_name, sweep
from horae.worker.sandbox.hierarchy import find_hierarchy
from horae.worker.sandbox.hold import JobHold
from horae.worker.sandbox.launching import Launcher
from horae.worker.sandbox.limits import Bounds, rlimits
from horae.worker.sandbox.seccomp import compile_filter
from horae.worker.sandbox.supervisor import Ended, Watched, supervise
from horae.worker.sandbox.verdicts import Facts

log = structlog.get_logger()
_FIRST_USER: Final = 1_900_000_000
_USERS: Final = 1000
_RANGES: Final = 100_000
"""Users of the host that nobody has, in ranges. An agent that is root takes one by chance, so that what the kernel
counts by user is not counted together with jobs of another agent; each of its jobs runs as another user of it."""
_PAGE: Final = 4096
_STAGE_BYTES: Final = 256 * 1024
_FEWEST_FILES: Final = 1024
_MOST_FILES: Final = 1_000_000


class Run(NamedTuple):
    ended: Ended
    status: int | None
    """The job's own exit status, with 128 added to a signal; None when it was never started."""
    facts: Facts
    usage: Usage
    box: Box | None
    """To be closed by whoever gets it."""


class Sandbox:
    def __init__(self, agent: str, *, shut_in: bool = True) -> None:
        self._agent = agent
        self._numbers = itertools.count(1)
        self._shut_in = shut_in
        self._hierarchy: Hierarchy | None = None
        self._spare: Launcher | None = None
        self._first_user = _FIRST_USER + _USERS * secrets.randbelow(_RANGES)
        self._users: set[int] = set()
        self._bubblewrap = ""
        self._filter = b""
        self._can_disable_userns = False
        self._closed = False
        self.remarks: list[str] = []
        """What is missing for the full level."""

    @property
    def isolation(self) -> str:
        if not self._shut_in:
            return "none"
        return "bubblewrap+seccomp+" + ("cgroup" if self._hierarchy else "rlimits")

    def find_tools(self, dead: Iterable[str] = ()) -> None:
        """Raises SetupError when something is missing that the sandbox cannot do without."""
        self._hierarchy, reason = find_hierarchy()
        if self._hierarchy is not None:
            sweep(self._hierarchy, dead)
        else:
            self.remarks.append(reason)
        if self._shut_in:
            self._bubblewrap = shutil.which("bwrap") or ""
            if not self._bubblewrap:
                raise SetupError("bubblewrap is not installed: install the package bubblewrap, which has `bwrap`")
            self._filter = compile_filter(platform.machine())
            help_text = subprocess.run([self._bubblewrap, "--help"], capture_output=True, text=True, check=False)
            self._can_disable_userns = "--disable-userns" in help_text.stdout

    async def run(self, errand: Watched, cell: Cell, mark: str) -> Run:
        """Returns when nothing of the job is left but its box. `mark`: for the environment of its processes."""
        launcher = await self._launcher()
        with self._user() as user:
            try:
                return await self._supervised(errand, launcher, cell, self._order(cell, user, launcher.group, mark))
            finally:
                await asyncio.to_thread(_end_rest, launcher, mark)

    async def _supervised(self, errand: Watched, launcher: Launcher, cell: Cell, order: dict[str, Any]) -> Run:
        hold = JobHold(launcher, cell.bounds, shut_in=self._shut_in)
        try:
            launcher.send(order, cell.bounds)
        except OSError:
            await launcher.dismiss()
            raise
        self._prepare_next()
        try:
            ended = await supervise(errand, launcher.process, hold)
            status = launcher.job_status() if self._shut_in else _as_shell_has_it(ended.status)
            facts, box = hold.facts(), hold.box
        except BaseException:
            hold.close()
            raise
        finally:
            launcher.close()
        return Run(ended, status, facts, self._usage(ended, facts.reading), box)

    def _order(self, cell: Cell, user: int | None, group: Group | None, mark: str) -> dict[str, Any]:
        order: dict[str, Any] = {
            "rlimits": rlimits(cell.bounds, grouped=group is not None),
            "command": cell.command,
            "environment": {MARK: mark},
            "user": user,
            "shares_network": self._shut_in and cell.network,
        }
        if not self._shut_in:
            return order | {"box": None, "folder": cell.output, "environment": cell.environment | {MARK: mark}}
        staged = stage(cell, {MARK: mark}, can_disable_userns=self._can_disable_userns)
        return order | {
            "folder": "/",
            "box": _box_order(cell),
            "stage_bytes": _STAGE_BYTES + sum(len(content) + _PAGE for content in staged.files.values()),
            "shown": staged.shown,
            "files": staged.files,
            "filter": self._filter,
            "bubblewrap": self._bubblewrap,
            "options": b"".join(option.encode() + b"\0" for option in staged.options),
        }

    @contextlib.contextmanager
    def _user(self) -> Iterator[int | None]:
        """Only root can become somebody else; an agent that is not root is nobody on the host already."""
        if os.geteuid() != 0 or not self._shut_in:
            yield None
            return
        user = next(number for number in itertools.count(self._first_user) if number not in self._users)
        self._users.add(user)
        try:
            yield user
        finally:
            self._users.discard(user)

    def _usage(self, ended: Ended, reading: Reading) -> Usage:
        return Usage(
            isolation=self.isolation,
            cpu=ended.cpu if reading.cpu is None else reading.cpu,
            peak_memory=ended.peak_memory if reading.peak_memory is None else reading.peak_memory,
            read_bytes=reading.read_bytes,
            written_bytes=reading.written_bytes,
        )

    # Launchers.

    async def _launcher(self) -> Launcher:
        spare, self._spare = self._spare, None
        if spare is not None and not spare.alive:
            await _dismiss(spare)
            spare = None
        return spare or self._start()

    def _start(self) -> Launcher:
        if self._hierarchy is None:
            return Launcher(None)
        group = self._hierarchy.create(group_name(self._agent, "sandbox", next(self._numbers)), Bounds())
        try:
            return Launcher(group)
        except OSError:
            group.remove()
            raise

    def _prepare_next(self) -> None:
        if self._spare is None and not self._closed:
            with contextlib.suppress(OSError):  # The next job will say it, if it is so then.
                self._spare = self._start()

    async def close(self) -> None:
        self._closed = True
        if self._spare is not None:
            await _dismiss(self._spare)
            self._spare = None


async def _dismiss(launcher: Launcher) -> None:
    await launcher.dismiss()
    if launcher.group is not None:
        await asyncio.to_thread(clear, launcher.group)


def _box_order(cell: Cell) -> dict[str, Any]:
    files = min(_MOST_FILES, max(_FEWEST_FILES, cell.bounds.disk // _PAGE))
    size = max(_PAGE, cell.bounds.disk // _PAGE * _PAGE)
    return {"bytes": size, "files": files, "executable": cell.executable, "folders": list(BOX_FOLDERS)}


def _as_shell_has_it(status: int) -> int:
    return status if status >= 0 else 128 - status


def _end_rest(launcher: Launcher, mark: str) -> None:
    if launcher.group is None:
        tree.end_marked(f"{MARK}={mark}")
        return
    try:
        clear(launcher.group)
    except OSError as error:
        log.error("control_group_left", mark=mark, error=str(error))  # noqa: TRY400 - the next start removes it
        return
    if launcher.first is not None:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(launcher.first, 0)
