"""When a call is sent again, and when that would be wrong. No I/O and no clock of its own: both clients use it.

The rule: never send a call twice unless a second one does no harm, or it is certain that the first did nothing.
Certain is: the request never left whole, or the answer was 429 or 503. A 502 or 504 comes from something between us and
the server, which may have passed the request on.
"""

import random
import time
from collections.abc import Callable
from typing import Any, Final

from horae.client.calls import Call
from horae.client.transport import Answer, Broken
from horae.model.errors import HoraeError, Unreachable
from horae.wire.problems import decode_problem

FIRST_WAIT: Final = 0.05
LONGEST_WAIT: Final = 2.0
_REFUSED_UNDONE: Final = frozenset({429, 503})
_LOST_BETWEEN: Final = frozenset({502, 504})


class Retries:
    """The tries of one call: each failure is answered with how long to wait, or with the error to raise."""

    def __init__(
        self,
        call: Call[Any],
        url: str,
        patience: float,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._call = call
        self._url = url
        self._clock = clock
        self._chance = chance
        self._end = clock() + patience
        self._ceiling = FIRST_WAIT

    def after_break(self, broken: Broken) -> float:
        if broken.sent and not self._call.repeatable:
            raise self._in_doubt(str(broken)) from broken
        wait = self._next_wait(None)
        if wait is None:
            raise Unreachable(
                f"no server answered at {self._url}: {broken}. Is it running (`horae up`), and is the address right "
                "(HORAE_URL)?"
            ) from broken
        return wait

    def after_answer(self, answer: Answer) -> float | None:
        """None when the answer stands."""
        if answer.status < 300:
            return None
        if answer.status in _LOST_BETWEEN and not self._call.repeatable:
            raise self._in_doubt(f"something on the way answered {answer.status}")
        if answer.status in _REFUSED_UNDONE or answer.status in _LOST_BETWEEN:
            wait = self._next_wait(_retry_after(answer))
            if wait is not None:
                return wait
        raise problem(answer)

    def _in_doubt(self, reason: str) -> Unreachable:
        what = f"{self._call.method} {self._call.path}"
        return Unreachable(f"{what} to {self._url} got no answer ({reason}): {self._call.doubt}")

    def _next_wait(self, asked: float | None) -> float | None:
        """Full jitter under a doubling ceiling, or what the server asked for; None once patience would run out."""
        wait = self._chance() * self._ceiling if asked is None else asked + self._chance() * FIRST_WAIT
        self._ceiling = min(self._ceiling * 2, LONGEST_WAIT)
        return wait if self._clock() + wait < self._end else None


def problem(answer: Answer) -> HoraeError:
    return decode_problem(answer.body, answer.status)


def _retry_after(answer: Answer) -> float | None:
    """Seconds only; a date would need the server's clock."""
    text = answer.retry_after or ""
    return float(text) if text.isdigit() else None
