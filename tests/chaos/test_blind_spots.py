"""What the judge once overlooked: each test is a case in which a promise was broken and nobody would have said so."""

import math
import os
import random
from collections import Counter
from contextlib import closing
from datetime import timedelta
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace
from uuid import UUID

import pytest

from faults.effects import Run, read_runs
from horae.model.actions import ActionState
from horae.model.callbacks import SERVER
from horae.testing.proxy import Mishap

from . import journals, truth
from .campaign import Trial
from .case import CALM, FIRE, PHASE, WELL, ActionRow, AttemptRow, Case, ScheduleRow
from .checkers import CHECKERS
from .checkers.execution import THAW_SECONDS
from .checkers.leasing import SOON
from .faults import network
from .history import Call, End, History
from .menu import references_in
from .part import Freeze, Part
from .stories import NOON, called, ended, kept, moved, row, step
from .trail import PASSED
from .world import World

SECOND = timedelta(seconds=1)
FROZEN = Freeze(frozenset({40}), 3.0, 10.0, host=True)


def found(checker: str, case: Case) -> str:
    return "; ".join(violation.what for violation in CHECKERS[checker](case))


# Submission.


def test_a_bulk_that_is_answered_about_fewer_jobs_than_were_asked_for_is_caught():
    short = called("submit many", refs=["r1", "r2"], jobs=["j1"])
    assert "asked for 2 jobs, and was answered about 1" in found("lost", kept(calls=[short]))


def test_what_a_request_asks_for_is_read_from_the_wire():
    body = b'POST /v1/jobs/bulk HTTP/1.1\r\n\r\n[{"params":{"ref":"r17"}},{"params":{"seconds":1,"ref": "r18"}}]'
    assert Counter(references_in(body)) == {"r17": 1, "r18": 1}


# Schedules.


def ticking(cursor: timedelta | None, **changes: object) -> Case:
    cursors = {} if cursor is None else {"s": NOON + cursor}
    return kept(schedules=[ScheduleRow("s", NOON, NOON, 1.0, NOON)], cursors=cursors, **changes)


def test_a_schedule_that_stood_still_when_all_was_well_is_caught():
    well_at = NOON + 60 * SECOND
    assert "and no further" in found("ticks", ticking(8 * SECOND, well_at=well_at))
    assert "and no further" in found("ticks", ticking(None, well_at=well_at))
    assert "and no further" not in found("ticks", ticking(59 * SECOND, well_at=well_at))
    assert "and no further" not in found("ticks", ticking(8 * SECOND))


def test_a_schedule_without_a_single_tick_is_caught():
    assert "never ticked" in found("ticks", kept(schedules=[ScheduleRow("s", None, NOON, 1.0, NOON)]))


# Frozen hosts.


def overlapping(first: float, last: float, earlier_ends: float) -> Case:
    runs = [Run("j1", 1, 40, 2.0, earlier_ends, True), Run("j1", 2, 41, first, last, True)]
    return kept(runs=runs, freezes=[FROZEN])


def test_a_frozen_host_excuses_only_what_overlapped_while_it_was_frozen():
    assert found("overlaps", overlapping(8.0, 8.5, FROZEN.until + 0.5)) == ""
    assert found("overlaps", overlapping(9.0, 30.0, FROZEN.until + 0.5)) == ""
    assert found("overlaps", overlapping(9.0, 30.0, FROZEN.until + THAW_SECONDS + 1)) != ""
    assert found("overlaps", overlapping(FROZEN.until + 0.1, 30.0, FROZEN.until + 0.5)) != ""


def test_a_limit_counts_what_goes_on_long_after_the_thaw():
    jobs = {job: row(job, job, key="k") for job in ("j1", "j2")}
    runs = [Run("j1", 1, 40, 2.0, 30.0, True), Run("j2", 1, 41, 20.0, 21.0, True)]
    assert "2 processes at once" in found("limits", kept(jobs=jobs, runs=runs, freezes=[FROZEN]))
    runs[1] = Run("j2", 1, 41, 8.0, 9.0, True)
    assert found("limits", kept(jobs=jobs, runs=runs, freezes=[FROZEN])) == ""


# Effects.


