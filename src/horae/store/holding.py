"""Who holds a connection while it asks for another.

What is decided inside a transaction may need a calendar, a task or a lane, and reads it by a connection of its own.
Were that one of the same pool, as many transactions as the pool has connections would hold all of them and wait for one
more, each for the others, until a timeout. So the second connection comes from a pool in which nobody holds a first.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class _Hold:
    __slots__ = ("open", "owner")

    def __init__(self, owner: object) -> None:
        self.owner = owner
        self.open = True


_hold: ContextVar[_Hold | None] = ContextVar("hold", default=None)


@contextmanager
def holding(owner: object) -> Iterator[None]:
    """Whatever is asked of the owner meanwhile, by this task or one it starts, is asked by a holder."""
    hold = _Hold(owner)
    token = _hold.set(hold)
    try:
        yield
    finally:
        # A task that was started here and lives on has the variable too: the hold itself must say that it is over.
        hold.open = False
        _hold.reset(token)


def is_holding(owner: object) -> bool:
    hold = _hold.get()
    return hold is not None and hold.open and hold.owner is owner
