"""Output of jobs: whose it is, and how much of it is kept.

The first half of the limit goes out as it comes; of the rest the last half is kept in a ring and goes out when the job
ends, after a remark on how much was left out. So memory per job is bounded whatever it prints, and what people look
for, the beginning and the end, is there.
"""

import codecs
import re
from collections import deque
from collections.abc import Iterator
from typing import Final

from horae.model.job import MAX_PIECE_BYTES
from horae.model.work import Finished, Grant
from horae.wire.workers import LogChunk
from horae.worker.clock import now

_CHUNK_BYTES: Final = 64 * 1024
_LONGEST_NUMBER: Final = 20
_NUMBER: Final = re.compile(rb"(\d{1,%d})\x1e" % _LONGEST_NUMBER)
SYSTEM: Final = "system"
PARTIAL: Final = "partial"
"""The stream of pieces of a result. Each is a chunk of its own, in the order of the output around it."""
PIECES_A_SECOND: Final = 100
MAX_PIECES_BYTES: Final = 8 * 1024 * 1024


class Splitter:
    """Takes the markers out of one stream of a child (see `child.output`)."""

    def __init__(self, nonce: str) -> None:
        self._opening = b"\x1e" + nonce.encode() + b":"
        self._owner = 0
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Pairs of sequence number (0: unmarked) and bytes."""
        data, self._rest = self._rest + data, b""
        at = 0
        if b"\x1e" in data:
            for start, end, owner in self._markers(data):
                if start > at:
                    yield self._owner, data[at:start]
                self._owner, at = owner, end
            end = self._unfinished(data, at)
            data, self._rest = data[:end], data[end:]
        if len(data) > at:
            yield self._owner, data[at:] if at else data

    def _markers(self, data: bytes) -> Iterator[tuple[int, int, int]]:
        """Where each begins and ends, and the number it tells.

        Not by one pattern: Python keeps each pattern that was compiled, and there would be one for each child.
        """
        start = data.find(self._opening)
        while start >= 0:
            end = start + len(self._opening)
            if number := _NUMBER.match(data, end):
                end = number.end()
                yield start, end, int(number[1])
            start = data.find(self._opening, end)

    def _unfinished(self, data: bytes, at: int) -> int:
        """Where a marker begins whose end has not arrived; the end of the data when there is none."""
        start = data.rfind(b"\x1e", max(at, len(data) - len(self._opening) - _LONGEST_NUMBER))
        if start < 0:
            return len(data)
        tail = data[start:]
        begun = tail.startswith(self._opening) and tail[len(self._opening) :].isdigit()
        return start if begun or self._opening.startswith(tail) else len(data)


class JobLog:
    """What one attempt wrote."""

    def __init__(self, grant: Grant, limit: int) -> None:
        self._grant = grant
        self._limit = limit
        self._room = limit // 2
        self._head: list[tuple[str, bytearray]] = []
        self._tail: deque[tuple[str, bytearray]] = deque()
        self._tail_room = limit - limit // 2
        self._left_out = 0
        self._decoders = {
            name: codecs.getincrementaldecoder("utf-8")("replace") for name in ("stdout", "stderr", SYSTEM)
        }
        self._pieces = Pieces()
        self._seq = 0
        self.lingering = False
        """A line has begun whose end has not come yet."""
        self.finished: Finished | None = None
        """Set when the job has ended: the completion that follows the last chunk."""
        self.ended_at = 0.0

    def add(self, stream: str, data: bytes) -> int:
        """How many of the bytes wait to be sent now."""
        if stream == PARTIAL:
            return self._add_piece(data)
        head = data[: self._room]
        if head:
            self._room -= len(head)
            _append(self._head, stream, head, self._limit)
            data = data[len(head) :]
        if data:
            self._add_tail(stream, data)
        return len(head)

    def _add_piece(self, data: bytes) -> int:
        """A piece of the result goes out whole or not at all."""
        if not self._pieces.take(len(data)):
            return 0
        self._head.append((PARTIAL, bytearray(data)))
        return len(data)

    def leave_out(self, size: int) -> None:
        self._left_out += size

    def take(self) -> tuple[list[LogChunk], int]:
        """The chunks that are due, and how many bytes they came from.

        A line's beginning waits for its end, but not for longer than until the next call.
        """
        chunks: list[LogChunk] = []
        size = sum(len(data) for _, data in self._head)
        ready, self._head = self._head, []
        if ready and ready[-1][0] != PARTIAL and self.finished is None and not self.lingering:
            stream, last = ready.pop()
            cut = last.rfind(b"\n") + 1
            if cut < len(last):
                self._head.append((stream, last[cut:]))
                size -= len(last) - cut
            ready.append((stream, last[:cut]))
        self.lingering = bool(self._head)
        for stream, data in ready:
            chunks += self._chunks(stream, data)
        if self.finished is not None:
            chunks += self._last_chunks()
        return chunks, size

    def _add_tail(self, stream: str, data: bytes) -> None:
        _append(self._tail, stream, data, _CHUNK_BYTES)
        self._tail_room -= len(data)
        while self._tail_room < 0:
            oldest = self._tail[0][1]
            surplus = min(len(oldest), -self._tail_room)
            self._tail_room += surplus
            self._left_out += surplus
            if surplus < len(oldest):
                del oldest[:surplus]
            else:
                self._tail.popleft()

    def _last_chunks(self) -> list[LogChunk]:
        chunks: list[LogChunk] = []
        if self._pieces.left_out:
            chunks.append(self._chunk(SYSTEM, self._pieces.remark()))
        if self._left_out:
            self._flush_decoders(chunks)
            chunks.append(self._chunk(SYSTEM, f"… {self._left_out:,} bytes of output were left out here …\n"))
            self._left_out = 0
        while self._tail:
            chunks += self._chunks(*self._tail.popleft())
        self._flush_decoders(chunks)
        return chunks

    def _flush_decoders(self, chunks: list[LogChunk]) -> None:
        for stream, decoder in self._decoders.items():
            text = decoder.decode(b"", final=True)
            if text:
                chunks.append(self._chunk(stream, text))

    def _chunks(self, stream: str, data: bytearray) -> Iterator[LogChunk]:
        if stream == PARTIAL:
            yield self._chunk(stream, data.decode("utf-8", "replace"))
            return
        for at in range(0, len(data), _CHUNK_BYTES):
            text = self._decoders[stream].decode(data[at : at + _CHUNK_BYTES])
            if text:
                yield self._chunk(stream, text.replace("\0", "\ufffd"))

    def _chunk(self, stream: str, text: str) -> LogChunk:
        grant, seq = self._grant, self._seq
        self._seq += 1
        return LogChunk(id=grant.id, lane=grant.lane, attempt=grant.attempt, seq=seq, stream=stream, text=text)


class Pieces:
    """How many pieces of a result an attempt may give, how fast and how large. What is more is left out and counted."""

    def __init__(self) -> None:
        self._room = MAX_PIECES_BYTES
        self._tokens = float(PIECES_A_SECOND)
        self._looked = now()
        self.left_out = 0

    def take(self, size: int) -> bool:
        at = now()
        self._tokens = min(PIECES_A_SECOND, self._tokens + (at - self._looked) * PIECES_A_SECOND)
        self._looked = at
        if size > min(MAX_PIECE_BYTES, self._room) or self._tokens < 1:
            self.left_out += 1
            return False
        self._tokens -= 1
        self._room -= size
        return True

    def remark(self) -> str:
        most = f"{MAX_PIECE_BYTES >> 10} KiB each, {PIECES_A_SECOND} a second and {MAX_PIECES_BYTES >> 20} MiB in all"
        return f"{self.left_out:,} partial results were left out: {most} are the most\n"


def _append(
    pieces: list[tuple[str, bytearray]] | deque[tuple[str, bytearray]], stream: str, data: bytes, most: int
) -> None:
    """Many small writes become few pieces."""
    if pieces and pieces[-1][0] == stream != PARTIAL and len(pieces[-1][1]) < most:
        pieces[-1][1].extend(data)
    else:
        pieces.append((stream, bytearray(data)))
