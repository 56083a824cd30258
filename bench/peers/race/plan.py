"""The order of the race: each round visits every peer, and begins with another one.

The machine's pace changes from minute to minute. Whoever always ran first, or right after the same neighbour, would be
measured with that neighbour's weather; so peers take turns, and rounds begin one further each time.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Visit(NamedTuple):
    round: int
    """From 1."""
    peer: str


def visits(peers: Sequence[str], rounds: int) -> Iterator[Visit]:
    for number in range(rounds):
        turn = number % len(peers) if peers else 0
        for peer in (*peers[turn:], *peers[:turn]):
            yield Visit(number + 1, peer)


def due_in(visit: Visit, workloads: Sequence[str], once: Sequence[str]) -> list[str]:
    """What is run on this visit: the long workloads only in the first round."""
    return [name for name in workloads if visit.round == 1 or name not in once]
