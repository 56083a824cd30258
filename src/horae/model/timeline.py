"""Timeline: a stretch of time, cut up among what it went into."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple


class Span(NamedTuple):
    since: datetime
    until: datetime

    @property
    def seconds(self) -> float:
        return (self.until - self.since).total_seconds()


def total(spans: Iterable[Span]) -> float:
    return sum(span.seconds for span in spans)


def cut(left: list[Span], taken: Span) -> tuple[list[Span], float]:
    """What is left of spans without one of them, and how many seconds that took."""
    rest: list[Span] = []
    for span in left:
        since, until = max(span.since, taken.since), min(span.until, taken.until)
        if since >= until:
            rest.append(span)
            continue
        rest += [part for part in (Span(span.since, since), Span(until, span.until)) if part.since < part.until]
    return rest, total(left) - total(rest)


def within(spans: Iterable[Span], taken: Span) -> list[Span]:
    """The parts of spans that lie in one of them."""
    parts = (Span(max(span.since, taken.since), min(span.until, taken.until)) for span in spans)
    return [part for part in parts if part.since < part.until]
