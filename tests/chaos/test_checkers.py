"""Each checker is silent about a kept promise and speaks up about a broken one."""

from collections import Counter
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.effects import Run
from horae.model.states import OUTCOMES, TABLES, TRANSITIONS, State

from .case import AttemptRow, Case, ScheduleRow, TickRow, WorkerRow
from .checkers import CHECKERS, judge
from .checkers.execution import by_frozen_hosts
from .checkers.limiting import FLOODING, PASSED_OVER, most_at_once
from .history import End
from .part import Freeze
from .stories import LATER, NOON, called, ended, kept, moved, row, step

SECOND = timedelta(seconds=1)


def found(checker: str, case: Case) -> str:
    return "; ".join(violation.what for violation in CHECKERS[checker](case))


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_case_in_which_all_went_well_gives_nothing(checker):
    assert found(checker, kept()) == ""


def test_the_judge_asks_all_checkers():
    assert {violation.checker for violation in judge(kept(jobs={}))} >= {"lost", "unexpected", "outcomes"}


# Submission.


def test_an_accepted_job_that_is_not_there_is_lost():
    assert "not there" in found("lost", kept(jobs={}, outcomes=[]))


def test_a_job_that_has_not_ended_is_lost():
    assert "it is in ready" in found("lost", kept(outcomes=[], left={"j1": ["ready"]}))


def test_a_job_that_is_in_no_table_is_lost():
    assert "no table at all" in found("lost", kept(outcomes=[]))


def test_a_submit_without_an_answer_may_have_made_a_job_or_not():
    unknown = called(end=End.UNKNOWN, refs=["r2"])
    assert judge(kept(calls=[*kept().calls, unknown])) == []
    there = kept(calls=[called(end=End.UNKNOWN, refs=["r1"])])
    assert judge(there) == []


def test_a_job_that_nobody_asked_for_is_unexpected():
    assert "nobody asked for r1" in found("unexpected", kept(calls=[]))


def test_a_job_that_was_refused_and_is_there_all_the_same_is_unexpected():
    assert "was refused" in found("unexpected", kept(calls=[called(end=End.FAILED, refs=["r1"])]))
    refused_in_bulk = called("submit many", refs=["r1", "r2"], jobs=[None, "j2"])
    assert "r1 was refused" in found("unexpected", kept(calls=[refused_in_bulk]))


@pytest.mark.parametrize("told", [None, "", "0", "soon", "0.4"])
def test_a_refusal_without_whole_seconds_to_come_back_in_is_caught(told):
    refused = called("submit raw", end=End.FAILED, refs=["r1"], answer={"status": 429, "retry_after": told})
    assert "was refused with 429" in found("comebacks", kept(calls=[refused]))


def test_a_refusal_that_is_final_or_says_when_to_come_back_is_right():
    told = called("submit raw", end=End.FAILED, refs=["r1"], answer={"status": 503, "retry_after": "2"})
    final = called("submit raw", end=End.FAILED, refs=["r2"], answer={"status": 422, "retry_after": None})
    assert found("comebacks", kept(calls=[told, final])) == ""


@pytest.mark.parametrize("told", [None, 0])
def test_a_job_of_a_bulk_that_is_refused_without_a_time_to_come_back_is_caught(told):
    refused = called("submit many raw", refs=["r1", "r2"], jobs=["j1", None])
    refused.answer["retry_after"] = [told]
    assert "without a time to come back" in found("comebacks", kept(calls=[refused]))
    refused.answer["retry_after"] = [0.4]
    assert found("comebacks", kept(calls=[refused])) == ""


def test_an_effect_of_no_job_is_unexpected():
    stray = Run("j9", 1, 40, 2.0, 2.5, True)
    assert "is not there" in found("unexpected", kept(runs=[*kept().runs, stray]))


def test_a_job_of_a_refused_request_is_unexpected_unless_the_network_sent_that_one_twice():
    """One of the two may be refused, and the other taken."""
    refused = called(end=End.FAILED, refs=["r1"])
    assert "was refused, and is there" in found("unexpected", kept(calls=[refused]))
    assert found("unexpected", kept(calls=[refused], repeated=Counter(["r1"]))) == ""


