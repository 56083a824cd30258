"""Belief: what was found good is believed for a few seconds, and then forgotten."""

import time
from collections.abc import Callable
from typing import Final, Generic, TypeVar

V = TypeVar("V")

BELIEVED_SECONDS: Final = 5.0
MAX_BELIEVED: Final = 10_000


class Belief(Generic[V]):
    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._good: dict[str, tuple[V, float]] = {}
        """By token, the first to be forgotten first."""

    def get(self, token: str) -> V | None:
        known = self._good.get(token)
        return known[0] if known is not None and known[1] > self._now() else None

    def put(self, token: str, value: V, seconds: float = BELIEVED_SECONDS) -> None:
        """For so long, but never longer than is usual."""
        now = self._now()
        self._forget_the_old(now)
        if len(self._good) >= MAX_BELIEVED:
            self._good.clear()
        self._good.pop(token, None)
        self._good[token] = (value, now + min(seconds, BELIEVED_SECONDS))

    def forget(self, token: str) -> None:
        self._good.pop(token, None)

    def clear(self) -> None:
        self._good.clear()

    def __len__(self) -> int:
        return len(self._good)

    def _forget_the_old(self, now: float) -> None:
        """Of most tokens nobody asks a second time: each sign-in makes one."""
        over = []
        for token, (_, until) in self._good.items():
            if until > now:
                break
            over.append(token)
        for token in over:
            del self._good[token]
