"""Carries out errands: jobs whose task is data. Each is one task of the loop from its place to its end.

The agent's promises: a runner is told to stop before it is cancelled, and both have an end, after which whatever
carries the errand's mark is killed. The end is reported when nothing of the job is left, its files are stored and its
folder is gone. An errand of a lost lease is killed at once and reported to nobody.
"""

import asyncio
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final, TypeVar

import structlog

from horae.model.errors import HoraeError, WorkerGone
from horae.model.states import End
from horae.model.work import Finished, Grant, JobError
from horae.wire.briefs import Brief
from horae.worker import tree
from horae.worker.backoff import Backoff
from horae.worker.clock import now
from horae.worker.config import AgentConfig
from horae.worker.dispatch import Dispatch
from horae.worker.ends import ended
from horae.worker.errands.conclusion import broken, called_off, conclude, traceback_of
from horae.worker.errands.errand import Outcome, Runner, StopOrder
from horae.worker.errands.presence import Presence, Services
from horae.worker.errands.quarters import MARK, Quarters, remove_folder
from horae.worker.errands.roster import Place
from horae.worker.errands.runners import MakeRunner, ready_runners
from horae.worker.link import Link, is_refusal
from horae.worker.masking import Masker
from horae.worker.race import either, to_the_end

log = structlog.get_logger()
TIDY_SECONDS: Final = 5.0
"""What a runner gets to clean up, after the grace of a stop, and again when it is cancelled."""
PREPARING_SECONDS: Final = 1800.0
"""For an image to come or an environment to be made. A job's own timeout does not count it."""
_LEAVE_NO_FILES: Final = frozenset({End.UNDELIVERED, End.MOVED, End.LOST, End.PARKED})
T = TypeVar("T")