def test_an_attempt_that_begins_twice_in_one_process_ran_twice(tmp_path: Path):
    effects = tmp_path / "effects"
    effects.write_text("j1 1 start 40 2.0\nj1 1 end 40 2.5\nj1 1 start 40 3.0\nj1 1 end 40 3.5\n")
    runs = read_runs(effects)
    assert [(run.first, run.last, run.ended) for run in runs] == [(2.0, 2.5, True), (3.0, 3.5, True)]
    assert "attempt 1 ran in the processes 40 and 40" in found("overlaps", kept(runs=runs))


# Cancels.


def cancelled(state: str = "cancelled", name: str = "cancel", **changes: object) -> Case:
    """By an answer of 3.01 by the clock that nobody sets, which is 3.01 s past noon."""
    changes = {"outcomes": [ended("j1", "cancelled")], "runs": [], "ahead": NOON.timestamp()} | changes
    case = kept(**changes)
    case.calls.append(called(name, at=3.0, jobs=["j1"], answer={"state": state}))
    case.calls[-1].asked, case.calls[-1].answer = {"jobs": ["j1"]}, {"state": state}
    return case


@pytest.mark.parametrize(("said", "ends"), [("cancelled", ["cancelled"]), ("running", ["cancelled", "succeeded"])])
def test_a_cancel_that_was_answered_holds(said, ends):
    for state in ("cancelled", "succeeded", "expired"):
        case = cancelled(said, outcomes=[ended("j1", state)])
        assert ("has ended as" in found("cancels", case)) == (state not in ends)
    assert "has ended as None" in found("cancels", cancelled(said, outcomes=[]))


@pytest.mark.parametrize("said", ["cancelled", "running"])
def test_a_job_that_is_leased_anew_after_its_cancel_is_caught(said):
    again = moved("ready", "lease", attempt=2)
    later = [each._replace(at=NOON + 5 * SECOND) for each in again]
    assert "attempt 2 was leased 2.0 s after" in found("cancels", cancelled(said, steps=later))
    before = [each._replace(at=NOON + 2 * SECOND) for each in again]
    assert found("cancels", cancelled(said, steps=before)) == ""


def cancelled_together(state: ActionState | None, **changes: object) -> Case:
    """By an action that was over three seconds past noon."""
    actions = {} if state is None else {"a1": ActionRow(state, NOON + 3 * SECOND)}
    case = cancelled(name="cancel many", steps=[], actions=actions, **changes)
    case.calls[-1].answer = {"action": "a1"}
    return case


def test_an_action_that_was_accepted_is_carried_out():
    assert found("cancels", cancelled_together(ActionState.DONE)) == ""
    for state in (None, ActionState.RUNNING, ActionState.FAILED):
        assert "was accepted, and is" in found("cancels", cancelled_together(state))


def test_what_an_action_cancelled_before_it_began_does_not_run():
    untouched = cancelled_together(ActionState.DONE, outcomes=[ended("j1")])
    assert "cancelled with others, and has ended as succeeded" in found("cancels", untouched)
    ran = moved("ready", "lease", "succeeded")
    untouched.steps = [each._replace(at=NOON + 2 * SECOND) for each in ran]
    del untouched.leases, untouched.leases_of
    assert found("cancels", untouched) == ""
    untouched.steps = [each._replace(at=NOON + 5 * SECOND) for each in ran]
    del untouched.leases, untouched.leases_of
    assert "was leased 2.0 s after" in found("cancels", untouched)


def test_a_process_that_outlives_the_end_of_its_cancelled_job_is_caught():
    steps = [step("cancelled", at=NOON + 4 * SECOND)]
    assert "ran on for 2.0 s" in found("cancels", cancelled("running", steps=steps, runs=[Run("j1", 1, 40, 2.0, 6.0)]))
    assert found("cancels", cancelled("running", steps=steps, runs=[Run("j1", 1, 40, 2.0, 4.0)])) == ""
    frozen = Freeze(frozenset({40}), 3.0, 5.5, host=True)
    excused = cancelled("running", steps=steps, runs=[Run("j1", 1, 40, 2.0, 6.0)], freezes=[frozen])
    assert found("cancels", excused) == ""


# Leases and processes.


