"""What a script or container says while it runs: lines of JSON, written to the FIFO that HORAE_EVENTS names.

    {"progress": [3, 10, "thumbnails"]}
    {"checkpoint": {"page": 41}}
    {"partial": {"row": 7}}
    {"retry_after": 30}

The agent holds both ends of the FIFO open, so a job that opens it never waits and none of its lines is lost when it
closes it again. Of several checkpoints that wait to be stored only the latest matters. What cannot be understood is
said in the job's log, a few times, and never ends the job.
"""

import asyncio
import os
from pathlib import Path
from typing import Final

import msgspec

from horae.model.errors import HoraeError
from horae.worker.errands.errand import Errand

LINE_BYTES: Final = 1024 * 1024
_READ_BYTES: Final = 64 * 1024
_RATE: Final = 4 * 1024 * 1024
"""Bytes a second that the agent reads of one job: a job that floods it waits, not the others."""
_COMPLAINTS: Final = 5
_SHOWN_BYTES: Final = 200


class _Progress(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    done: float
    total: float | None = None
    note: str | None = None


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    progress: _Progress | None = None
    checkpoint: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    partial: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    retry_after: float | None = None


class Events:
    def __init__(self, fifo: Path, errand: Errand) -> None:
        self.retry_after: float | None = None
        """Seconds that it wants to pass before the next attempt."""
        self._errand = errand
        self._decoder = msgspec.json.Decoder(_Line)
        self._buffer = bytearray()
        self._skipping = False
        """In the middle of a line that is too long."""
        self._complaints = 0
        self._checkpoint: bytes | None = None
        self._storing: asyncio.Task[None] | None = None
        self._fd = os.open(fifo, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        self._loop = asyncio.get_running_loop()
        self._listen()

    async def close(self) -> None:
        """Once the job has ended: reads what is left and waits until its last checkpoint is stored."""
        try:
            while self._read():
                pass
            self._end_line(b"")
            if self._storing is not None:
                await self._storing
        finally:
            self.abandon()

    def abandon(self) -> None:
        """At once, whatever was not read yet."""
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1
        if self._storing is not None:
            self._storing.cancel()

    def _listen(self) -> None:
        if self._fd >= 0:
            self._loop.add_reader(self._fd, self._hear)

    def _hear(self) -> None:
        size = self._read()
        self._loop.remove_reader(self._fd)
        self._loop.call_later(size / _RATE, self._listen)

    def _read(self) -> int:
        try:
            data = os.read(self._fd, _READ_BYTES)
        except BlockingIOError:
            return 0
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._end_line(line)
        self._add(rest)
        return len(data)

    def _add(self, data: bytes) -> None:
        if self._skipping:
            return
        self._buffer += data
        if len(self._buffer) > LINE_BYTES:
            self._skipping = True
            self._buffer.clear()
            self._complain(f"a line of more than {LINE_BYTES} bytes was ignored")

    def _end_line(self, last: bytes) -> None:
        self._add(last)
        if not self._skipping:
            self._line(bytes(self._buffer))
        self._buffer.clear()
        self._skipping = False

    def _line(self, text: bytes) -> None:
        if not text.strip():
            return
        try:
            line = self._decoder.decode(text)
            for data in (line.checkpoint, line.partial):
                if data is not msgspec.UNSET:
                    msgspec.json.decode(data)  # What is taken over as it stands was not looked at yet.
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            # A long one is not shown: cut off, it could end in half a secret, which nobody would recognize.
            shown = text.decode(errors="replace") if len(text) <= _SHOWN_BYTES else f"{len(text)} bytes"
            self._complain(f"a line was ignored: {error}: {shown}")
            return
        if line.progress is not None:
            self._errand.progress(line.progress.done, line.progress.total, line.progress.note)
        if line.partial is not msgspec.UNSET:
            self._errand.partial(bytes(line.partial))
        if line.checkpoint is not msgspec.UNSET:
            self._store(bytes(line.checkpoint))
        if line.retry_after is not None:
            self.retry_after = max(0.0, line.retry_after)

    def _store(self, data: bytes) -> None:
        self._checkpoint = data
        if self._storing is None or self._storing.done():
            self._storing = self._loop.create_task(self._store_latest())

    async def _store_latest(self) -> None:
        while (data := self._checkpoint) is not None:
            self._checkpoint = None
            try:
                await self._errand.checkpoint(data)
            except HoraeError as error:
                self._complain(f"the checkpoint was not stored: {error.detail}")

    def _complain(self, text: str) -> None:
        self._complaints += 1
        if self._complaints <= _COMPLAINTS:
            self._errand.write("system", f"HORAE_EVENTS: {text}\n".encode())


def make_fifo(path: Path) -> None:
    """Anyone may write to it: who can reach it is decided by the folder it is in."""
    os.mkfifo(path)
    path.chmod(0o622)
