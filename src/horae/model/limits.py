"""Limits: how many jobs may run at once, and how many may start in a time.

A rule concerns the lanes that match its tenant, queue, task and key. Lanes with the same values of the fields in `each`
form a *group*, and the group has the limit for itself: `each=["key"]` limits every concurrency key on its own. A job
runs when every group of its lane has room, so any combination of rules on one job is simply all of them.

A concurrency key that no rule speaks of is a mutex: one job at a time.
"""

import hashlib
import math
import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

import msgspec

from horae.model.errors import InvalidInput
from horae.model.job import check_name

MAX_RUNNING: Final = 1_000_000
MAX_RATE: Final = 1_000_000.0
_RATE: Final = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*/\s*(s|sec|second|m|min|minute|h|hour|d|day)\s*")
_PERIODS: Final = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


class Field(StrEnum):
    TENANT = "tenant"
    QUEUE = "queue"
    TASK = "task"
    KEY = "key"


class LaneFacts(Protocol):
    """What a rule looks at."""

    @property
    def tenant_id(self) -> int: ...
    @property
    def queue(self) -> str: ...
    @property
    def task(self) -> str: ...
    @property
    def concurrency_key(self) -> str: ...


class LimitRule(msgspec.Struct, kw_only=True, frozen=True):
    id: int
    name: str
    tenant_id: int | None = None
    queue: str | None = None
    task: str | None = None
    key: str | None = None
    """A concurrency key, or the beginning of several with a * behind it."""
    each: tuple[Field, ...] = ()
    max_running: int | None = None
    rate: float | None = None
    """Starts a second."""
    burst: float | None = None

    @property
    def about_keys(self) -> bool:
        return self.key is not None or Field.KEY in self.each


class Group(NamedTuple):
    """Jobs that share one limit."""

    id: int
    max_running: int | None
    rate: float | None
    burst: float | None
    rule: LimitRule | None
    """None for the mutex of a concurrency key without a rule."""


def concerns(rule: LimitRule, lane: LaneFacts) -> bool:
    return (
        (rule.tenant_id is None or rule.tenant_id == lane.tenant_id)
        and (rule.queue is None or rule.queue == lane.queue)
        and (rule.task is None or rule.task == lane.task)
        and (not rule.about_keys or _key_matches(rule.key, lane.concurrency_key))
    )


def _key_matches(wanted: str | None, key: str) -> bool:
    if not key or wanted is None:
        return bool(key)
    return key.startswith(wanted[:-1]) if wanted.endswith("*") else key == wanted


def groups_of(rules: Iterable[LimitRule], lane: LaneFacts) -> tuple[Group, ...]:
    """All limits a lane stands under."""
    matching = [rule for rule in rules if concerns(rule, lane)]
    groups = [Group(_group_id(rule, lane), rule.max_running, rule.rate, rule.burst, rule) for rule in matching]
    if lane.concurrency_key and not any(rule.about_keys for rule in matching):
        groups.append(Group(_digest("key", lane.tenant_id, lane.concurrency_key), 1, None, None, None))
    return tuple(groups)


def spread_group(lane_id: int, worker_id: int, most: int) -> Group:
    """A lane's jobs on one worker."""
    return Group(_digest("spread", lane_id, worker_id), most, None, None, None)


def _group_id(rule: LimitRule, lane: LaneFacts) -> int:
    values = {
        Field.TENANT: lane.tenant_id,
        Field.QUEUE: lane.queue,
        Field.TASK: lane.task,
        Field.KEY: lane.concurrency_key,
    }
    return _digest("rule", rule.id, *(f"{field}={values[field]}" for field in sorted(rule.each)))


def _digest(*parts: object) -> int:
    text = "\x00".join(map(str, parts)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big", signed=True)


def read_rate(text: str | float, field: str = "rate") -> float:
    """Starts a second, from `10/s`, `600/m`, `5/h` or a plain number."""
    if isinstance(text, str):
        found = _RATE.fullmatch(text)
        if found is None:
            raise InvalidInput(f"{field}: {text[:40]!r} is not a rate such as 10/s, 600/m or 5/h", field=field)
        value = float(found[1]) / _PERIODS[found[2][0]]
    else:
        value = float(text)
    if not (math.isfinite(value) and 0 < value <= MAX_RATE):
        raise InvalidInput(f"{field}: must be more than 0 and at most {MAX_RATE:,.0f} a second", field=field)
    return value


def check_rule(rule: LimitRule) -> LimitRule:
    check_name(rule.name, "name")
    for value, field in ((rule.queue, "queue"), (rule.task, "task")):
        if value is not None:
            check_name(value, field)
    if rule.key is not None and not 1 <= len(rule.key) <= 200:
        raise InvalidInput("key: 1…200 characters; * at the end stands for any ending", field="key")
    if rule.max_running is None and rule.rate is None:
        raise InvalidInput("a limit needs max_running, rate or both", field="max_running")
    if rule.max_running is not None and not 0 <= rule.max_running <= MAX_RUNNING:
        raise InvalidInput(f"max_running: {rule.max_running} is outside 0…{MAX_RUNNING}", field="max_running")
    if rule.burst is not None and (rule.rate is None or not 1 <= rule.burst <= MAX_RATE):
        raise InvalidInput("burst: at least 1, and only beside a rate", field="burst")
    if len(set(rule.each)) != len(rule.each):
        raise InvalidInput("each: a field is named twice", field="each")
    return rule


def default_burst(rate: float, burst: float | None) -> float:
    """A second's worth, at least one job: a rate shall not add up to a flood while nothing happens."""
    return max(1.0, rate) if burst is None else burst


def distinct(lanes: Sequence[tuple[Group, ...]]) -> list[Group]:
    """All groups of several lanes, each once, in the order of their ids."""
    return sorted({group.id: group for groups in lanes for group in groups}.values(), key=lambda group: group.id)
