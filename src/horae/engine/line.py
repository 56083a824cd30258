"""Line: the tenants before workers of one kind, the least charged first.

Virtual time is a tenant's use of these workers in worker-seconds, divided by its weight. Workers that can run the same
jobs are one kind and have one line; each line has a time of its own, because what a tenant uses of other workers takes
nothing from those who wait here. Who had no work starts at the *present*, the time of the tenant that was served last,
so that nobody saves up; who was ahead of it when it left is still ahead when it comes back.
"""

import heapq
import itertools
from collections.abc import Mapping
from typing import Final, Self

SPARE: Final = 1000
"""How many tenants may be remembered before those are forgotten that left and are not ahead of the present."""


class Line:
    def __init__(self, kind: int, present: float = 0.0, known: Mapping[int, float] | None = None) -> None:
        self.kind = kind
        """The numbers of the profiles that its workers can run, as bits."""
        self.present = present
        self.used_at = 0.0
        """When a worker last asked."""
        self._at: dict[int, float] = {} if known is None else dict(known)
        self._most_known = SPARE
        self._order: list[tuple[float, int, int]] = []
        self._stamps: dict[int, int] = {}
        self._numbers = itertools.count()

    def branch(self, kind: int) -> Self:
        """The line of workers that turned out to be of another kind, with nobody in it yet."""
        return type(self)(kind, self.present, self._at)

    def serves(self, profile_number: int) -> bool:
        return bool(self.kind >> profile_number & 1)

    def has(self, tenant_id: int) -> bool:
        return tenant_id in self._stamps

    def at(self, tenant_id: int) -> float:
        return self._at.get(tenant_id, self.present)

    def enter(self, tenant_id: int, *, newcomer: bool) -> None:
        """A tenant has work; as a newcomer it did not have any until now."""
        if newcomer or tenant_id not in self._at:
            self._at[tenant_id] = max(self.at(tenant_id), self.present)
        self.place(tenant_id)

    def leave(self, tenant_id: int) -> None:
        self._stamps.pop(tenant_id, None)
        if len(self._at) > self._most_known:
            self._at = {one: at for one, at in self._at.items() if one in self._stamps or at > self.present}
            self._most_known = 2 * len(self._at) + SPARE

    def charge(self, tenant_id: int, seconds: float) -> None:
        """Seconds by weight; negative is what was charged too much."""
        self._at[tenant_id] = self.at(tenant_id) + seconds
        # Who moves back is put in its place at once; who moves on, when its turn comes.
        if seconds < 0 and tenant_id in self._stamps:
            self.place(tenant_id)

    def place(self, tenant_id: int) -> None:
        """Puts a tenant where it belongs; its older entry is void."""
        stamp = self._stamps[tenant_id] = next(self._numbers)
        heapq.heappush(self._order, (self.at(tenant_id), stamp, tenant_id))
        if len(self._order) > 4 * len(self._stamps) + 64:
            self._order = [entry for entry in self._order if self._stamps.get(entry[2]) == entry[1]]
            heapq.heapify(self._order)

    def first(self) -> int | None:
        """The least charged tenant."""
        while self._order:
            at, stamp, tenant_id = self._order[0]
            if self._stamps.get(tenant_id) != stamp:
                heapq.heappop(self._order)
            elif (now := self.at(tenant_id)) > at:
                fresh = self._stamps[tenant_id] = next(self._numbers)
                heapq.heapreplace(self._order, (now, fresh, tenant_id))
            else:
                return tenant_id
        return None
