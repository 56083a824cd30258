"""Breadth: from how many lanes a worker's claim takes.

Few lanes a claim, with many jobs of each, are the cheapest. But where each lane has little to give within the order of
ranks, few lanes do not fill the claim, and it takes several: then more lanes in one are cheaper. It grows with what was
missing and shrinks slowly while claims are filled.
"""

import math
from typing import Final

LEAST_LANES: Final = 64
MOST_LANES: Final = 320


class Breadth:
    __slots__ = ("lanes",)

    def __init__(self) -> None:
        self.lanes = LEAST_LANES

    def learn(self, lanes: int, got: int, want: int) -> None:
        """A claim from so many lanes got so many jobs of those wanted."""
        if got >= want:
            self.lanes = max(LEAST_LANES, self.lanes * 15 // 16)
        elif lanes >= self.lanes and got:
            self.lanes = min(MOST_LANES, math.ceil(lanes * want / got))
