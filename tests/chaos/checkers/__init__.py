"""What must be true, whatever went wrong. Each checker is a pure function from a case to what it found wrong.

A checker's name is its key in CHECKERS, and its docstring the promise it holds. It says nothing about a case in which
the promise was kept, and something about one in which it was not: tests/chaos/test_checkers.py has both for each.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from chaos.case import Case, Violation

from .cancelling import cancels
from .execution import outruns, overlaps, results, stale
from .health import health
from .leasing import leases, recovery
from .limiting import limits, waits
from .submission import comebacks, idempotency, lost, unexpected
from .timing import ticks
from .walking import outcomes, transitions

Checker = Callable[[Case], Iterator[Violation]]

CHECKERS: Final[dict[str, Checker]] = {
    checker.__name__: checker
    for checker in (
        lost, unexpected, idempotency, comebacks, leases, recovery, overlaps, outruns, stale, results, transitions,
        outcomes, cancels, health, ticks, limits, waits,
    )
}  # fmt: skip


def judge(case: Case, names: Iterable[str] = CHECKERS) -> list[Violation]:
    return [violation for name in names for violation in CHECKERS[name](case)]
