"""What the clients did, as they saw it: every call with how it ended.

A call is *ok* or *failed* only when an answer says so. A timeout or a cut connection is *unknown*: it may have been
carried out, now or later. A call without an end (the client died) is unknown too. Lines are appended in one write each,
with monotonic times, which all processes of a host share.
"""

import os
import time
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec


class End(StrEnum):
    OK = "ok"
    FAILED = "failed"
    UNKNOWN = "unknown"


class Line(msgspec.Struct, omit_defaults=True):
    number: int
    at: float
    client: str = ""
    name: str = ""
    """What was called; only where it was invoked."""
    end: End | None = None
    """Absent where it was invoked."""
    facts: dict[str, Any] = {}


class Call(msgspec.Struct):
    number: int
    client: str
    name: str
    asked: dict[str, Any]
    invoked_at: float
    ended_at: float | None = None
    end: End = End.UNKNOWN
    answer: dict[str, Any] = {}


class History:
    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        self._last = 0

    def invoke(self, client: str, name: str, **asked: Any) -> int:
        self._last += 1
        self._write(Line(self._last, time.monotonic(), client, name, None, asked))
        return self._last

    def end(self, number: int, end: End, **answer: Any) -> None:
        self._write(Line(number, time.monotonic(), end=end, facts=answer))

    def _write(self, line: Line) -> None:
        os.write(self._file, msgspec.json.encode(line) + b"\n")

    def close(self) -> None:
        os.close(self._file)


def read(path: Path) -> list[Call]:
    return joined(msgspec.json.Decoder(Line).decode_lines(path.read_bytes()))


def joined(lines: Iterable[Line]) -> list[Call]:
    """Invocations with their ends. A second end of one call would be a fault of the recorder, and is refused."""
    calls: dict[int, Call] = {}
    for line in lines:
        if line.end is None:
            calls[line.number] = Call(line.number, line.client, line.name, line.facts, line.at)
            continue
        call = calls[line.number]
        if call.ended_at is not None:
            raise ValueError(f"call {line.number} ({call.name}) ended twice")
        call.ended_at, call.end, call.answer = line.at, line.end, line.facts
    return list(calls.values())
