"""Start delays as a histogram: how many jobs started how long after their time.

Each step is twice as long as the one before, from a millisecond to hours. So a handful of numbers that can be added up
tells any percentile, as well as a plot can show it.
"""

import math
from collections.abc import Sequence
from typing import Final

STEPS: Final = 26
FIRST_SECONDS: Final = 0.001
"""What starts sooner is in the first step; the last one has no end."""


def step_of(seconds: float) -> int:
    if seconds < FIRST_SECONDS:
        return 0
    return min(STEPS - 1, 1 + int(math.log2(seconds / FIRST_SECONDS)))


def percentile(counts: Sequence[int], share: float) -> float | None:
    """The delay that this share of the jobs did not exceed, 0…1; None when there were none."""
    wanted = share * sum(counts)
    if wanted <= 0:
        return None
    before = 0
    for step, count in enumerate(counts):
        if count and before + count >= wanted:
            return _inside(step, (wanted - before) / count)
        before += count
    return None


def _inside(step: int, part: float) -> float:
    """Within a step the delays are taken to lie evenly."""
    low = 0.0 if step == 0 else FIRST_SECONDS * 2.0 ** (step - 1)
    high = FIRST_SECONDS * 2.0**step
    return low + (high - low) * part
