"""When nothing is wrong with the world, servers do not fail."""

from collections.abc import Iterator
from typing import Final

from chaos.case import CALM, WELL, Case, Violation

FAILED: Final = 500
OVERLOADED: Final = 503


def health(case: Case) -> Iterator[Violation]:
    """Before the first fault, and when all is well after the last, no call ends in an error of the server, and no
    server says that an error came that nobody foresaw. To be refused for now, as too much was asked, is no error."""
    for call in case.calls:
        status = call.answer.get("status") or 0
        if status >= FAILED and status != OVERLOADED and case.phase(call.invoked_at) in {CALM, WELL}:
            yield Violation("health", f"{call.name} was answered {status} while nothing was wrong")
    for words in case.tracebacks:
        yield Violation("health", f"an error that nobody foresaw, while nothing was wrong: {words}")