def test_two_jobs_of_one_request_are_unexpected_unless_the_network_sent_that_one_twice():
    twice = {"j1": row("j1", "r1"), "j2": row("j2", "r1")}
    assert "made 2 jobs" in found("unexpected", kept(jobs=twice))
    assert found("unexpected", kept(jobs=twice, repeated=Counter(["r1"]))) == ""
    assert "made 2 jobs" in found("unexpected", kept(jobs=twice, repeated=Counter(["r2"])))
    thrice = twice | {"j3": row("j3", "r1")}
    assert "made 3 jobs" in found("unexpected", kept(jobs=thrice, repeated=Counter(["r1"])))
    keyed = [called(refs=["r1"], key="k", jobs=["j1"])]
    assert "made 2 jobs" in found("unexpected", kept(jobs=twice, repeated=Counter(["r1"]), calls=keyed))


def test_one_key_with_two_answers_is_caught():
    calls = [called(refs=["r1"], key="k", jobs=[job]) for job in ("j1", "j2")]
    assert "answered with 2 jobs" in found("idempotency", kept(calls=calls, keys={"k": "j1"}))


def test_a_key_that_stands_for_another_job_in_the_store_is_caught():
    calls = [called(refs=["r1"], key="k", jobs=["j1"])]
    assert found("idempotency", kept(calls=calls, keys={"k": "j1"})) == ""
    assert "stands for j2" in found("idempotency", kept(calls=calls, keys={"k": "j2"}))


# Execution.


def test_runs_that_overlap_are_caught_whichever_attempt_began_first():
    runs = [Run("j1", 1, 40, 2.0, 9.0, True), Run("j1", 2, 41, 8.0, 8.1, True)]
    assert "ran 1.000 s into 2" in found("overlaps", kept(runs=runs))
    one_after_the_other = [Run("j1", 1, 40, 2.0, 7.9, False), Run("j1", 2, 41, 8.0, 8.1, True)]
    assert found("overlaps", kept(runs=one_after_the_other)) == ""


def test_one_attempt_in_two_processes_is_caught_even_if_one_after_the_other():
    runs = [Run("j1", 1, 40, 2.0, 3.0, True), Run("j1", 1, 41, 4.0, 5.0, True)]
    assert "in the processes 40 and 41" in found("overlaps", kept(runs=runs))


def test_an_overlap_is_excused_only_if_the_whole_host_was_frozen_before_the_other_began():
    runs = [Run("j1", 1, 40, 2.0, 30.0, True), Run("j1", 2, 41, 15.0, 16.0, True)]
    frozen = Freeze(frozenset({39, 40}), 3.0, 29.0, host=True)
    assert found("overlaps", kept(runs=runs, freezes=[frozen])) == ""
    assert by_frozen_hosts(kept(runs=runs, freezes=[frozen])) == 1
    for freeze in (frozen._replace(host=False), frozen._replace(since=15.5), frozen._replace(pids=frozenset({41}))):
        assert found("overlaps", kept(runs=runs, freezes=[freeze])) != ""


def test_an_end_by_an_attempt_that_was_taken_away_is_stale():
    taken = [AttemptRow("j1", 1, "lost")]
    assert "which had ended before" in found("stale", kept(attempts=taken))


def test_an_end_by_an_attempt_before_the_last_lease_is_stale():
    steps = [*moved("ready", "lease", "ready", attempt=1), *moved("lease", attempt=2), step("succeeded")]
    assert "after attempt 2 had begun" in found("stale", kept(steps=steps))


def test_a_success_without_an_end_of_that_attempt_is_caught():
    assert "never came to its end" in found("results", kept(runs=[Run("j1", 1, 40, 2.0, 2.0)]))
    assert "never came to its end" in found("results", kept(runs=[Run("j1", 2, 40, 2.0, 2.5, True)]))


def test_a_result_of_another_attempt_or_job_is_caught():
    for origin in (("j1", 2), ("j2", 1)):
        assert "with the result of" in found("results", kept(outcomes=[ended("j1", result=origin)]))


