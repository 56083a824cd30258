"""What is watched: series of values by time, each with what growth in a day would matter."""

import math
import statistics
from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from horae.bench.figures import percentile
from horae.bench.soak.flatness import Judgement, Tolerance, judge

TOLERANCES: Final[Mapping[str, Tolerance]] = {
    "MB": Tolerance(10),
    "descriptors": Tolerance(8),
    "threads": Tolerance(4),
    "processes": Tolerance(4),
    "tables": Tolerance(4),
    "connections": Tolerance(4),
    "rows": Tolerance(50_000),
    "files": Tolerance(1000),
    "ms": Tolerance(2),
    "MB/s": Tolerance(0.05),
    "% of a core": Tolerance(5),
    "× its median": Tolerance(math.inf),  # the machine's own pace: told, and no fault of ours
}
"""By unit. The smallest growth in a day that could ever hurt; above it, the share of the level decides."""
NEIGHBOURS: Final = 15
"""Looks at the pace of the machine, around a moment, that tell what it was then."""


class Series(msgspec.Struct, frozen=True):
    family: str
    """Which are drawn together."""
    name: str
    unit: str
    points: list[tuple[float, float]]

    def judged(self, since: float) -> Judgement:
        return judge(self.points, since, TOLERANCES[self.unit])


class Sample(NamedTuple):
    """All that was seen at one look."""

    at: float
    values: dict[tuple[str, str, str], float]
    """By family, name and unit. A value that was not there, as of a table that came later, is simply missing."""


def to_series(samples: Iterable[Sample]) -> list[Series]:
    found: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
    for sample in samples:
        for key, value in sample.values.items():
            found.setdefault(key, []).append((sample.at, value))
    return [Series(*key, points) for key, points in found.items()]


def rates(series: Series, name: str, unit: str, factor: float = 1.0) -> Series:
    """Of something that is counted on and on, how much a second."""
    pairs = zip(series.points, series.points[1:], strict=False)
    points = [(at, factor * (value - before) / (at - since)) for (since, before), (at, value) in pairs if at > since]
    return Series(series.family, name, unit, points)


def paces(work: Sequence[tuple[float, float]]) -> Series:
    """How long the machine took for the same work, in shares of the usual: each look with its neighbours' median."""
    usual = statistics.median(seconds for _, seconds in work) if work else 1.0
    points = [(at, _around(work, n) / usual) for n, (at, _) in enumerate(work)]
    return Series("machine", "time for the same work", "× its median", points)


def at_usual_pace(series: Series, pace: Series) -> Series:
    """Times as they would have been had the machine always been as quick as usual."""
    instants = [at for at, _ in pace.points]

    def then(at: float) -> float:
        return pace.points[min(bisect(instants, at), len(instants) - 1)][1] if instants else 1.0

    return msgspec.structs.replace(series, points=[(at, value / then(at)) for at, value in series.points])


def _around(points: Sequence[tuple[float, float]], n: int) -> float:
    first = max(0, min(n - NEIGHBOURS // 2, len(points) - NEIGHBOURS))
    return statistics.median(value for _, value in points[first : first + NEIGHBOURS])


def latencies(waits: Sequence[tuple[float, float]], window: float) -> list[Series]:
    """The median and the 99th percentile of what began in each window."""
    parts: dict[int, list[float]] = {}
    for at, wait in waits:
        parts.setdefault(int(at / window), []).append(wait)
    return [
        Series("latency", f"submit to start, {label}", "ms",
               [((n + 0.5) * window, percentile(part, share)) for n, part in sorted(parts.items())])
        for label, share in (("p50", 0.5), ("p99", 0.99))
    ]  # fmt: skip
