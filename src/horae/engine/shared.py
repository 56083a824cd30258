"""Answers that many want at once: made once, and given to everybody who asks for the same within a time."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Final, Generic, NamedTuple, TypeVar

A = TypeVar("A")

MAX_KEPT: Final = 500


class Kept(NamedTuple, Generic[A]):
    began: float
    seconds: float
    """For so long it is good."""
    answer: asyncio.Task[A]


class Shared(Generic[A]):
    def __init__(self) -> None:
        self._answers: dict[Hashable, Kept[A]] = {}

    async def get(self, question: Hashable, seconds: float, make: Callable[[], Coroutine[Any, Any, A]]) -> A:
        """The answer, at most so many seconds old."""
        now = time.monotonic()
        kept = self._answers.get(question)
        if kept is None or now - kept.began > seconds or _failed(kept.answer):
            self._forget_the_old(now)
            kept = self._answers[question] = Kept(now, seconds, asyncio.create_task(make()))
        # Whoever goes away must not take the answer of the others along.
        return await asyncio.shield(kept.answer)

    def _forget_the_old(self, now: float) -> None:
        """Answers may be large, and of many questions nobody asks a second time."""
        self._answers = {question: kept for question, kept in self._answers.items() if now - kept.began <= kept.seconds}
        if len(self._answers) >= MAX_KEPT:
            self._answers.clear()


def _failed(answer: "asyncio.Task[Any]") -> bool:
    return answer.done() and (answer.cancelled() or answer.exception() is not None)
