"""What agent and child say to each other: frames of four bytes of length and JSON.

JSON, not msgpack, because params and results are JSON already and pass through as `Raw`, never decoded by the agent.
Jobs carry a sequence number, counted per child, by which both ends, the board and the output markers name them.
"""

from typing import Final

import msgspec

from horae.model.task import TaskDefinition
from horae.model.work import Finished, Grant

HEADER_BYTES: Final = 4


class Order(msgspec.Struct, array_like=True, gc=False):
    """A grant in the worker's hands."""

    seq: int
    received: float
    """CLOCK_BOOTTIME when the grant arrived."""
    grant: Grant
    sent: float = 0.0
    """CLOCK_BOOTTIME when it went to a child; a concurrent child starts it then."""


class Ended(msgspec.Struct, array_like=True, gc=False):
    seq: int
    finished: Finished
    """A result too large for the exchange has both `result` and `blob`; the agent uploads it."""


class TaskInfo(msgspec.Struct, array_like=True):
    definition: TaskDefinition
    is_async: bool


class Begin(msgspec.Struct, array_like=True, tag="begin"):
    """The answer to Hello: run one job at a time, or coroutines side by side."""

    concurrent: bool


class Run(msgspec.Struct, array_like=True, tag="run"):
    orders: list[Order]


class Revoke(msgspec.Struct, array_like=True, tag="revoke"):
    """Give back all that has not started."""


class Cancel(msgspec.Struct, array_like=True, tag="cancel"):
    """To concurrent children only; the others get a signal."""

    seq: int
    move: bool = False


class Saved(msgspec.Struct, array_like=True, tag="saved"):
    """The checkpoint is durable, or `error` says why not."""

    ticket: int
    error: str | None


class Told(msgspec.Struct, array_like=True, tag="told"):
    """The job's secrets, or `error` says why not."""

    ticket: int
    secrets: dict[str, str]
    error: str | None

    def __repr__(self) -> str:
        return f"Told({self.ticket}, {sorted(self.secrets)}, {self.error!r})"


class Quit(msgspec.Struct, array_like=True, tag="quit"):
    """Finish what is there, then exit."""


class Hello(msgspec.Struct, array_like=True, tag="hello"):
    tasks: list[TaskInfo]
    error: str | None = None


class Done(msgspec.Struct, array_like=True, tag="done"):
    jobs: list[Ended]


class Returned(msgspec.Struct, array_like=True, tag="returned"):
    seqs: list[int]


class Noted(msgspec.Struct, array_like=True, tag="noted"):
    """Progress."""

    seq: int
    done: float
    total: float | None
    note: str | None


class Piece(msgspec.Struct, array_like=True, tag="piece"):
    """A piece of the result, for those who watch."""

    seq: int
    data: msgspec.Raw


class Save(msgspec.Struct, array_like=True, tag="save"):
    """A checkpoint; the child waits for Saved."""

    seq: int
    ticket: int
    data: msgspec.Raw


class Ask(msgspec.Struct, array_like=True, tag="ask"):
    """The job wants its secrets; it waits for Told."""

    seq: int
    ticket: int


ToChild = Begin | Run | Revoke | Cancel | Saved | Told | Quit
FromChild = Hello | Done | Returned | Noted | Piece | Save | Ask

_encoder: Final = msgspec.json.Encoder()


def encode(message: ToChild | FromChild) -> bytes:
    return frame(_encoder.encode(message))


def frame(body: bytes) -> bytes:
    return len(body).to_bytes(HEADER_BYTES, "big") + body


def done_frame(entries: bytes) -> bytes:
    """A Done made of journal entries, each of which ends with a comma."""
    return frame(b'["done",[' + entries[:-1] + b"]]")


def decode_entries(entries: bytes) -> list[Ended]:
    return msgspec.json.decode(b"[" + entries[:-1] + b"]", type=list[Ended])
