"""Identifiers. A job id is a UUIDv7 whose 12 bits of `rand_a` carry the shard, so an id routes itself.

Its last ten bits are those of its tenant's number: a hint where to look for a job of which only the id is known. Ids
that were derived, or made inside a user's transaction, have anything there. More bits would be taken from those that
keep servers apart which make ids in the same millisecond.
"""

from datetime import UTC, date, datetime, timedelta
from hashlib import blake2b
from random import getrandbits
from typing import Final, NewType
from uuid import UUID

JobId = NewType("JobId", UUID)
TenantId = NewType("TenantId", int)
LaneId = NewType("LaneId", int)
WorkerId = NewType("WorkerId", int)
KeyId = NewType("KeyId", int)

MAX_SHARD: Final = 0xFFF
HINT_BITS: Final = 10
SET_BACK_MS: Final = 10_000
_VARIANT: Final = 0b10 << 62
_HINT: Final = (1 << HINT_BITS) - 1
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class JobIds:
    """Makes job ids that grow: the millisecond from the caller's clock, then random bits, then a counter over them.

    Ids of one maker never go back, unless its clock was set back by more than seconds; ids of several makers interleave
    by time. They are text: that is what the wire and the driver take, and a UUID object for each would cost more than
    the rest of a submit.
    """

    def __init__(self, shard: int = 0) -> None:
        if not 0 <= shard <= MAX_SHARD:
            raise ValueError(f"shard {shard} is outside 0..{MAX_SHARD}")
        self._shard = shard
        self._last_ms = -1
        self._head = ""
        self._tail = 0

    def make(self, unix_seconds: float, tenant_id: int = 0) -> str:
        ms = int(unix_seconds * 1000)
        if ms != self._last_ms and not self._last_ms - SET_BACK_MS <= ms < self._last_ms:
            self._last_ms = ms
            text = f"{ms:012x}"
            self._head = f"{text[:8]}-{text[8:]}-{0x7000 | self._shard:04x}-"
            self._tail = _VARIANT | getrandbits(61 - HINT_BITS) << HINT_BITS
        else:
            # Steps of up to 2**24 keep neighbours unguessable in practice and leave room for millions a millisecond.
            self._tail += 1 + getrandbits(24) << HINT_BITS
        tail = f"{self._tail | tenant_id & _HINT:016x}"
        return f"{self._head}{tail[:4]}-{tail[4:]}"

    def make_many(self, unix_seconds: float, tenant_id: int, count: int) -> list[str]:
        """The same for a batch, at two thirds of the price."""
        ids = [self.make(unix_seconds, tenant_id)] if count else []
        head, tail, hint = self._head, self._tail, tenant_id & _HINT
        for _ in range(count - 1):
            tail += 1 + getrandbits(24) << HINT_BITS
            text = f"{tail | hint:016x}"
            ids.append(f"{head}{text[:4]}-{text[4:]}")
        self._tail = tail
        return ids


def shard_of(job_id: UUID) -> int:
    return (job_id.int >> 64) & MAX_SHARD


def tenant_hint(job_id: UUID) -> int:
    """The last bits of its tenant's number, if the id tells; whoever asks must look whether it is there."""
    return job_id.int & _HINT


def created_at(job_id: UUID) -> datetime:
    return _EPOCH + timedelta(milliseconds=job_id.int >> 80)


def lowest_id(instant: datetime) -> UUID:
    """The smallest UUID of that instant: the bound of a daily partition, and of a time filter."""
    ms = (instant - _EPOCH) // timedelta(milliseconds=1)
    return UUID(int=max(ms, 0) << 80)


def day_bounds(day: date) -> tuple[UUID, UUID]:
    start = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return lowest_id(start), lowest_id(start + timedelta(days=1))


def derived_id(instant: datetime, *parts: object) -> UUID:
    """The one id of what happens at an instant for a reason: the same parts give the same id, on every server."""
    micros = (instant - _EPOCH) // timedelta(microseconds=1)
    digest = blake2b("\x00".join(map(str, (micros, *parts))).encode(), digest_size=8).digest()
    return UUID(int=micros // 1000 << 80 | 0x7000 << 64 | _VARIANT | int.from_bytes(digest, "big") >> 2)
