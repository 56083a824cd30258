"""A tab that is left open: what grows is convicted, what only goes up and down is not."""

import pytest

from horae.bench.vigil import DAY_PULSES, Reading, judged


def readings(leak: float) -> list[Reading]:
    """Megabytes that go up and down by half of one, and by `leak` for each thousand pulses."""
    return [Reading(n * 100, 20 + n * leak / 10 + n % 3 * 0.25, 500 + n % 2, 90) for n in range(16)]


def test_a_leak_is_told_for_a_day():
    found = judged(readings(leak=2.0))

    assert found.heap.a_day == pytest.approx(2.0 * DAY_PULSES / 1000, rel=0.1)
    assert found.heap.sure == found.heap.a_day
    assert found.heap.at_least < found.heap.a_day < found.heap.at_most
    assert found.pulses == 1500


def test_what_goes_up_and_down_does_not_grow():
    found = judged(readings(leak=0))

    assert found.heap.sure == found.nodes.sure == found.listeners.sure == 0
    assert found.heap.at_most > 0, "a run of this length can exclude no more"
