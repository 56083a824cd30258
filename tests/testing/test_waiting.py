import pytest

from horae.testing.waiting import wait_for


async def test_it_returns_the_first_answer_that_is_true():
    answers = iter([None, 0, "yes"])
    assert await wait_for(lambda: next(answers), interval=0) == "yes"


async def test_it_awaits_an_answer():
    async def answer() -> int:
        return 7

    assert await wait_for(answer) == 7


async def test_it_tells_the_last_answer_when_time_is_up():
    with pytest.raises(AssertionError, match=r"waited 0 s for the depth; the last answer was \[\]"):
        await wait_for(list, timeout=0, interval=0, what="the depth")