class Undertaking:
    """One errand under way."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.grant = place.order.grant
        self.stop: asyncio.Future[StopOrder] = asyncio.get_running_loop().create_future()
        self.task: asyncio.Task[None]
        self.presence: Presence | None = None
        self.started: float | None = None
        self.discarded = False
        """It is no longer ours: nothing is reported."""


class Errands:
    def __init__(
        self, config: AgentConfig, dispatch: Dispatch, link: Link, services: Services, changed: Callable[[], None]
    ) -> None:
        self._config = config
        self._dispatch = dispatch
        self._link = link
        self._services = services
        self._changed = changed
        self._under_way: set[Undertaking] = set()
        self._runners: dict[str, Runner] = {}
        self._quarters: Quarters

    async def prepare(self, quarters: Quarters | None, make: MakeRunner) -> list[str]:
        """Cleans up after dead agents and gets ready. Returns the kinds that this worker can run."""
        if quarters is None:
            return []
        self._quarters = quarters
        await quarters.end_dead_processes()
        self._runners = await ready_runners(self._config.kinds, quarters, make)
        await quarters.remove_dead()
        return list(self._runners)

    def begin(self, place: Place) -> None:
        one = Undertaking(place)
        self._under_way.add(one)
        one.task = asyncio.create_task(self._carry_out(one))

    # Stopping.

    def tick(self) -> None:
        for one in self._under_way:
            if not one.stop.done() and (reason := self._reason_to_stop(one)) is not None:
                end, text = reason
                log.info("job_stopped", job=one.grant.id, attempt=one.grant.attempt, why=end.value)
                one.stop.set_result(StopOrder(end, text, self._config.grace))

    def _reason_to_stop(self, one: Undertaking) -> tuple[End, str] | None:
        presence = one.presence
        if presence is None or one.started is None:
            return self._dispatch.reason_to_stop(one.grant, None)
        if presence.preparing_since is None:
            return self._dispatch.reason_to_stop(one.grant, one.started + presence.prepared)
        if now() - presence.preparing_since > PREPARING_SECONDS:
            return End.TIMEOUT, f"getting ready for it took longer than {PREPARING_SECONDS / 60:g} min"
        return self._dispatch.reason_to_stop(one.grant, None)

    async def end_all(self) -> None:
        """Kills everything at once; returns when it is gone."""
        doomed = list(self._under_way)
        for one in doomed:
            one.discarded = True
            one.task.cancel()
        guarded = [pid for one in doomed if one.presence is not None for pid in one.presence.guarded]
        # Not left to the runners, which take one step after the other: nobody must wait for his turn to be killed.
        await asyncio.to_thread(_end_trees, guarded)
        await asyncio.gather(*(one.task for one in doomed), return_exceptions=True)

    async def close(self) -> None:
        await self.end_all()
        for runner in self._runners.values():
            await runner.close()

    # From the place to the end.

    async def _carry_out(self, one: Undertaking) -> None:
        try:
            finished = await self._attempt(one)
        except Exception as error:  # noqa: BLE001 - whatever it is, the job has an end
            masker = one.presence.masker if one.presence else Masker({})
            log.error("errand_broke", job=one.grant.id, exception=traceback_of(error, masker))  # noqa: TRY400 - masked
            finished = broken(one.grant, error, masker)
        finally:
            self._under_way.discard(one)
            self._dispatch.errand_ended(one.place)
            self._changed()
        if not one.discarded:
            self._report(one, finished)

    def _report(self, one: Undertaking, finished: Finished) -> None:
        if not one.place.concurrent and one.started is not None:
            self._dispatch.pace.learn(one.grant.task, 1, finished.took)
        self._dispatch.report(finished, one.presence.log if one.presence else None)
        self._dispatch.feed_all()

    async def _attempt(self, one: Undertaking) -> Finished:
        brief = await _unless_stopped(one, self._fetch_brief(one.grant))
        if brief is None:
            return called_off(one.grant, one.stop.result())
        if isinstance(brief, JobError):
            return ended(one.grant, End.ERROR, brief)
        if one.place.concurrent:
            # A call leaves nothing on the host. Only runners of processes use the folder.
            return await self._run(one, brief, self._quarters.folder)
        folder = self._quarters.errand_folder(one.grant.id, one.grant.attempt)
        try:
            return await self._run(one, brief, folder)
        finally:
            await asyncio.to_thread(remove_folder, folder)

    async def _fetch_brief(self, grant: Grant) -> Brief | JobError:
        """Without an answer it is asked for until the lease is over. The error is a refusal: it ends the attempt."""
        backoff = Backoff()
        while True:
            try:
                return await self._link.brief(grant.id, grant.lane, grant.attempt)
            except WorkerGone:
                await asyncio.Event().wait()  # The heartbeat hears of it too and ends everything, this wait as well.
            except HoraeError as error:
                if is_refusal(error):
                    return JobError(error.code, str(error))
                log.warning("brief_failed", job=grant.id, error=str(error))
            await backoff.wait()

    async def _run(self, one: Undertaking, brief: Brief, folder: Path) -> Finished:
        grant, mark = one.grant, self._quarters.mark(one.grant.id, one.grant.attempt)
        presence = one.presence = Presence(grant, brief, folder, mark, one.stop, self._services)
        started = one.started = now()
        outcome = await self._supervise(one, presence)
        took = now() - started
        if not one.place.concurrent and outcome.end not in _LEAVE_NO_FILES:
            await self._services.collect(presence)
        presence.flush()
        finished = conclude(presence, outcome)
        finished.waited, finished.took = max(0.0, started - one.place.order.received), took
        return finished

    async def _supervise(self, one: Undertaking, presence: Presence) -> Outcome:
        runner = self._runners.get(one.grant.kind)
        if runner is None:
            return _failed(End.ERROR, "UnknownKind", f"this worker does not run tasks of the kind {one.grant.kind}")
        run = asyncio.create_task(runner.run(presence))
        try:
            await either(run, one.stop)
            if not run.done():
                await asyncio.wait({run}, timeout=one.stop.result().grace + TIDY_SECONDS)
            by_itself = run.done()
        finally:
            await to_the_end(_see_off(run, presence))
        return _outcome_of(run, presence.masker) if by_itself else one.stop.result().outcome()


async def _unless_stopped(one: Undertaking, work: Coroutine[Any, Any, T]) -> T | None:
    task = asyncio.create_task(work)
    try:
        await either(task, one.stop)
        return task.result() if task.done() else None
    finally:
        task.cancel()


async def _see_off(run: "asyncio.Task[Outcome]", presence: Presence) -> None:
    """Whatever the runner did or did not do, nothing of the errand is left afterwards."""
    if not run.done():
        run.cancel()
        await asyncio.wait({run}, timeout=TIDY_SECONDS)
    if not run.done() or presence.guarded:
        log.error("runner_left_something", job=presence.grant.id, processes=sorted(presence.guarded))
        await asyncio.to_thread(_end_trees, presence.guarded)
        await asyncio.to_thread(tree.end_marked, f"{MARK}={presence.mark}")
        for pid in list(presence.guarded):
            presence.unguard(pid)
    if presence.had_processes:
        await asyncio.to_thread(_end_strays, f"{MARK}={presence.mark}")


def _outcome_of(run: "asyncio.Task[Outcome]", masker: Masker) -> Outcome:
    if run.cancelled():
        return _failed(End.CRASHED, "crash", "the runner gave up")
    error = run.exception()
    if error is None:
        return run.result()
    if isinstance(error, HoraeError):
        return _failed(End.ERROR, error.code, str(error))
    log.error("runner_broke", exception=traceback_of(error, masker))
    return _failed(End.CRASHED, type(error).__name__, str(error))


def _failed(end: End, kind: str, text: str) -> Outcome:
    return Outcome(end=end, error=JobError(kind, text))


def _end_trees(pids: "set[int] | list[int]") -> None:
    for pid in pids:
        tree.end_tree(pid)


def _end_strays(mark: str) -> None:
    """What a job detached from its process came to us, for we are the subreaper."""
    for pid in tree.children_of(os.getpid()):
        if tree.carries(pid, mark):
            tree.end_tree(pid)
            try:
                os.waitpid(pid, 0)
            except ChildProcessError:
                continue
