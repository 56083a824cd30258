"""Which faults strike when: a pure function of the seed, so that the same seed gives the same plan.

A part of a seed's strikes is dealt from a list that goes round from seed to seed, so that every fault has its turn; the
others are drawn by weight, so that those come often that are over soon.
"""

import random
from collections.abc import Mapping
from typing import Final, NamedTuple

DEALT: Final = 4
"""One strike of so many."""


class Strike(NamedTuple):
    at: float
    """Seconds after the fire began; later if all who strike are busy."""
    fault: str
    seed: int


def make_plan(seed: int, weights: Mapping[str, float], number: int, seconds: float) -> list[Strike]:
    if not weights or number <= 0:
        return []
    chance = random.Random(seed)
    names = sorted(weights)
    faults = _turn(seed, names, dealt(number))
    faults += chance.choices(names, [weights[name] for name in names], k=number - len(faults))
    chance.shuffle(faults)
    times = sorted(chance.uniform(0, seconds) for _ in faults)
    return [Strike(at, fault, chance.getrandbits(32)) for at, fault in zip(times, faults, strict=True)]


def dealt(number: int) -> int:
    """How many of a seed's strikes are dealt."""
    return -(-number // DEALT)


def _turn(seed: int, faults: list[str], number: int) -> list[str]:
    return [faults[(seed * number + n) % len(faults)] for n in range(number)]
