"""Cases made up for the tests of the checkers: one in which every promise was kept, and what can go wrong with it."""

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from faults.effects import Run

from .case import Case, JobRow, OutcomeRow
from .history import Call, End
from .trail import Step

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
LATER = NOON + timedelta(seconds=10)
"""When a worker's own lease ends."""
_numbers = count(1)


def called(name: str = "submit", end: End = End.OK, at: float = 1.0, **facts: Any) -> Call:
    """`jobs` are the answer's, unless they are what was asked for."""
    answer = {"jobs": facts.pop("jobs")} if name.startswith("submit") and "jobs" in facts else facts.pop("answer", {})
    return Call(next(_numbers), "client", name, facts, at, at + 0.01, end, answer)


def step(place: str, job: str = "j1", attempt: int = 1, *, came: bool = True, xact: int = 0, **more: Any) -> Step:
    number = next(_numbers)
    at = more.pop("at", NOON)
    worker, expires = (7, LATER) if place == "lease" else (None, None)
    return Step(number, str(xact or number), at, place, came, job, attempt, worker, more.pop("expires_at", expires))


def moved(*places: str, job: str = "j1", attempt: int = 1) -> list[Step]:
    """A job's walk, one transaction a move."""
    steps: list[Step] = []
    before: str | None = None
    for place in places:
        xact = next(_numbers)
        if before is not None:
            steps.append(step(before, job, attempt, came=False, xact=xact))
        steps.append(step(place, job, attempt, xact=xact))
        before = place
    return steps


def kept(**changes: Any) -> Case:
    """One job that was asked for, accepted, leased, run and ended."""
    case = Case(
        calls=[called(refs=["r1"], jobs=["j1"])],
        runs=[Run("j1", 1, 40, 2.0, 2.5, True)],
        jobs={"j1": row("j1", "r1")},
        outcomes=[ended("j1")],
        steps=moved("ready", "lease", "succeeded"),
    )
    for name, value in changes.items():
        setattr(case, name, value)
    return case


def row(job: str, ref: str, **more: Any) -> JobRow:
    facts = {"tenant": "default", "task": "quick", "key": ""} | more
    return JobRow(id=job, ref=ref, **facts)


def ended(job: str, state: str = "succeeded", attempt: int = 1, **more: Any) -> OutcomeRow:
    return OutcomeRow(job, state, attempt, more.pop("ending", state), result=more.pop("result", (job, attempt)), **more)
