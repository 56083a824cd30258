"""Heads: of one tenant, the profiles in which it has full lanes, that with the smallest head first.

Heads change all the time, most of them while nobody asks. So what is listed of a profile may be smaller than the truth,
never larger, and it is put right when it comes first: a look costs a logarithm, not a walk over the profiles.
"""

import heapq
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from horae.engine.backlog import Profile

SPARE: Final = 16
"""How many void entries there may be in any case before they are cleared away."""


class Heads:
    __slots__ = ("_listed", "_order", "_tenant_id")

    def __init__(self, tenant_id: int) -> None:
        self._tenant_id = tenant_id
        self._listed: dict[Profile, int] = {}
        self._order: list[tuple[int, int, Profile]] = []
        """An entry that does not say what is listed is void."""

    def note(self, profile: "Profile", head: int) -> None:
        """A lane of that profile is full, and this is its head."""
        known = self._listed.get(profile)
        if known is None or head < known:
            self._list(profile, head)

    def first(self) -> "tuple[int, Profile] | None":
        order, listed = self._order, self._listed
        while order:
            head, _, profile = order[0]
            if listed.get(profile) != head:
                heapq.heappop(order)
                continue
            present = profile.head(self._tenant_id)
            if present == head:
                return head, profile
            del listed[profile]
            heapq.heappop(order)
            if present is not None:
                self._list(profile, present)
        return None

    def set_aside(self, profile: "Profile") -> None:
        """Passes over a profile until it is noted again."""
        self._listed.pop(profile, None)

    def profiles(self) -> "Iterator[Profile]":
        return (profile for profile in list(self._listed) if profile.head(self._tenant_id) is not None)

    def _list(self, profile: "Profile", head: int) -> None:
        self._listed[profile] = head
        heapq.heappush(self._order, (head, profile.number, profile))
        if len(self._order) > 2 * len(self._listed) + SPARE:
            self._order = [(head, profile.number, profile) for profile, head in self._listed.items()]
            heapq.heapify(self._order)
