"""Plain jobs: many of one task, due at once, that share all but their ids and params.

Their rows are written here in PostgreSQL's binary format for COPY: what they share is written once for all of them,
where the driver would look at every value of every row. A bulk submit spent more on that than on anything else.
"""

import struct
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from horae.model.rank import micros

if TYPE_CHECKING:
    from horae.store.jobs import NewJob

SIGNATURE: Final = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
END: Final = b"\xff\xff"
NULL: Final = b"\xff\xff\xff\xff"
POSTGRES_EPOCH: Final = 946_684_800_000_000
"""2000-01-01 in microseconds of Unix time: PostgreSQL counts from there."""
JOB_COLUMNS: Final = 9
READY_COLUMNS: Final = 4
_length = struct.Struct("!i").pack


class PlainJobs(NamedTuple):
    shared: "NewJob"
    """What holds for all of them; its id and params stand for nobody's."""
    ids: Sequence[str]
    params: Sequence[bytes]

    def batches(self, size: int) -> Iterator["PlainJobs"]:
        for start in range(0, len(self.ids), size):
            end = start + size
            yield PlainJobs(self.shared, self.ids[start:end], self.params[start:end])

    def job_rows(self) -> bytes:
        """In the order of `NewJob`."""
        job = self.shared
        head = struct.pack("!hi", JOB_COLUMNS, 16)
        middle = b"".join(
            (
                _number("q", job.rank),
                _number("q", micros(job.run_at) - POSTGRES_EPOCH),
                _number("i", job.tenant_id),
                _number("i", job.lane_id),
                _number("i", job.key_id),
                _number("h", job.priority),
            )
        )
        tail = _text(job.options)
        parts = [SIGNATURE]
        for job_id, params in zip(self._raw_ids(), self.params, strict=True):
            parts += (head, job_id, middle, _length(len(params)), params, tail)
        return b"".join((*parts, END))

    def ready_rows(self) -> bytes:
        head = struct.pack("!h", READY_COLUMNS) + _number("q", self.shared.rank) + _length(16)
        tail = _number("i", self.shared.lane_id) + _number("i", 0)
        return b"".join((SIGNATURE, head, (tail + head).join(self._raw_ids()), tail, END))

    def _raw_ids(self) -> list[bytes]:
        raw = bytes.fromhex("".join(self.ids).replace("-", ""))
        return [raw[start : start + 16] for start in range(0, len(raw), 16)]


def _number(kind: str, value: int | None) -> bytes:
    return NULL if value is None else struct.pack(f"!i{kind}", struct.calcsize(f"!{kind}"), value)


def _text(value: str | None) -> bytes:
    return NULL if value is None else _length(len(value.encode())) + value.encode()
