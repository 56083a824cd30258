"""What a fault is."""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from chaos.world import World

Act = Callable[[World, random.Random], Awaitable[None]]


@dataclass(frozen=True)
class Fault:
    name: str
    act: Act
    weight: float = 1.0
    """How often it is chosen, beside the others."""
    lacking: Callable[[], str | None] = lambda: None
    """Says why it cannot be done here, if so."""

    @property
    def missing(self) -> str | None:
        return self.lacking()

    async def strike(self, world: World, chance: random.Random) -> None:
        """Does it and undoes it; raises if it could not be done."""
        await self.act(world, chance)
