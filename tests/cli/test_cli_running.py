"""How the long-running programs run."""

import asyncio
import threading

import pytest

from horae.cli.running import HELPERS, helpers, run


def test_the_helpers_of_a_loop_are_there_from_the_start():
    def there() -> int:
        return sum(thread.name.startswith("helper") for thread in threading.enumerate())

    async def threads() -> tuple[int, int]:
        before, busy = there(), threading.Barrier(HELPERS)
        await asyncio.gather(*(asyncio.to_thread(busy.wait) for _ in range(HELPERS)))
        return before, there()

    assert run(threads()) == (HELPERS, HELPERS)


@pytest.mark.parametrize("room", [0, 3])
def test_where_threads_are_scarce_there_are_as_many_helpers_as_can_be(monkeypatch: pytest.MonkeyPatch, room: int):
    """One that waits for the others would keep this very process from its end."""
    most, real = threading.active_count() + room, threading.Thread.start

    def start(thread: threading.Thread) -> None:
        if threading.active_count() >= most:
            raise RuntimeError("can't start new thread")
        real(thread)

    monkeypatch.setattr(threading.Thread, "start", start)
    if room:
        with helpers(8) as pool:
            assert sum(pool.map(abs, range(20))) == sum(range(20))
    else:
        with pytest.raises(RuntimeError, match="new thread"):
            helpers(8)
    assert threading.active_count() == most - room
