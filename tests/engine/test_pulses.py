"""Pulses: told at most once a second, added up for those who are slow, and to nobody whom it does not concern."""

import asyncio

import pytest

from horae.engine import pulses as module
from horae.engine.flows import Flow
from horae.engine.pulses import MAX_JOBS, Listener, Pulse, Pulses


def flow(**counts: int) -> Flow:
    made = Flow()
    for name, count in counts.items():
        setattr(made, name, count)
    return made


async def heard(listener: Listener) -> Pulse:
    async with asyncio.timeout(10):
        async for pulse in listener.pulses(5.0):
            assert pulse is not None
            return pulse
    raise AssertionError("it ended")


async def test_a_listener_hears_what_happened_and_to_which_jobs():
    pulses = Pulses()
    with pulses.listening(None) as listener:
        pulses.happened({1: flow(submitted=2, failed=1)}, [(1, "a"), (1, "b")])
        pulse = await heard(listener)
    assert pulse.counts == (2, 0, 0, 1, 0, 0, 0)
    assert list(pulse.jobs) == ["a", "b"]
    assert pulse.more


async def test_a_tenants_listener_hears_of_its_own_jobs_alone():
    pulses = Pulses()
    with pulses.listening(1) as mine, pulses.listening(2) as theirs, pulses.listening(None) as all_of_them:
        pulses.happened({1: flow(started=1), 2: flow(started=5)}, [(1, "a"), (2, "b")])
        assert (await heard(mine)).counts[1] == 1
        assert list((await heard(theirs)).jobs) == ["b"]
        assert (await heard(all_of_them)).counts[1] == 6


async def test_what_a_slow_listener_missed_is_added_up_in_bounded_space():
    pulses = Pulses()
    with pulses.listening(None) as listener:
        for second in range(1000):
            jobs = [(1, f"{second}-{number}") for number in range(MAX_JOBS)]
            pulses.happened({1: flow(succeeded=5000)}, jobs)
        pulse = await heard(listener)
    assert pulse.counts[2] == 5_000_000
    assert len(pulse.jobs) == MAX_JOBS
    assert pulse.more


async def test_a_pulse_comes_at_most_once_in_a_time(monkeypatch: pytest.MonkeyPatch):
    """The pause between two is the listener's own, so what comes meanwhile is one pulse."""
    paused = asyncio.Event()
    asleep = asyncio.sleep

    async def pause(seconds: float) -> None:
        if seconds == module.SECONDS_BETWEEN:
            await paused.wait()
        else:
            await asleep(seconds)

    monkeypatch.setattr(module.asyncio, "sleep", pause)
    pulses, got = Pulses(), []

    async def listen(listener: Listener) -> None:
        async for pulse in listener.pulses(60.0):
            assert pulse is not None
            got.append(pulse.counts[0])

    with pulses.listening(None) as listener:
        listening = asyncio.create_task(listen(listener))
        pulses.happened({1: flow(submitted=1)}, [])
        while not got:
            await asleep(0)
        for _ in range(2):
            pulses.happened({1: flow(submitted=1)}, [])
            for _ in range(20):
                await asleep(0)
        assert got == [1]
        paused.set()
        while len(got) < 2:
            await asleep(0)
        assert got == [1, 2]
        pulses.close()
        await listening


async def test_a_time_without_pulses_is_told_too():
    with Pulses().listening(None) as listener:
        async for pulse in listener.pulses(0.01):
            assert pulse is None
            break


async def test_whoever_listens_when_the_server_stops_hears_the_end():
    pulses = Pulses()
    with pulses.listening(None) as early:
        pulses.close()
        async for _ in early.pulses(5.0):
            pass
    with pulses.listening(None) as late:
        assert [pulse async for pulse in late.pulses(5.0)] == []


def test_listeners_that_went_away_are_forgotten():
    pulses = Pulses()
    for _ in range(100):
        with pulses.listening(None):
            pass
    assert pulses._listeners == set()


def test_what_other_servers_are_told_has_a_bound_and_nothing_is_left_out():
    pulses, nudges = Pulses(), []
    pulses.nudge = lambda: nudges.append(1)
    for _ in range(2):
        pulses.happened({n: flow(submitted=1) for n in range(1, 51)}, [(n, f"{n}-x") for n in range(1, 51)])
    first = pulses.take_untold(30, 10)
    assert len(first) == 30
    assert sum(len(beats.jobs) for beats in first.values()) == 10
    assert all(beats.counts[0] == 2 for beats in first.values())
    second = pulses.take_untold(30, 10)
    assert first.keys() | second.keys() == set(range(1, 51))
    assert pulses.take_untold(30, 10) == {}
