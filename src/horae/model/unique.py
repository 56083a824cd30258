"""Uniqueness: what makes two jobs the same, for how long, and what happens to the second.

The job that is there decides how long it keeps others like it away (`during`, `period`); the one that comes decides
what shall happen when it is kept away (`on_conflict`). Whether two jobs are the same is one hash, of the task and of
the params that count, each spelt in one way.
"""

import hashlib
from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

import msgspec

from horae.model.durations import parse_duration
from horae.model.errors import InvalidInput

MAX_NAMES: Final = 32
MAX_NAME_LENGTH: Final = 200
EXACT: Final = 2**53
"""Up to this size a float without a fraction is the same number as the integer, and JSON may write it either way."""
DEBOUNCE_FACTOR: Final = 10


class UniqueWhile(StrEnum):
    """How long a job keeps others like it away."""

    WAITING = "waiting"
    RUNNING = "running"
    ACTIVE = "active"
    """While it waits or runs."""


class OnConflict(StrEnum):
    RETURN = "return"
    """Give back the job that is there."""
    REJECT = "reject"
    REPLACE = "replace"
    """Cancel the one that waits and take the new one."""
    DEBOUNCE = "debounce"
    """Keep the one that waits, with the new params, and push its time forward."""


class Unique(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    by: list[str] | None = None
    """The params that count; null for all of them, an empty list for none (one job of the task)."""
    during: UniqueWhile = UniqueWhile.ACTIVE
    period: str | float | None = None
    """Keep others away for this long after the submit, whatever became of the job; instead of `during`."""
    on_conflict: OnConflict = OnConflict.RETURN
    max_wait: str | float | None = None
    """How long after its own submit a debounced job is due at the latest; by default ten times what pushes it."""


_encoder: Final = msgspec.json.Encoder(order="sorted")


def check_unique(unique: Unique) -> Unique:
    names = unique.by or []
    if len(names) > MAX_NAMES or len(set(names)) < len(names):
        raise InvalidInput(f"unique.by: at most {MAX_NAMES} names, each once", field="unique")
    if any(not 1 <= len(name) <= MAX_NAME_LENGTH for name in names):
        raise InvalidInput(f"unique.by: a name has 1…{MAX_NAME_LENGTH} characters", field="unique")
    if unique.period is not None:
        if not parse_duration(unique.period, "unique.period"):
            raise InvalidInput("unique.period: must be more than 0", field="unique")
        if unique.during is not UniqueWhile.ACTIVE:
            raise InvalidInput("unique: period and during exclude each other: give one", field="unique")
    if unique.max_wait is not None:
        parse_duration(unique.max_wait, "unique.max_wait")
        if unique.on_conflict is not OnConflict.DEBOUNCE:
            raise InvalidInput("unique.max_wait: only on_conflict debounce pushes a job forward", field="unique")
    return unique


def check_by(unique: Unique, params: Mapping[str, Any], schema: Mapping[str, Any] | None) -> None:
    """A name that is misspelt would make all jobs of the task the same."""
    known = set(params) | set((schema or {}).get("properties", {}))
    for name in unique.by or ():
        if name not in known:
            raise InvalidInput(f"unique.by: {name[:80]!r} is no parameter of this job or of its task", field="unique")


def unique_hash(task: str, params: Mapping[str, Any], unique: Unique) -> bytes:
    """The same for jobs that are the same. A name that is left out of the params is not the same as null."""
    names = sorted(params if unique.by is None else set(unique.by) & params.keys())
    chosen = [task, sorted(unique.by) if unique.by is not None else None, [(n, _canonical(params[n])) for n in names]]
    return hashlib.blake2b(_encoder.encode(chosen), digest_size=16).digest()


def _canonical(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT:
        return int(value)
    if isinstance(value, dict):
        return {name: _canonical(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_canonical(item) for item in value]
    return value


def debounced(made_at: datetime, now: datetime, wanted: datetime, unique: Unique) -> datetime:
    """When a waiting job shall run that a new submit for `wanted` pushes forward: never later than its maximum."""
    longest = (wanted - now) * DEBOUNCE_FACTOR
    if unique.max_wait is not None:
        longest = parse_duration(unique.max_wait, "unique.max_wait")
    return min(wanted, made_at + max(longest, timedelta(0)))
