"""What one seed came to, in numbers: pure functions from a case to the figures of the report."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Final

import msgspec

from .case import UNASKED, Case, Violation
from .checkers.execution import by_frozen_hosts
from .checkers.limiting import waited
from .history import Call, End

FAULT: Final = "fault"
WORDS: Final = 500
"""Characters of a reason that are kept."""


class Spread(msgspec.Struct):
    """Seconds."""

    number: int
    p50: float
    p99: float
    most: float


class Struck(msgspec.Struct):
    """What became of the strikes of one fault."""

    struck: int = 0
    failed: int = 0
    """Strikes that could not be done: the world was in no state for them."""
    why: str | None = None
    """The last reason for that."""
    recovery: Spread | None = None
    """From the beginning of a strike to the end of the next job that began after it."""


class Summary(msgspec.Struct, kw_only=True):
    seed: int
    commit: str = "unknown"
    """Of Horae: parts of a campaign may lie days apart."""
    seconds: float = 0.0
    well_seconds: float = 0.0
    """From the end of the fire until every part did its work again."""
    drain_seconds: float | None = None
    """From quiet to the end of the last job; None if some never ended."""
    planted: str | None = None
    jobs: dict[str, int]
    """submitted, ok, failed, unknown, and how many of the unknown had been carried out all the same."""
    ticks: dict[str, int]
    runs: int
    rerun: int
    """Jobs whose work was done more than once, one after the other: at least once is what is promised."""
    frozen_overlaps: int
    stale_refused: int
    lost_attempts: dict[str, int]
    faults: dict[str, Struck]
    latency: dict[str, Spread]
    waits: dict[str, Spread]
    violations: list[Violation]
    judged_seconds: float = 0.0
    failpoints: list[str] = []


def summed_up(case: Case, seed: int, violations: list[Violation]) -> Summary:
    return Summary(
        seed=seed,
        jobs=counted(case),
        ticks=dict(Counter(row.state for row in case.ticks)),
        runs=len(case.runs),
        rerun=sum(sum(run.ended for run in runs) > 1 for runs in case.runs_of.values()),
        frozen_overlaps=by_frozen_hosts(case),
        stale_refused=case.stale,
        lost_attempts=dict(Counter(row.ending for row in case.attempts)),
        faults=struck(case),
        latency=latency(case),
        waits={tenant: spread(seconds) for tenant, seconds in waited(case).items()},
        violations=violations,
    )


def broken_off(seed: int, error: Exception) -> Summary:
    """A seed that could not be judged has failed: nobody knows what it would have shown."""
    words = f"the seed broke off: {type(error).__name__}: {error}"[:WORDS]
    return summed_up(Case(), seed, [Violation("campaign", words)])


def spread(values: Iterable[float]) -> Spread:
    ordered = sorted(values)
    if not ordered:
        return Spread(0, 0.0, 0.0, 0.0)
    return Spread(len(ordered), median(ordered), ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))], ordered[-1])


def counted(case: Case) -> dict[str, int]:
    """Jobs asked for, by how their submit ended; one asked for again counts as its best answer."""
    best: dict[str, End] = {}
    order = (End.UNKNOWN, End.FAILED, End.OK)
    for call in case.submits:
        for ref, end in _ends(call):
            best[ref] = max(best.get(ref, end), end, key=order.index)
    unknown = {ref for ref, end in best.items() if end is End.UNKNOWN}
    made = {row.ref for row in case.jobs.values() if not row.ref.startswith(UNASKED)}
    found = {end.value: sum(value is end for value in best.values()) for end in End}
    return {"submitted": len(best), **found, "unknown and there": len(unknown & made)}


def _ends(call: Call) -> Iterable[tuple[str, End]]:
    jobs: Sequence[str | None] = call.answer.get("jobs", ())
    for number, ref in enumerate(call.asked["refs"]):
        refused = call.end is End.OK and number < len(jobs) and jobs[number] is None
        yield ref, End.FAILED if refused else call.end


def struck(case: Case) -> dict[str, Struck]:
    ends = sorted((run.first, run.last) for run in case.runs if run.ended)
    found: dict[str, Struck] = defaultdict(Struck)
    times: dict[str, list[float]] = defaultdict(list)
    for call in sorted((call for call in case.calls if call.name == FAULT), key=lambda call: call.invoked_at):
        kind = found[call.asked["fault"]]
        kind.struck += call.end is End.OK
        kind.failed += call.end is not End.OK
        kind.why = call.answer.get("why") or kind.why
        if call.end is End.OK and (recovered := _first_after(ends, call.invoked_at)) is not None:
            times[call.asked["fault"]].append(recovered - call.invoked_at)
    for name, seconds in times.items():
        found[name].recovery = spread(seconds)
    return dict(found)


def _first_after(ends: Sequence[tuple[float, float]], at: float) -> float | None:
    place = bisect_left(ends, (at, 0.0))
    return min((last for _, last in ends[place : place + 50]), default=None)


def latency(case: Case) -> dict[str, Spread]:
    """From the answer to a submit to the first start, by the phase in which it was answered."""
    found: dict[str, list[float]] = defaultdict(list)
    for call in case.submits:
        phase = case.phase(call.invoked_at)
        jobs = [job for job in call.answer.get("jobs", ()) if job in case.waits]
        if phase is not None and len(call.asked["refs"]) == 1:
            found[phase] += [case.waits[job] for job in jobs]
    return {phase: spread(seconds) for phase, seconds in found.items()}