def test_a_result_that_a_client_read_must_be_the_one_that_counted():
    read = called("result", job="j1", answer={"state": "succeeded", "origin": ["j1", 1]})
    assert found("results", kept(calls=[*kept().calls, read])) == ""
    wrong = called("result", job="j1", answer={"state": "succeeded", "origin": ["j1", 2]})
    assert "a client got the result" in found("results", kept(calls=[*kept().calls, wrong]))


# Leases.


def test_two_leases_side_by_side_are_caught():
    steps = [step("lease", attempt=1), step("lease", attempt=2), step("lease", attempt=1, came=False)]
    assert "leased at once" in found("leases", kept(steps=steps))


def test_an_attempt_that_is_leased_again_is_caught():
    steps = [step("lease"), step("lease", came=False), step("lease")]
    assert "attempt 1 was leased after 1" in found("leases", kept(steps=steps))


def test_a_lease_for_a_worker_whose_own_is_over_is_caught():
    assert "whose own lease had ended" in found("leases", kept(steps=[step("lease", at=LATER + 2 * SECOND)]))


def test_a_lease_taken_from_a_worker_that_may_still_believe_in_it_is_caught():
    steps = [step("lease"), step("lease", came=False, at=LATER - SECOND)]
    taken = kept(steps=steps, outcomes=[], attempts=[AttemptRow("j1", 1, "lost")])
    assert "1.0 s before worker 7's lease ended" in found("leases", taken)
    taken.ahead, taken.astray = NOON.timestamp(), [(0.0, 20.0)]
    assert found("leases", taken) == ""
    taken.astray = [(0.0, 5.0)]
    assert found("leases", taken) != ""
    given_back = kept(steps=steps, outcomes=[], attempts=[AttemptRow("j1", 1, "undelivered")])
    assert found("leases", given_back) == ""
    in_time = kept(steps=[step("lease"), step("lease", came=False, at=LATER + SECOND)], outcomes=[])
    in_time.attempts = [AttemptRow("j1", 1, "lost")]
    assert found("leases", in_time) == ""


def test_a_worker_that_was_frozen_for_longer_than_its_lease_must_be_lost():
    freeze = Freeze(frozenset({90}), 10.0, 40.0, host=False)
    assert "never lost its lease" in found("recovery", kept(freezes=[freeze], workers=[WorkerRow(1, 90, "active")]))
    assert found("recovery", kept(freezes=[freeze], workers=[WorkerRow(1, 90, "lost")])) == ""
    anew = WorkerRow(2, 90, "active", joined_at=freeze.until + 1)
    assert found("recovery", kept(freezes=[freeze], workers=[WorkerRow(1, 90, "lost"), anew])) == ""
    short = freeze._replace(until=12.0)
    assert found("recovery", kept(freezes=[short], workers=[WorkerRow(1, 90, "active")])) == ""


# Walks.

PLACES = {state: TABLES.get(state, state.value) for state in State}


@given(st.data())
def test_every_walk_by_the_table_is_legal_and_any_other_move_is_caught(data):
    walk = [data.draw(st.sampled_from([State.READY, State.SCHEDULED, State.BLOCKED]))]
    for _ in range(data.draw(st.integers(0, 8))):
        if options := sorted(TRANSITIONS[walk[-1]]):
            walk.append(data.draw(st.sampled_from(options)))
    assert found("transitions", kept(steps=moved(*(PLACES[state] for state in walk)))) == ""
    if forbidden := sorted(set(State) - TRANSITIONS[walk[-1]] - {walk[-1]}):
        wrong = [*walk, data.draw(st.sampled_from(forbidden))]
        assert "went from" in found("transitions", kept(steps=moved(*(PLACES[state] for state in wrong))))


def test_a_job_in_two_places_at_once_is_caught():
    steps = [step("ready", xact=1), step("ready", came=False, xact=2), step("lease", xact=2), step("timer", xact=2)]
    assert "several places at once" in found("transitions", kept(steps=steps))


