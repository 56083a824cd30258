"""Answers that are shared, and work in slices."""

import asyncio
import gc
import weakref

import pytest

from horae.engine import pace
from horae.engine.pace import Pace
from horae.engine.shared import Shared


class Answer:
    """Something that can be seen to go."""


async def test_whoever_asks_at_the_same_time_gets_the_same_answer():
    made = []

    async def make() -> int:
        made.append(1)
        await asyncio.sleep(0)
        return len(made)

    answers: Shared[int] = Shared()
    assert await asyncio.gather(*(answers.get("a", 60, make) for _ in range(5))) == [1] * 5
    assert await answers.get("a", 60, make) == 1
    assert await answers.get("b", 60, make) == 2
    assert await answers.get("a", -1, make) == 3


async def test_an_answer_that_is_too_old_is_let_go():
    """Of many questions nobody asks a second time: an hour of visits to the console kept 9 MB of forecasts."""

    async def make() -> Answer:
        return Answer()

    answers: Shared[Answer] = Shared()
    old = weakref.ref(await answers.get("a", 0, make))
    await answers.get("b", 60, make)
    gc.collect()
    assert old() is None


async def test_a_failure_is_not_kept():
    async def fail() -> int:
        raise ValueError("no")

    async def work() -> int:
        return 1

    answers: Shared[int] = Shared()
    with pytest.raises(ValueError, match="no"):
        await answers.get("a", 60, fail)
    assert await answers.get("a", 60, work) == 1


async def test_one_who_goes_away_does_not_take_the_answer_along():
    go_on = asyncio.Event()

    async def make() -> int:
        await go_on.wait()
        return 1

    answers: Shared[int] = Shared()
    first = asyncio.create_task(answers.get("a", 60, make))
    second = asyncio.create_task(answers.get("a", 60, make))
    await asyncio.sleep(0)
    first.cancel()
    go_on.set()
    assert await second == 1


async def test_long_work_lets_others_have_their_turn(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pace, "SLICE_SECONDS", 0.0)
    turns = []
    other = asyncio.create_task(_take_turns(turns))
    work = Pace()
    for _ in range(10):
        await work.keep()
    other.cancel()
    assert len(turns) >= 9


async def _take_turns(turns: list[int]) -> None:
    while True:
        turns.append(1)
        await asyncio.sleep(0)
