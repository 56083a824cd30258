"""The loop of a duty: one that grows dear is run less often, within its bounds."""

import asyncio
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.engine.duties.loop import SHARE, DutyLoop, spaced


@pytest.mark.parametrize(("took", "interval"), [(0.0, 1.0), (SHARE, 1.0), (2 * SHARE, 2.0), (9.0, 5.0)])
def test_a_duty_waits_by_what_its_last_run_took(took: float, interval: float) -> None:
    assert spaced(took, 1.0, 5.0) == pytest.approx(interval)


@given(st.floats(0, 1e6), st.floats(0.1, 10), st.floats(10, 100))
def test_it_takes_no_more_than_its_share_unless_it_waits_as_long_as_it_may(
    took: float, least: float, most: float
) -> None:
    interval = spaced(took, least, most)
    assert least <= interval <= most
    assert took <= SHARE * interval * (1 + 1e-9) or interval == most


class Dear:
    name = "dear"
    interval = 0.01
    longest = 60.0

    async def run_once(self) -> Mapping[str, int]:
        await asyncio.sleep(0.1)
        return {}


class Usual(Dear):
    longest = Dear.interval


@pytest.mark.parametrize(("duty", "least", "most"), [(Dear(), 0.9 * 0.1 / SHARE, 66.0), (Usual(), 0.009, 0.011)])
async def test_the_loop_waits_so_long(duty: Dear, least: float, most: float, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: asyncio.Queue[float] = asyncio.Queue()
    real = asyncio.timeout

    def noted(seconds: float) -> asyncio.Timeout:
        pauses.put_nowait(seconds)
        return real(seconds)

    monkeypatch.setattr(asyncio, "timeout", noted)
    loop = DutyLoop(duty)
    loop.start()
    pause = await pauses.get()
    await loop.stop()
    assert least <= pause <= most