def running(first: float, last: float, **changes: object) -> Case:
    """Leased two seconds past noon, gone eight seconds later."""
    steps = [step("lease", at=NOON + 2 * SECOND), step("lease", came=False, at=NOON + 10 * SECOND)]
    return kept(runs=[Run("j1", 1, 40, first, last, True)], steps=steps, ahead=NOON.timestamp(), **changes)


def test_a_process_that_works_without_a_lease_is_caught():
    assert found("outruns", running(3.0, 9.0)) == ""
    assert "began 1.0 s before it was leased" in found("outruns", running(1.0, 9.0))
    assert "ran on for 2.0 s after its lease" in found("outruns", running(3.0, 12.0))
    assert "was begun and ran, up to 2.0 s after its lease" in found("outruns", running(11.0, 12.0))
    assert "ran and was never leased" in found("outruns", kept(steps=[]))


def test_a_frozen_host_may_work_for_a_moment_without_a_lease_when_it_thaws():
    frozen = Freeze(frozenset({40}), 5.0, 12.0, host=True)
    assert found("outruns", running(3.0, 12.5, freezes=[frozen])) == ""
    assert found("outruns", running(12.1, 12.5, freezes=[frozen])) == ""
    assert found("outruns", running(3.0, 14.0, freezes=[frozen])) != ""
    assert found("outruns", running(3.0, 12.5, freezes=[frozen._replace(host=False)])) != ""


# Programs.


@pytest.fixture
async def part(tmp_path: Path) -> Part:
    """It has ended by itself."""
    part = Part("no-such-command", {}, dict(os.environ), tmp_path / "worker-1.log")
    await part.start()
    assert await part.ended(60)
    return part


def write_that_it_came_up(part: Part) -> None:
    with part.log.open("a") as log:
        log.write('{"event": "joined", "program": "worker"}\n')


async def test_a_program_that_ends_by_itself_is_told_of(part: Part):
    part.note_end()
    assert part.failures == []  # It had not come up: it will be tried again.
    write_that_it_came_up(part)
    part.note_end()
    assert "worker-1 ended by itself (" in "".join(part.failures)
    with part.log.open("a") as log:
        log.write("horae: an error nobody foresaw: ConnectionResetError: failpoint worker.before_start\n")
    part.failures.clear()
    part.note_end()
    assert part.failures == []  # That was us.


async def test_a_program_that_ended_before_somebody_killed_it_is_told_of(part: Part):
    write_that_it_came_up(part)
    await part.kill()
    assert "worker-1 ended by itself (" in "".join(part.failures)


# A campaign.


async def nothing(*_: object) -> None:
    """What is done in no time, where all is well."""


async def test_who_gave_up_is_told_of_where_the_drain_failed(database: str, tmp_path: Path):
    part = SimpleNamespace(failures=["server-1 ended by itself"])
    world = SimpleNamespace(folder=tmp_path, dsn=database, parts=[part], quiet=nothing)
    workload = SimpleNamespace(take_submits=nothing, ask_again=nothing, stop_schedules=nothing)
    with closing(History(tmp_path / "history.jsonl")) as record:
        trial = Trial(world, workload, record, print)  # type: ignore[arg-type]
        async with truth.connected(database) as connection:
            await connection.execute("insert into ready (rank, id, lane_id, attempt) values (1, $1, 1, 0)", UUID(int=7))
        assert await trial.quiet(patience=0.0) is None
    assert [trouble.what for trouble in trial.troubles] == part.failures


class LateLink:
    """A replay strikes as it is healed."""

    links, carried_at = 1, math.inf

    def __init__(self, coming: Mishap) -> None:
        self.coming = coming

    def heal(self) -> None:
        self.coming.befell = b"POST /v1/jobs"
        self.coming.struck.set()


async def test_a_request_that_is_sent_again_when_nobody_waits_for_it_any_more_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(network, "WAIT_SECONDS", 0.0)
    world = World(tmp_path, None, None)  # type: ignore[arg-type]
    link = LateLink(Mishap(b"POST ", replay=True))
    act = network.befall(lambda _: [link], attrgetter("coming"))  # type: ignore[list-item]
    with pytest.raises(AssertionError, match="nothing passed"):
        await act(world, random.Random(1))
    assert world.sent_again == [b"POST /v1/jobs"]


