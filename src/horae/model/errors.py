"""Every error Horae raises, in one tree. A message says what happened, to what, and what to do.

`code` is stable: clients, tests and docs rely on it. `status` is the HTTP answer it becomes.
"""

from typing import Any, ClassVar


class HoraeError(Exception):
    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500
    title: ClassVar[str] = "Something went wrong inside Horae"

    def __init__(self, detail: str, **extra: Any) -> None:
        super().__init__(detail)
        self.detail = detail
        self.extra = extra
        """More fields of the problem document, such as `field` or `retry_after`."""


class InvalidInput(HoraeError):
    code, status, title = "invalid_input", 400, "The request is not valid"


class MalformedBody(InvalidInput):
    code, status, title = "malformed_body", 400, "The body is not the JSON that was expected"


class InvalidParams(InvalidInput):
    code, status, title = "invalid_params", 422, "The parameters do not fit the task's schema"


class UnknownTask(InvalidInput):
    code, status, title = "unknown_task", 422, "No such task"


class IdempotencyConflict(InvalidInput):
    code, status, title = "idempotency_conflict", 422, "The idempotency key was used with another body"


class TooLarge(HoraeError):
    code, status, title = "too_large", 413, "The request is too large"


class UnsatisfiableRange(HoraeError):
    """`size` in `extra` is how many bytes there are."""

    code, status, title = "unsatisfiable_range", 416, "The file has no such part"


class Unauthenticated(HoraeError):
    code, status, title = "unauthenticated", 401, "A valid API key is needed"


class InvalidSignature(HoraeError):
    """Raised by `horae.webhooks.verify`, in services that Horae calls."""

    code, status, title = "invalid_signature", 401, "The call is not signed as it should be"


class Forbidden(HoraeError):
    code, status, title = "forbidden", 403, "The key's role does not allow this"


class NotFound(HoraeError):
    code, status, title = "not_found", 404, "There is nothing here"


class MethodNotAllowed(HoraeError):
    code, status, title = "method_not_allowed", 405, "The path does not take this method"


class WrongState(HoraeError):
    code, status, title = "wrong_state", 409, "The job's state does not allow this"


class NowhereToRun(WrongState):
    code, status, title = "nowhere_to_run", 409, "No other worker could run the job"


class GateClosed(HoraeError):
    """A gate refuses new jobs. Which, whose, why and until when is in `extra`."""

    code, status, title = "gate_closed", 409, "A gate refuses such jobs"


class AlreadyExists(HoraeError):
    code, status, title = "already_exists", 409, "The name is taken"


class SecretInUse(HoraeError):
    """`tasks` in `extra` are those that use it."""

    code, status, title = "secret_in_use", 409, "Tasks use the secret"


class SecretsLocked(HoraeError):
    """The server lacks the key that secrets were sealed with, or has none at all."""

    code, status, title = "secrets_locked", 409, "The server cannot open secrets"


class TaskInUse(HoraeError):
    """`jobs` and `schedules` in `extra` say who still needs it."""

    code, status, title = "task_in_use", 409, "Jobs or schedules still need the task"


class TaskChanged(HoraeError):
    code, status, title = "task_changed", 409, "Somebody else has changed the task meanwhile"


class DuplicateJob(HoraeError):
    """`job_id` in `extra` is the job that is there."""

    code, status, title = "duplicate_job", 409, "There is such a job already"


class Gone(HoraeError):
    """A result or file whose lifetime is over."""

    code, status, title = "gone", 410, "It was kept for its time, and is gone"


class DuplicateBackfill(HoraeError):
    """`backfill` in `extra` is the one that runs."""

    code, status, title = "duplicate_backfill", 409, "A backfill of this range has not ended"


class WorkerGone(HoraeError):
    code, status, title = "worker_gone", 410, "The worker's lease has ended: join again"


class RepeatedExchange(HoraeError):
    code, status, title = "repeated_exchange", 409, "This exchange has come before"


class QuotaExceeded(HoraeError):
    """`scope`, `limit`, `remaining` and `retry_after` are in `extra`."""

    code, status, title = "quota_exceeded", 429, "A quota is used up: come back later"


class NotReady(HoraeError):
    code, status, title = "not_ready", 503, "Horae cannot do this now"


class Overloaded(HoraeError):
    code, status, title = "overloaded", 503, "Too much at once: come back in a moment"


class StoreUnavailable(NotReady):
    code, status, title = "store_unavailable", 503, "The database does not answer"


class OutcomeUnknown(HoraeError):
    """The commit's answer got lost: it may have happened or not. Never tried again without an idempotency key."""

    code, status, title = "outcome_unknown", 504, "Whether this happened is unknown"


class UnsafeStore(HoraeError):
    code, status, title = "unsafe_store", 500, "The database would lose data in a crash"


class SetupError(HoraeError):
    """An installation that cannot start: port taken, data folder in use, wrong owner, old schema …"""

    code, status, title = "setup", 500, "Horae cannot start like this"


class Unreachable(HoraeError):
    """Client side: no server answered."""

    code, status, title = "unreachable", 503, "No server answered"


class JobFailed(HoraeError):
    """Client side: `.result()` of a job that ended without success. `error` and `state` are in `extra`."""

    code, status, title = "job_failed", 424, "The job did not succeed"


class ResultTimeout(HoraeError):
    """Client side: the job had not ended in the time that was given."""

    code, status, title = "result_timeout", 408, "The job has not ended yet"


def by_code() -> dict[str, type[HoraeError]]:
    """All errors by their code, so that the client raises what the server meant."""
    found: dict[str, type[HoraeError]] = {}
    todo = [HoraeError]
    while todo:
        kind = todo.pop()
        found[kind.code] = kind
        todo.extend(kind.__subclasses__())
    return found
