"""Answers that many want at once: made once, and given to everybody who asks for the same within a time."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Final, Generic, TypeVar

A = TypeVar("A")

MAX_KEPT: Final = 500


class Shared(Generic[A]):
    def __init__(self) -> None:
        self._answers: dict[Hashable, tuple[float, asyncio.Task[A]]] = {}

    async def get(self, question: Hashable, seconds: float, make: Callable[[], Coroutine[Any, Any, A]]) -> A:
        """The answer, at most so many seconds old."""
        began, answer = self._answers.get(question, (0.0, None))
        if answer is None or time.monotonic() - began > seconds or _failed(answer):
            if len(self._answers) >= MAX_KEPT:
                self._answers.clear()
            answer = asyncio.create_task(make())
            self._answers[question] = (time.monotonic(), answer)
        # Whoever goes away must not take the answer of the others along.
        return await asyncio.shield(answer)


def _failed(answer: "asyncio.Task[Any]") -> bool:
    return answer.done() and (answer.cancelled() or answer.exception() is not None)
