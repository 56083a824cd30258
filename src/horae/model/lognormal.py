"""Quantiles from a mean and a spread, for sums that keep nothing else.

Durations of runs are skewed: most take about the same, some much longer. A log-normal curve with the same mean and
variance is close for most tasks, and far off for those that do two very different things.
"""

import math
from typing import Final, NamedTuple

P50: Final = 0.0
P95: Final = 1.6448536269514722
"""Standard deviations of a normal distribution below which that part of it lies."""


class Sums(NamedTuple):
    """Of runs: how many, their seconds, and the seconds' squares."""

    runs: int
    seconds: float
    squares: float

    @property
    def mean(self) -> float | None:
        return self.seconds / self.runs if self.runs > 0 else None


def quantile(sums: Sums, deviations: float) -> float | None:
    """None when there were no runs."""
    mean = sums.mean
    if mean is None or mean <= 0:
        return mean
    variance = max(0.0, sums.squares / sums.runs - mean * mean)
    width = math.log1p(variance / (mean * mean))
    return mean * math.exp(deviations * math.sqrt(width) - width / 2)