def test_a_job_that_comes_from_where_it_was_not_is_caught():
    steps = [step("ready", xact=1), step("lease", came=False, xact=2), step("succeeded", xact=2)]
    assert "while it was in ready" in found("transitions", kept(steps=steps))


def test_an_outcome_of_another_attempt_than_the_lease_is_caught():
    steps = [
        *moved("ready", "lease"),
        step("lease", attempt=1, came=False, xact=9),
        step("succeeded", attempt=2, xact=9),
    ]
    assert "attempt 1 was leased, and 2 became succeeded" in found("transitions", kept(steps=steps))


def test_two_outcomes_or_an_outcome_beside_another_place_are_caught():
    assert "2 outcomes" in found("transitions", kept(outcomes=[ended("j1"), ended("j1")]))
    assert "is in lease" in found("transitions", kept(left={"j1": ["lease"]}))


def test_the_job_of_a_coming_tick_may_be_taken_back_and_no_other():
    steps = [*moved("timer", job="t1"), step("timer", "t1", came=False)]
    ours = {"of_ticks": frozenset({"t1"})}
    assert found("transitions", kept(steps=steps, **ours)) == ""
    assert "for nowhere" in found("transitions", kept(steps=steps))
    assert "for nowhere" in found("transitions", kept(steps=steps, jobs={"t1": row("t1", "r1")}, **ours))
    running = [*moved("ready", "lease", job="t1"), step("lease", "t1", came=False)]
    assert "for nowhere" in found("transitions", kept(steps=running, **ours))


@pytest.mark.parametrize("state", sorted(OUTCOMES - {State.SUCCEEDED}))
def test_an_outcome_without_a_cause_is_caught(state):
    assert found("outcomes", kept(outcomes=[ended("j1", state, ending="error")])) != ""


def test_failures_and_cancellations_with_a_cause_are_right():
    crashes = [AttemptRow("j1", n, "lost") for n in (1, 2)]
    given_up = kept(outcomes=[ended("j1", "failed", 3, ending="crashed")], attempts=crashes)
    assert found("outcomes", given_up) == ""
    used_up = kept(outcomes=[ended("j1", "failed", 2, ending="error")], attempts=[AttemptRow("j1", 1, "timeout")])
    used_up.jobs = {"j1": row("j1", "r1", max_attempts=2)}
    assert found("outcomes", used_up) == ""
    calls = [*kept().calls, called("cancel", jobs=["j1"])]
    assert found("outcomes", kept(outcomes=[ended("j1", "cancelled")], calls=calls)) == ""


# Ticks.


def ticking(jobs: int, **changes: object) -> Case:
    schedule = ScheduleRow("s", NOON, NOON + 3 * SECOND, 1.0, NOON)
    made = [row(f"t{n}", f"tick {n}", schedule="s", tick=NOON + n * SECOND) for n in range(jobs)]
    return kept(schedules=[schedule], jobs={job.id: job for job in made}, **changes)


def test_every_tick_with_its_job_is_right():
    assert found("ticks", ticking(4)) == ""


def test_a_tick_without_a_job_needs_a_reason():
    assert "nobody says why" in found("ticks", ticking(3))
    at = NOON + 3 * SECOND
    overlapped = ticking(3, ticks=[TickRow("s", at, "skipped", "overlap")])
    assert "tick of 2026-11-16 12:00:03+00:00: overlap" in found("ticks", overlapped)
    overlapped.schedules = [schedule._replace(overlap="skip") for schedule in overlapped.schedules]
    assert found("ticks", overlapped) == ""
    assert "store_unavailable" in found("ticks", ticking(3, ticks=[TickRow("s", at, "skipped", "store_unavailable")]))


def test_a_tick_is_missed_only_where_the_clock_jumped_over_it():
    missed = ticking(2, ticks=[TickRow("s", NOON + 2 * SECOND, "skipped", "missed", 2)], ahead=NOON.timestamp())
    assert found("ticks", missed).count("missed") == 2
    missed.astray = [(1.5, 8.0)]
    assert found("ticks", missed) == ""