# Attempts.


def test_a_job_that_goes_on_when_its_attempts_or_crashes_are_used_up_is_caught():
    failures = [AttemptRow("j1", n, "error") for n in (1, 2)]
    case = kept(attempts=failures, outcomes=[ended("j1", attempt=3)], jobs={"j1": row("j1", "r1", max_attempts=2)})
    assert "went on after 2 of 2 attempts" in found("outcomes", case)
    case.jobs = {"j1": row("j1", "r1", max_attempts=3)}
    assert found("outcomes", case) == ""
    crashes = [AttemptRow("j1", n, "lost") for n in (1, 2, 3)]
    assert "3 of 3 crashes" in found("outcomes", kept(attempts=crashes, outcomes=[ended("j1", attempt=4)]))


# Results.


def test_a_success_whose_result_is_gone_is_caught():
    gone = [ended("j1", result=None, stored=False)]
    assert "its result is gone" in found("results", kept(outcomes=gone))
    assert found("results", kept(outcomes=[ended("j1", result=None)])) == ""
    assert found("results", kept(outcomes=gone, jobs={"j1": row("j1", "r1", task="calling")})) == ""


def read(end: End = End.OK, **answer: object) -> Call:
    return called("result", end, job="j1", last=True, answer=answer)


def test_what_cannot_be_read_at_last_is_caught():
    right = read(state="succeeded", origin=["j1", 1])
    assert "nobody could read" in found("results", kept(calls=[*kept().calls, read(End.UNKNOWN, status=500)]))
    assert found("results", kept(calls=[*kept().calls, read(End.UNKNOWN, status=500), right])) == ""


def test_a_client_that_was_told_of_another_end_is_caught():
    assert "was told that it had failed" in found("results", kept(calls=[*kept().calls, read(state="failed")]))


# Health.


def phased(at: float, status: int) -> Case:
    calls = [called(PHASE, at=since, phase=name) for since, name in ((0.0, CALM), (10.0, FIRE), (20.0, WELL))]
    return kept(calls=[*calls, called(end=End.UNKNOWN, at=at, refs=["r1"], answer={"status": status})])


@pytest.mark.parametrize(
    ("at", "status", "wrong"), [(5, 500, True), (15, 500, False), (25, 502, True), (25, 503, False)]
)
def test_a_server_that_fails_while_nothing_is_wrong_is_caught(at, status, wrong):
    assert ("while nothing was wrong" in found("health", phased(at, status))) == wrong


def test_errors_that_nobody_foresaw_are_found_in_what_servers_wrote_since(tmp_path: Path):
    journal = tmp_path / "server-1.log"
    journal.write_text('{"event": "old", "exception": "Traceback (most recent call last): old"}\n')
    since = journals.lengths(tmp_path)
    with journal.open("a") as file:
        file.write('{"event": "request_failed", "exception": "Traceback (most recent call last): ... KeyError: 7"}\n')
        file.write('{"event": "job_cancelled"}\n')
    (words,) = journals.tracebacks(tmp_path, since)
    assert words.startswith("server-1.log: request_failed")
    assert "KeyError: 7" in words
    assert "nobody foresaw" in found("health", kept(tracebacks=[words]))


# Leases.


def test_what_the_dead_held_is_found_soon_when_all_is_well():
    def gone(after: timedelta) -> Case:
        steps = [step("lease", at=NOON), step("lease", came=False, at=NOON + after)]
        attempts = [AttemptRow("j1", 1, "lost")]
        return kept(steps=steps, attempts=attempts, well_at=NOON + SECOND)

    assert found("recovery", gone(20 * SECOND)) == ""
    assert "was found lost 59 s after" in found("recovery", gone(60 * SECOND))
    assert timedelta(seconds=6) < SOON


def test_a_lease_that_is_passed_on_where_it_lies_goes_to_the_servers_only():
    steps = moved("ready", "lease", "succeeded")
    handed = step(PASSED)._replace(worker=SERVER)
    assert found("leases", kept(steps=[*steps, handed])) == ""
    assert found("transitions", kept(steps=[*steps, handed])) == ""
    assert "was passed on to worker 9" in found("leases", kept(steps=[*steps, handed._replace(worker=9)]))
