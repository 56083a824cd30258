"""Breadth: from how many lanes a worker's claim takes.

Few lanes a claim, with many jobs of each, are the cheapest. But where each lane has little to give within the order of
ranks, few lanes do not fill the claim, and it takes several: then more lanes in one are cheaper. It grows with what was
missing and shrinks slowly while claims are filled. One that is nearly filled is good enough: to fill it takes another
claim, and the worker comes back before it has run what it got.
"""

import math
from typing import Final

LEAST_LANES: Final = 32
MOST_LANES: Final = 320
NEARLY: Final = 8
"""A claim is nearly filled when less than one part in so many is missing."""


def nearly_filled(got: int, want: int) -> bool:
    return want - got <= want // NEARLY


class Breadth:
    __slots__ = ("lanes",)

    def __init__(self) -> None:
        self.lanes = LEAST_LANES

    def learn(self, lanes: int, got: int, want: int) -> None:
        """A claim from so many lanes got so many jobs of those wanted."""
        if lanes < self.lanes or not got:
            return
        if got >= want:
            self.lanes = max(LEAST_LANES, self.lanes * 31 // 32)
        elif not nearly_filled(got, want):
            self.lanes = min(MOST_LANES, math.ceil(lanes * want / got))
