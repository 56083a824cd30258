"""Whether a series is flat: a regression that neither noise nor teeth nor outliers fool.

The first part of a run, in which caches fill and retention has nothing to drop yet, is cut off. The rest is cut into
BLOCKS of equal length, each a whole number of the soak's days, and a block stands for itself with its median: so teeth
that come and go with the days vanish, and neighbouring samples, which are hardly independent, do not count as many.
Through the blocks goes the line of Theil and Sen: the median of the slopes of all pairs. Its interval is Sen's, from
the distribution of Kendall's S, and as wide as CONFIDENCE asks: with some dozens of series a run must not fail by
chance. A series

- *grows* when it rises, and the slope means more than `Tolerance` in a day, and so does the slope of its LATEST blocks
  alone. It rises when the interval lies above zero. Of what is counted in whole numbers many blocks are equal, and
  the interval begins at zero however long the staircase: there Kendall's test with its correction for ties decides,
  or, where no block lies below one before it, how seldom chance would put them in that order,
- *has settled* when these are flat: it rose, as what fills does, and a line through all of it tells nothing of a day,
- *steps* when all blocks from some on lie above all before by more than the tolerance, and no line fits better,
- else it is *flat*; falling is flat, too. What the interval's upper end would mean is told, as that is what a run of
  this length can exclude.
"""

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from itertools import combinations
from typing import Final

import msgspec

Points = Sequence[tuple[float, float]]
"""Seconds since the beginning, and a value."""

BLOCKS: Final = 12
FEWEST: Final = 8
"""With fewer blocks nothing can be told."""
CONFIDENCE: Final = 0.999
DAY: Final = 86_400.0
Z: Final = statistics.NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
LATEST: Final = 6
"""So many blocks at the end tell whether what rose still does."""
SIDE: Final = 3
"""So many blocks at least must lie on either side of a step."""


class Verdict(StrEnum):
    FLAT = "flat"
    SETTLED = "has settled"
    GROWS = "grows"
    STEPS = "steps"
    SHORT = "too short"


class Tolerance(msgspec.Struct, frozen=True):
    """What growth in a day is worth a word: more than both."""

    least: float
    """In the unit of the series."""
    share: float = 0.25
    """Of its level."""

    def at(self, level: float) -> float:
        return max(self.least, self.share * abs(level))


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    verdict: Verdict
    level: float
    """The median of the part that was judged."""
    a_day: float
    """By how much it grows in a day, if it goes on so; and the interval of that."""
    low: float
    high: float
    step: float | None = None
    step_at: float | None = None

    @property
    def passes(self) -> bool:
        return self.verdict in {Verdict.FLAT, Verdict.SETTLED}


def judge(points: Points, since: float, tolerance: Tolerance) -> Judgement:
    """What is before `since` is the warm-up."""
    blocks = in_blocks([(at, value) for at, value in points if at >= since])
    level = statistics.median(value for _, value in blocks) if blocks else 0.0
    if len(blocks) < FEWEST:
        return Judgement(verdict=Verdict.SHORT, level=level, a_day=0, low=-math.inf, high=math.inf)
    slope, low, high = theil_sen(blocks)
    bound = tolerance.at(level)
    found = find_step(blocks)
    steps = found is not None and found[1] > bound and _misfit_of_step(blocks, found) < _misfit_of_line(blocks, slope)
    verdict = Verdict.STEPS if steps else _growth(blocks, slope, low, bound)
    return Judgement(
        verdict=verdict,
        level=level,
        a_day=slope * DAY,
        low=low * DAY,
        high=high * DAY,
        step=found[1] if steps and found else None,
        step_at=blocks[found[0]][0] if steps and found else None,
    )


def _growth(blocks: Points, slope: float, low: float, bound: float) -> Verdict:
    if not (low > 0 or climbs([value for _, value in blocks])) or slope * DAY <= bound:
        return Verdict.FLAT
    return Verdict.GROWS if _latest(blocks[-LATEST:]) * DAY > bound else Verdict.SETTLED


def climbs(values: Sequence[float]) -> bool:
    """Whether chance would hardly put values of which many are equal into so rising an order."""
    pairs = list(combinations(values, 2))
    rises, falls = sum(a < b for a, b in pairs), sum(a > b for a, b in pairs)
    equal = Counter(values).values()
    if not falls:
        orders = math.factorial(len(values)) / math.prod(math.factorial(times) for times in equal)
        return 1 / orders <= (1 - CONFIDENCE) / 2
    spread = sum(sign * n * (n - 1) * (2 * n + 5) / 18 for sign, n in [(1, len(values)), *((-1, n) for n in equal)])
    return rises - falls - 1 > Z * math.sqrt(spread)


def _latest(blocks: Points) -> float:
    """The slope of some blocks; by least squares if the median of their slopes is of two that are equal."""
    slope, _, _ = theil_sen(blocks)
    return slope or statistics.linear_regression(*zip(*blocks, strict=True)).slope


def in_blocks(points: Points, count: int = BLOCKS) -> list[tuple[float, float]]:
    """The middle and the median of each block that has points."""
    if not points:
        return []
    first, last = points[0][0], points[-1][0]
    length = max((last - first) / count, 1e-9)
    parts: list[list[float]] = [[] for _ in range(count)]
    for at, value in points:
        parts[min(int((at - first) / length), count - 1)].append(value)
    return [(first + (n + 0.5) * length, statistics.median(part)) for n, part in enumerate(parts) if part]


def theil_sen(points: Points) -> tuple[float, float, float]:
    """The slope, and the bounds of its interval."""
    slopes = sorted((y2 - y1) / (x2 - x1) for (x1, y1), (x2, y2) in combinations(points, 2))
    n, pairs = len(points), len(slopes)
    spread = Z * math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    first = max(math.floor((pairs - spread) / 2), 0)
    return statistics.median(slopes), slopes[first], slopes[pairs - 1 - first]


def find_step(points: Points) -> tuple[int, float] | None:
    """From which point on all lie above all before, and by how much; the highest such step."""
    values = [value for _, value in points]
    splits = range(SIDE, len(values) - SIDE + 1)
    found = [(n, _rise(values, n)) for n in splits if min(values[n:]) > max(values[:n])]
    return max(found, key=lambda each: min(values[each[0] :]) - max(values[: each[0]]), default=None)


def _rise(values: Sequence[float], split: int) -> float:
    return statistics.median(values[split:]) - statistics.median(values[:split])


def _misfit_of_step(points: Points, step: tuple[int, float]) -> float:
    values = [value for _, value in points]
    return sum(_deviation(part) for part in (values[: step[0]], values[step[0] :]))


def _misfit_of_line(points: Points, slope: float) -> float:
    return _deviation([value - slope * at for at, value in points])


def _deviation(values: Sequence[float]) -> float:
    middle = statistics.median(values)
    return sum(abs(value - middle) for value in values)
