"""What may be said about one job besides its arguments: when, how urgent, where, how often.

In `task.options(at=…)` the names are plain; among a task's own arguments they carry an underscore
(`task.submit(…, _at=…)`), so that they cannot collide with a parameter.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final, TypedDict

import msgspec

from horae.model.durations import parse_duration
from horae.model.errors import InvalidInput
from horae.model.job import JobRequest, check_request
from horae.model.placement import Requirements, Traits
from horae.model.retry import RetryPolicy
from horae.model.unique import Unique

Duration = str | float | timedelta
Instant = datetime | str


class Options(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    at: Instant | None = None
    delay: Duration | None = None
    priority: int | None = None
    queue: str | None = None
    timeout: Duration | None = None
    max_attempts: int | None = None
    retry: RetryPolicy | None = None
    labels: Mapping[str, str] | None = None
    concurrency_key: str | None = None
    deadline: Instant | None = None
    expires: Instant | None = None
    expires_in: Duration | None = None
    requires: Requirements | None = None
    prefers: Traits | None = None
    avoids: Traits | None = None
    sticky: str | None = None
    spread: int | None = None
    unique: Unique | None = None
    idempotency_key: str | None = None
    tenant: str | None = None

    def request(self, task: str, params: dict[str, Any]) -> JobRequest:
        if self is NONE:
            return JobRequest(task=task, params=params)
        try:
            return check_request(self._request(task, params))
        except (TypeError, AttributeError, ValueError) as error:
            raise InvalidInput(f"{task}: an option has a value of the wrong type: {error}") from error

    def _request(self, task: str, params: dict[str, Any]) -> JobRequest:
        return JobRequest(
            task=task,
            params=params,
            run_at=instant(self.at, "at"),
            delay=seconds(self.delay, "delay"),
            priority=self.priority,
            queue=self.queue,
            deadline=instant(self.deadline, "deadline"),
            max_attempts=self.max_attempts,
            retry=self.retry,
            timeout=seconds(self.timeout, "timeout"),
            concurrency_key=self.concurrency_key,
            expires=instant(self.expires, "expires"),
            expires_in=seconds(self.expires_in, "expires_in"),
            requires=self.requires,
            prefers=self.prefers,
            avoids=self.avoids,
            sticky=self.sticky,
            spread=self.spread,
            unique=self.unique,
            labels=None if self.labels is None else dict(self.labels),
            tenant=self.tenant,
        )


class OptionsGiven(TypedDict, total=False):
    """The same names as keyword arguments."""

    at: Instant
    delay: Duration
    priority: int
    queue: str
    timeout: Duration
    max_attempts: int
    retry: RetryPolicy
    labels: Mapping[str, str]
    concurrency_key: str
    deadline: Instant
    expires: Instant
    expires_in: Duration
    requires: Requirements
    prefers: Traits
    avoids: Traits
    sticky: str
    spread: int
    unique: Unique
    idempotency_key: str
    tenant: str


NONE: Final = Options()
RESERVED: Final = frozenset(f"_{name}" for name in Options.__struct_fields__)


def split(kwargs: dict[str, Any]) -> tuple[Options, dict[str, Any]]:
    """Takes the underscored options out of a call's keyword arguments."""
    if RESERVED.isdisjoint(kwargs):
        return NONE, kwargs
    given = {name[1:]: value for name, value in kwargs.items() if name in RESERVED}
    return Options(**given), {name: value for name, value in kwargs.items() if name not in RESERVED}


def instant(value: Instant | None, field: str) -> datetime | None:
    if not isinstance(value, str):
        return value
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        raise InvalidInput(
            f"{field}: {value[:64]!r} is not an instant such as 2026-11-20T10:00+01:00", field=field
        ) from None


def seconds(value: Duration | None, field: str) -> float | None:
    return None if value is None else parse_duration(value, field).total_seconds()
