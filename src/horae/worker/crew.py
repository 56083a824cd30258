"""The child processes: how many there are, and that none outlives its use.

`slots` children run one job at a time; one more runs coroutines, if the app has any. The first hello tells which tasks
there are, so the agent itself never imports user code.
"""

import asyncio
import contextlib
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Final, Protocol

import structlog

from horae.model.errors import SetupError
from horae.worker import tree
from horae.worker.clock import now
from horae.worker.config import AgentConfig
from horae.worker.deadman import DeadMan
from horae.worker.ends import describe_exit
from horae.worker.messages import Begin, FromChild, Hello, Quit, TaskInfo
from horae.worker.process import Child

log = structlog.get_logger()
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_FIRST_DELAY: Final = 0.5
_LONGEST_DELAY: Final = 30.0


class CrewEvents(Protocol):
    def ready(self, child: Child) -> None: ...
    def heard(self, child: Child, message: FromChild) -> None: ...
    def wrote(self, child: Child, seq: int, stream: str, data: bytes) -> None: ...
    def gone(self, child: Child, status: int) -> None:
        """The process and all it had started are gone."""


class Crew:
    def __init__(self, config: AgentConfig, spec: str | None, mark: str, *marks: str) -> None:
        """Without an app there are no children. `marks` are of other processes that must not outlive the agent."""
        self._config = config
        self._spec = spec
        self._mark = mark
        self._events: CrewEvents
        self._keeper = DeadMan(mark, *marks)
        self._loop = asyncio.get_running_loop()
        self._first_hello: asyncio.Future[list[TaskInfo]] = self._loop.create_future()
        self._infos: list[TaskInfo] = []
        self._burials: set[asyncio.Task[None]] = set()
        self._closed = False
        self._delay = 0.0
        self._not_before = 0.0
        self._until = 0.0
        self.children: list[Child] = []

    async def start(self, events: CrewEvents) -> list[TaskInfo]:
        """Starts the children; returns once the first has loaded the app and said which tasks it has."""
        self._events = events
        tree.become_subreaper()
        if self._spec is None:
            return []
        for _ in range(self._config.slots):
            self._spawn(concurrent=False)
        return await asyncio.shield(self._first_hello)

    def extend(self, until: float) -> None:
        self._until = until
        self._keeper.extend(until)
        for child in self.children:
            child.extend(until)

    def guard(self, pid: int) -> None:
        """A process of an errand: like a child, it ends with the agent or its lease."""
        self._keeper.add(pid)

    def unguard(self, pid: int) -> None:
        self._keeper.remove(pid)

    # Having as many as there should be.

    def tick(self) -> None:
        self._keeper.check()
        self._fill()
        for child in self.children:
            if child.retiring and not child.quitting and not child.jobs:
                self._quit(child)

    def recycle(self) -> None:
        """Retires children that have run many jobs or hold much memory. Their last jobs end first."""
        for child in self.children:
            if child.ready and not child.retiring and self._is_worn(child):
                log.info("child_recycled", pid=child.pid, jobs=child.jobs_sent)
                self.retire(child)

    def _is_worn(self, child: Child) -> bool:
        most = self._config.max_child_memory
        return child.jobs_sent >= self._config.max_jobs_per_child or (most is not None and _memory(child.pid) > most)

    def retire(self, child: Child) -> None:
        child.retiring = True
        self._fill()

    def _fill(self) -> None:
        if self._closed or now() < self._not_before:
            return
        for concurrent, wanted in ((False, self._config.slots), (True, 1)):
            has = sum(child.concurrent is concurrent and not child.retiring for child in self.children)
            if any(info.is_async is concurrent for info in self._infos):
                for _ in range(wanted - has):
                    self._spawn(concurrent=concurrent)

    def _spawn(self, *, concurrent: bool) -> None:
        child = Child(self._spec or "", self._mark, self, self._loop)
        child.concurrent = concurrent
        child.extend(self._until)
        self._keeper.add(child.pid)
        self.children.append(child)

    # What children say.

    def heard(self, child: Child, message: FromChild) -> None:
        if isinstance(message, Hello):
            self._hello(child, message)
        else:
            self._events.heard(child, message)

    def wrote(self, child: Child, seq: int, stream: str, data: bytes) -> None:
        self._events.wrote(child, seq, stream, data)

    def _hello(self, child: Child, hello: Hello) -> None:
        if hello.error is not None:
            self._failed_to_start(child, hello.error)
            return
        if not self._first_hello.done():
            self._learn_tasks(child, hello.tasks)
        self._delay = 0.0
        # Before its first job: their start times are too coarse to tell the two apart afterwards.
        child.ready, child.own = True, frozenset(process.pid for process in tree.descendants(child.pid))
        child.send(Begin(child.concurrent))
        self._fill()
        self._events.ready(child)

    def _learn_tasks(self, child: Child, infos: list[TaskInfo]) -> None:
        self._infos = infos
        self._first_hello.set_result(infos)
        if infos and all(info.is_async for info in infos):
            # An app of coroutines only needs no other process than this one.
            child.concurrent = True
            for other in self.children:
                other.retiring = other is not child

    def _failed_to_start(self, child: Child, reason: str) -> None:
        child.retiring = child.quitting = True
        if not self._first_hello.done():
            self._first_hello.set_exception(SetupError(reason))
        elif self._first_hello.exception() is None:
            self._delay = min(_LONGEST_DELAY, max(_FIRST_DELAY, self._delay * 2))
            self._not_before = now() + self._delay
            log.error("child_failed_to_start", pid=child.pid, reason=reason, next_try_in=self._delay)
        # Else the agent ends with what the first child said; the others say the same.

    # How they end.

    def _quit(self, child: Child) -> None:
        child.quitting = True
        child.send(Quit())
        self._loop.call_later(self._config.grace, self._end_if_alive, child)

    def _end_if_alive(self, child: Child) -> None:
        if child in self.children:
            self._in_background(self.end(child))

    async def end(self, child: Child) -> None:
        """Kills the whole tree; `gone` follows by itself."""
        child.retiring = child.quitting = True
        if not child.buried.is_set():
            await asyncio.to_thread(tree.end_tree, child.pid)

    def exited(self, child: Child) -> None:
        self._in_background(self._bury(child))

    async def _bury(self, child: Child) -> None:
        # What it had started is ours to reap now. No end is reported before that is gone as well.
        await asyncio.to_thread(_end_all, self._strays())
        self._keeper.remove(child.pid)
        status = child.reap()
        self.children.remove(child)
        if not child.ready and not child.quitting:
            words = child.last_words.decode(errors="replace").strip()
            self._failed_to_start(child, f"the process ended before it was ready: {describe_exit(status)}\n{words}")
        self._events.gone(child, status)
        child.close()
        child.buried.set()
        self._fill()

    def _strays(self) -> list[int]:
        """Processes that jobs started, alive, and that have come to us because their child is gone.

        Other parts of this program may have processes too, without our mark: those are not ours to end.
        """
        known = {self._keeper.pid, *(child.pid for child in self.children)}
        return [pid for pid in set(tree.children_of(os.getpid())) - known if tree.carries(pid, self._mark)]

    def _in_background(self, work: Coroutine[None, None, None]) -> None:
        task = self._loop.create_task(work)
        self._burials.add(task)
        task.add_done_callback(self._burials.discard)

    async def end_all(self, which: Callable[[Child], bool] = lambda child: True) -> None:
        """Kills all of those children at once; returns when they are gone."""
        doomed = [child for child in self.children if which(child)]
        await asyncio.gather(*(self.end(child) for child in doomed))
        await asyncio.gather(*(child.buried.wait() for child in doomed))

    async def close(self) -> None:
        self._closed = True
        await self.end_all()
        self._keeper.close()


def _memory(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def _end_all(pids: list[int]) -> None:
    for pid in pids:
        tree.end_tree(pid)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)
