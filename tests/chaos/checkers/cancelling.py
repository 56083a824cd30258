"""Cancelled: what a client was told of it holds."""

from collections.abc import Iterator, Mapping
from typing import Final

from chaos.case import Case, Violation
from chaos.history import Call, End
from horae.model.actions import ActionState
from horae.model.states import State

from .execution import OUTSIDE, SLACK_SECONDS, THAW_SECONDS

ONE: Final = "cancel"
MANY: Final = "cancel many"
AT_ONCE: Final = frozenset({State.CANCELLED})
ASKED: Final = frozenset({State.CANCELLED, State.SUCCEEDED, State.FAILED})
"""One that runs may have ended before it could be stopped."""


def cancels(case: Case) -> Iterator[Violation]:
    """A job of which a client was told that it is cancelled is so for ever; one that was to be stopped where it ran
    never begins anew; and no process of a job is there when its end as cancelled is."""
    states = {row.job: row.state for row in case.outcomes}
    for call in case.calls:
        if call.name == ONE and call.end is End.OK:
            (job,) = call.asked["jobs"]
            # The answer says how the job is a moment after it was cancelled, or was to be stopped where it runs.
            said = call.answer["state"]
            allowed = AT_ONCE if said == State.CANCELLED else ASKED
            if (state := states.get(job)) not in allowed:
                yield Violation("cancels", f"cancelled ({said}), and has ended as {state}", job)
            yield from _anew(case, job, call.ended_at)
        elif call.name == MANY and call.end is End.OK:
            yield from _many(case, call, states)
    yield from _outlived(case)


def _many(case: Case, call: Call, states: Mapping[str, str]) -> Iterator[Violation]:
    """An action that was accepted is carried out, and what had not begun by then never does."""
    action = case.actions.get(call.answer["action"])
    if action is None or action.state != ActionState.DONE:
        yield Violation("cancels", f"the action {call.answer['action']} was accepted, and is {action and action.state}")
        return
    done_at = case.instant(action.finished_at)
    for job in call.asked["jobs"]:
        state, leased = states.get(job), case.leases_of.get(job, [])
        if state not in (ASKED if leased else AT_ONCE):
            yield Violation("cancels", f"cancelled with others, and has ended as {state}", job)
        yield from _anew(case, job, done_at)


def _anew(case: Case, job: str, cancelled_at: float | None) -> Iterator[Violation]:
    for lease in case.leases_of.get(job, []):
        since = case.instant(lease.at)
        if since is not None and cancelled_at is not None and since > cancelled_at + SLACK_SECONDS:
            seconds = since - cancelled_at
            yield Violation(
                "cancels", f"attempt {lease.attempt} was leased {seconds:.1f} s after it was cancelled", job
            )


def _outlived(case: Case) -> Iterator[Violation]:
    for step in case.steps:
        cancelled_at = case.instant(step.at if step.came and step.place == State.CANCELLED else None)
        if cancelled_at is None or (row := case.jobs.get(step.job)) is None or row.task in OUTSIDE:
            continue
        for run in case.runs_of.get(step.job, []):
            seconds = run.last - cancelled_at
            excused = any(f.since <= cancelled_at <= f.until and run.last <= f.until + THAW_SECONDS
                          for f in case.frozen(run))  # fmt: skip
            if seconds > SLACK_SECONDS and not excused:
                yield Violation("cancels", f"attempt {run.attempt} ran on for {seconds:.1f} s when cancelled", step.job)
