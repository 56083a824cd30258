"""Overload: what a loaded system refuses first. A load of 1 is all it can bear; the lowest priorities go first."""

from typing import Final

from horae.model.rank import EMERGENCY, LOWEST

STRAINED: Final = 0.8
"""Below this load nothing is refused."""
_STEPS: Final = (EMERGENCY - LOWEST) // 2

REFUSED_FROM: Final = {
    priority: round(STRAINED + (1 - STRAINED) * ((priority - LOWEST) // 2) / _STEPS, 3)
    for priority in range(LOWEST, EMERGENCY + 1)
}
"""Priority → the load from which it is refused: 1 and 2 from 0.8, 3 and 4 from 0.85 … 9 and 10 only at 1."""


def refuses(load: float, priority: int) -> bool:
    return load >= REFUSED_FROM[priority]
