"""The life of each job: only legal moves, one outcome, and a reason for it."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from chaos.case import AttemptRow, Case, OutcomeRow, Violation
from chaos.trail import Move, Step
from horae.model.retry import MAX_CRASHES
from horae.model.states import COUNTS_AS_CRASH, PENDING, TABLES, TRANSITIONS, USES_AN_ATTEMPT, End, State

STATES: Final = {table: state for state, table in TABLES.items()} | {state.value: state for state in State}


def transitions(case: Case) -> Iterator[Violation]:
    """A job is in one place at a time, moves only as TRANSITIONS allows, and its outcome is of the lease it ended."""
    for job, moves in case.moves_of.items():
        place: State | None = None
        for move in moves:
            if withdrawn(case, job, move):
                continue
            if wrong := illegal(place, move):
                there = ", though it is there" if move.target is None and job in case.jobs else ""
                yield Violation("transitions", wrong + there, job)
            place = state_of(move.target) or place
    for job, count in Counter(row.job for row in case.outcomes).items():
        if count > 1 or job in case.left:
            others = ", ".join(case.left.get(job, []))
            yield Violation("transitions", f"has {count} outcomes, and is in {others or 'no other table'}", job)


def withdrawn(case: Case, job: str, move: Move) -> bool:
    """The job of a tick that had not started, taken back because its schedule was paused. Whoever had been told of a
    job misses it by the checker `lost`, and whatever ran of it is seen by `unexpected`."""
    return move.target is None and state_of(move.source) in PENDING and job in case.of_ticks - case.jobs.keys()


def illegal(place: State | None, move: Move) -> str | None:
    source, target = state_of(move.source), state_of(move.target)
    if move.more:
        return f"was in several places at once: {[step.place for step in move.more]} beside {target}"
    if target is None:
        return f"left {source} for nowhere"
    if source != place:
        return f"went from {source} to {target} while it was in {place}"
    if target not in (PENDING if source is None else TRANSITIONS[source]):
        return f"went from {source} to {target}"
    if source is State.RUNNING and _attempt(move.source) != _attempt(move.target):
        return f"attempt {_attempt(move.source)} was leased, and {_attempt(move.target)} became {target}"
    return None


def state_of(step: Step | None) -> State | None:
    return None if step is None else STATES[step.place]


def _attempt(step: Step | None) -> int | None:
    return None if step is None else step.attempt


def outcomes(case: Case) -> Iterator[Violation]:
    """Every outcome has its cause: a job failed only because it said so, or its attempts or crashes were used up, and
    then it did; it was cancelled only because somebody asked; and no job of the suite expires or is dropped."""
    tried = _spent(case.attempts)
    spent = tried + _spent(case.outcomes)
    for job in case.jobs:
        failures, crashes = tried[job, False], tried[job, True]
        if (most := case.jobs[job].max_attempts) <= failures or crashes >= MAX_CRASHES:
            what = f"went on after {failures} of {most} attempts and {crashes} of {MAX_CRASHES} crashes"
            yield Violation("outcomes", what, job)
    asked = {job for call in case.calls if call.name.startswith("cancel") for job in call.asked["jobs"]}
    for row in case.outcomes:
        if wrong := _without_cause(case, row, spent[row.job, False], spent[row.job, True], row.job in asked):
            yield Violation("outcomes", wrong, row.job)


def _spent(rows: Iterable[AttemptRow | OutcomeRow]) -> Counter[tuple[str, bool]]:
    """By job: its failures, and with True its crashes."""
    failures = Counter((row.job, False) for row in rows if row.ending in USES_AN_ATTEMPT)
    return failures + Counter((row.job, True) for row in rows if row.ending in COUNTS_AS_CRASH)


def _without_cause(case: Case, row: OutcomeRow, failures: int, crashes: int, asked: bool) -> str | None:
    if row.job not in case.jobs:
        return f"{row.state}, and there is no such job"
    if row.state == State.SUCCEEDED or (row.state == State.CANCELLED and asked):
        return None
    if row.state != State.FAILED:
        return f"{row.state}, and nobody asked for that"
    most = case.jobs[row.job].max_attempts
    if row.ending == End.FATAL or failures >= most or crashes >= MAX_CRASHES:
        return None
    return f"failed ({row.ending}) after {failures} of {most} attempts and {crashes} of {MAX_CRASHES} crashes"