def test_a_tick_with_two_jobs_and_a_job_of_no_tick_are_caught():
    case = ticking(4)
    case.jobs["t9"] = row("t9", "tick 1", schedule="s", tick=NOON)
    assert "made 2 jobs" in found("ticks", case)
    case.jobs["t9"] = row("t9", "tick 1", schedule="s", tick=NOON + SECOND / 2)
    assert "no tick of it" in found("ticks", case)


def test_a_schedule_that_begins_late_is_caught():
    case = ticking(4)
    case.schedules = [case.schedules[0]._replace(made_at=NOON - 5 * SECOND)]
    assert "first tick" in found("ticks", case)


# Limits and waits.


def running(*spans: tuple[float, float], **more: object) -> Case:
    jobs = {f"j{n}": row(f"j{n}", f"r{n}", **more) for n in range(len(spans))}
    return kept(
        jobs=jobs, runs=[Run(f"j{n}", 1, n, *span, True) for n, span in enumerate(spans)], limits={"limited": 2}
    )


def test_processes_beyond_a_limit_are_caught():
    assert found("limits", running((1, 5), (2, 6), task="limited")) == ""
    assert "3 processes at once" in found("limits", running((1, 5), (2, 6), (3, 4), task="limited"))
    assert "2 processes at once" in found("limits", running((1, 5), (2, 6), key="k"))


def test_leases_beyond_a_limit_are_caught():
    steps = [step("lease", f"j{n}") for n in range(3)] + [step("lease", f"j{n}", came=False) for n in range(3)]
    case = running((1, 2), (3, 4), (5, 6), task="limited")
    case.steps = steps
    assert "3 leases at once" in found("limits", case)


def test_what_a_frozen_host_still_did_is_not_held_against_a_limit():
    case = running((1, 50), (20, 21), key="k")
    case.freezes = [Freeze(frozenset({0}), 5.0, 49.0, host=True)]
    assert found("limits", case) == ""


def test_a_slot_that_stays_taken_is_caught():
    assert "1 slots are taken" in found("limits", kept(slots=1))


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 20)).map(lambda span: (span[0], span[0] + span[1]))))
def test_most_at_once_is_what_counting_at_every_moment_gives(spans):
    moments = range(80)
    most = max((sum(since <= at < until for since, until in spans) for at in moments), default=0)
    assert most_at_once(spans) == most


def flooded(*, started_at: float, task: str = "quick") -> Case:
    """One job of the default tenant among many of the flood, one of which starts every second."""
    flood = [f"f{n}" for n in range(2 * PASSED_OVER)]
    jobs = {job: row(job, job, tenant=FLOODING) for job in flood} | {"j1": row("j1", "r1", task=task)}
    calls = [called(refs=["r1"], jobs=["j1"]), called("submit many", refs=flood, jobs=flood)]
    runs = [Run(job, 1, 1, 2.0 + n, 2.5 + n, True) for n, job in enumerate(flood)]
    runs.append(Run("j1", 1, 2, started_at, started_at + 1, True))
    return kept(jobs=jobs, calls=calls, runs=runs, limits={"limited": 2})


def test_a_tenant_that_waits_for_another_ones_flood_is_caught():
    assert found("waits", flooded(started_at=PASSED_OVER)) == ""
    assert "started and none of default, though 1 waited" in found("waits", flooded(started_at=PASSED_OVER + 10.0))
    assert found("waits", flooded(started_at=PASSED_OVER + 10.0, task="limited")) == ""


def test_one_that_never_starts_is_caught_unless_it_was_cancelled():
    case = flooded(started_at=0.0)
    case.runs.pop()
    assert "none of default" in found("waits", case)
    assert (
        found("waits", kept(jobs=case.jobs, calls=case.calls, runs=case.runs, outcomes=[ended("j1", "cancelled")]))
        == ""
    )


def test_a_tenant_that_waits_for_its_own_jobs_is_not():
    case = flooded(started_at=2.0 * PASSED_OVER)
    case.jobs["j2"] = row("j2", "r2")
    case.runs.append(Run("j2", 1, 3, PASSED_OVER, PASSED_OVER + 1.0, True))
    assert found("waits", case) == ""
