"""Following a stream of server-sent events through broken connections, without I/O.

An event's `id` is a cursor: after a break the next connection goes on behind the last one that arrived.
"""

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from horae.client import calls
from horae.client.calls import Call
from horae.client.retries import Retries, problem
from horae.client.transport import Answer, Broken
from horae.wire.files import Partial
from horae.wire.jobs import JobEvent, LogLine

T = TypeVar("T")
_PASSING = frozenset({429, 502, 503, 504})


class ServerSent(NamedTuple):
    event: str
    data: str
    id: str | None


class EventReader:
    """Cuts a byte stream into events. A half-received one waits for its end."""

    def __init__(self) -> None:
        self._rest = b""
        self._lines: list[str] = []

    def feed(self, piece: bytes) -> list[ServerSent]:
        *lines, self._rest = (self._rest + piece).split(b"\n")
        found = []
        for line in lines:
            text = line.removesuffix(b"\r").decode(errors="replace")
            if text:
                self._lines.append(text)
            elif event := self._close():
                found.append(event)
        return found

    def _close(self) -> ServerSent | None:
        fields = [line.partition(":") for line in self._lines]
        self._lines = []
        named = [(name, value.removeprefix(" ")) for name, _, value in fields if name]
        data = [value for name, value in named if name == "data"]
        last = dict(named)
        return ServerSent(last.get("event", "message"), "\n".join(data), last.get("id")) if data else None


class Following(Generic[T]):
    """Where one reader of a stream stands."""

    def __init__(
        self,
        make_call: Callable[[str | None], Call[Any]],
        read: Callable[[ServerSent], tuple[T | None, bool]],
        url: str,
        patience: float,
        cursor: str | None = None,
    ) -> None:
        self._make_call = make_call
        self._read = read
        self._url = url
        self._patience = patience
        self._cursor = cursor
        self._reader = EventReader()
        self._latest: T | None = None
        self._retries: Retries | None = None
        self.ended = False

    def call(self) -> Call[Any]:
        self._reader = EventReader()
        return self._make_call(self._cursor)

    def take(self, piece: Answer | bytes) -> list[T]:
        if isinstance(piece, bytes):
            return [item for event in self._reader.feed(piece) if (item := self._item(event)) is not None]
        if piece.status in _PASSING:
            raise Broken(f"the server answered {piece.status}", sent=True)
        if piece.status >= 300:
            raise problem(piece)
        return []

    def _item(self, event: ServerSent) -> T | None:
        # Whatever arrives proves the server alive: the next break gets the full patience again.
        self._retries = None
        self._cursor = event.id or self._cursor
        item, last = self._read(event)
        self.ended = self.ended or last
        # A new connection may begin with what the old one said last.
        if item == self._latest:
            return None
        self._latest = item
        return item

    def after_break(self, broken: Broken) -> float:
        if self._retries is None:
            self._retries = Retries(self.call(), self._url, self._patience)
        return self._retries.after_break(broken)


def log_lines(job_id: str, cursor: str | None, url: str, patience: float) -> Following[LogLine]:
    return Following(lambda at: calls.follow_logs(job_id, at), _read_log, url, patience, cursor)


def partials(job_id: str, cursor: str | None, url: str, patience: float) -> Following[Partial]:
    return Following(lambda at: calls.follow_partials(job_id, at), _read_partial, url, patience, cursor)


def job_events(job_id: str, url: str, patience: float) -> Following[JobEvent]:
    return Following(lambda _: calls.events(job_id), _read_event, url, patience)


def _read_log(event: ServerSent) -> tuple[LogLine | None, bool]:
    line = msgspec.json.decode(event.data, type=LogLine) if event.event == "log" else None
    return line, event.event == "end"


def _read_partial(event: ServerSent) -> tuple[Partial | None, bool]:
    piece = msgspec.json.decode(event.data, type=Partial) if event.event == "partial" else None
    return piece, event.event == "end"


def _read_event(event: ServerSent) -> tuple[JobEvent | None, bool]:
    if event.event != "state":
        return None, False
    item = msgspec.json.decode(event.data, type=JobEvent)
    return item, item.state.ended
