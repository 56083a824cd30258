"""What a job says through its FIFO, and what is made of nonsense."""

import asyncio
import os

import pytest

from horae.model.errors import TooLarge
from horae.worker.errands.events import LINE_BYTES, Events, make_fifo


class Ear:
    def __init__(self):
        self.heard = []
        self.said = b""
        self.let_store = asyncio.Event()
        self.let_store.set()
        self.refuse = False

    def write(self, stream, data):
        assert stream == "system"
        self.said += data

    def progress(self, *what):
        self.heard.append(what)

    def partial(self, data):
        self.heard.append(data)

    async def checkpoint(self, data):
        await self.let_store.wait()
        if self.refuse:
            raise TooLarge("much too large")
        self.heard.append(("stored", data))


@pytest.fixture
async def line(tmp_path):
    """Gives what was heard when so many bytes were written by a job that ends then."""
    make_fifo(tmp_path / "events")
    ear = Ear()
    events = Events(tmp_path / "events", ear)

    async def say(*pieces):
        with (tmp_path / "events").open("ab", buffering=0) as fifo:
            for piece in pieces:
                await asyncio.to_thread(fifo.write, piece)
        await events.close()
        return ear

    say.ear, say.events = ear, events
    yield say
    events.abandon()


async def test_each_kind_of_line_is_heard_also_without_its_end(line):
    ear = await line(
        b'{"progress": [1]}\n\n{"progress": [2.5, 4, "x"]}\n{"pa', b'rtial": {"a": 1}}\n{"checkpoint": [3]}'
    )
    assert ear.heard == [(1.0, None, None), (2.5, 4.0, "x"), b'{"a": 1}', ("stored", b"[3]")]
    assert ear.said == b""


async def test_the_latest_word_on_the_next_attempt_counts(line):
    await line(b'{"retry_after": 5}\n{"retry_after": 7.5}\n')
    assert line.events.retry_after == 7.5


async def test_of_waiting_checkpoints_only_the_last_is_stored(line):
    line.ear.let_store.clear()
    asyncio.get_running_loop().call_later(0.05, line.ear.let_store.set)
    ear = await line(b"".join(b'{"checkpoint": %d}\n' % number for number in range(50)))
    assert ear.heard == [("stored", b"49")]


@pytest.mark.parametrize(
    "text",
    [
        b"\xff\xfe",
        b'{"checkpoint": "\xff"}',
        b'{"partial": [1e400]}',
        b"[1]",
        b'{"progress": []}',
        b'{"progress": 1}',
        b'{"other": 1}',
        b"{",
        b"0" * 99,
    ],
)
async def test_what_cannot_be_understood_is_said_and_ignored(line, text):
    ear = await line(text + b'\n{"progress": [9]}\n')
    assert ear.heard == [(9.0, None, None)]
    assert ear.said.startswith(b"HORAE_EVENTS: a line was ignored: ")


async def test_complaints_have_an_end(line):
    assert (await line(b"nonsense\n" * 500)).said.count(b"\n") == 5


async def test_a_line_without_end_is_skipped_and_not_kept(line):
    ear = await line(b"x" * LINE_BYTES, b"y" * 100_000, b'\n{"progress": [1]}\n')
    assert ear.heard == [(1.0, None, None)]
    assert b"more than 1048576 bytes was ignored" in ear.said


async def test_a_checkpoint_that_is_refused_does_not_end_the_job(line):
    line.ear.refuse = True
    ear = await line(b'{"checkpoint": 1}\n')
    assert b"the checkpoint was not stored: much too large" in ear.said


async def test_a_job_that_floods_waits_and_not_the_agent(line):
    ear = await asyncio.wait_for(line(*[b'{"progress": [1]}\n' * 3000] * 40), 20)
    assert len(ear.heard) == 120_000


async def test_whoever_opens_it_does_not_wait(tmp_path, line):
    for _ in range(3):
        os.close(os.open(tmp_path / "events", os.O_WRONLY | os.O_NONBLOCK))
    assert (await line(b'{"progress": [1]}\n')).heard


async def test_a_line_that_is_nested_too_deeply_is_ignored_like_any_other_nonsense(line):
    ear = await line(b'{"partial": ' + b"[" * 100_000 + b"]" * 100_000 + b'}\n{"progress": [9]}\n')
    assert ear.heard == [(9.0, None, None)]
    assert b"a line was ignored" in ear.said


async def test_of_a_long_line_that_is_ignored_nothing_is_shown_that_could_be_half_a_secret(line):
    ear = await line(b"x" * 190 + b"a-secret-that-is-cut\n")
    assert b"a line was ignored" in ear.said
    assert b"a-secr" not in ear.said
