"""What a task raises to say how its attempt ended. Any other exception is an ordinary failure: retried by policy."""

from datetime import timedelta

from horae.model.durations import parse_duration


class Fatal(Exception):
    """Another try is useless: the job fails now, whatever attempts are left."""


class Retry(Exception):
    """Try again, after this long if `after` is given (`30`, `"30s"`, a timedelta), else by the retry policy.

    It uses up an attempt like any failure.
    """

    def __init__(self, message: str = "", *, after: timedelta | float | str | None = None) -> None:
        super().__init__(message or "the task asked to be tried again")
        self.after = after
        self.after_seconds = None if after is None else parse_duration(after, "after").total_seconds()


class Cancelled(BaseException):
    """Raised inside a sync task that is cancelled or out of time. `except Exception` lets it by."""


class NoSecret(Exception):
    """The job cannot have a secret: its task does not name it, the tenant has no such one, or it cannot be opened."""


class Unserialisable(Fatal):
    """The task's result is not JSON and no type that msgspec knows."""


class BadParams(Fatal):
    """The job's params do not convert to the types that the function declares."""
