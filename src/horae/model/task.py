"""A task's definition, as a worker or an SDK registers it."""

from typing import Any

import msgspec

from horae.model.breaker import Breaker, check_breaker
from horae.model.durations import parse_duration
from horae.model.errors import InvalidInput
from horae.model.job import check_expiry, check_name
from horae.model.kindchecks import check_kind, templates
from horae.model.kinds import Container, HttpCall, Kind, Limits, Script, SecretUse, Sink
from horae.model.placement import Requirements, Traits
from horae.model.rank import EMERGENCY, LOWEST
from horae.model.retry import RetryPolicy, check_max_attempts
from horae.model.template import SECRETS, references
from horae.model.unique import Unique, check_unique
from horae.model.wishes import check_placement


class TaskDefinition(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    name: str
    queue: str | None = None
    priority: int | None = None
    max_attempts: int | None = None
    retry: RetryPolicy | None = None
    timeout: str | float | None = None
    params_schema: dict[str, Any] | None = None
    """JSON Schema of the params object; checked at submit."""
    description: str | None = None
    requires: Requirements | None = None
    """What every job of the task needs of a worker; a job's own wishes go over these, field by field."""
    prefers: Traits | None = None
    avoids: Traits | None = None
    spread: int | None = None
    """At most so many of the task's jobs at once on one worker."""
    max_running: int | None = None
    """At most so many of the task's jobs at once, anywhere."""
    max_running_per_key: int | None = None
    """The same for the jobs of each concurrency key; one, if nothing is said."""
    rate: str | float | None = None
    """At most so many starts: 10/s, 600/m, 5/h."""
    burst: float | None = None
    unique: Unique | None = None
    """What every job of the task is unique by, unless the job says otherwise."""
    expires_in: str | float | None = None
    """How long after its submit a job of the task must have started, or never starts."""
    breaker: Breaker | None = None
    """When too many of the task's jobs fail, it is held, tried again, and released."""
    script: Script | None = None
    """With this, `container` or `http` the task is data, and any worker that offers the kind can run it."""
    container: Container | None = None
    http: HttpCall | None = None
    env: dict[str, str] | None = None
    """Environment variables of scripts and containers, beside those that Horae sets."""
    secrets: list[SecretUse] | None = None
    """What of the tenant's secrets its jobs get."""
    limits: Limits | None = None
    network: bool | None = None
    """Whether scripts and containers may use the network. Not unless it is said."""
    keep_results: str | float | None = None
    """How long results and files of its jobs are kept; None: as long as the jobs themselves."""
    sink: Sink | None = None

    @property
    def kind(self) -> Kind:
        given = (Kind.SCRIPT, self.script), (Kind.CONTAINER, self.container), (Kind.HTTP, self.http)
        return next((kind for kind, part in given if part is not None), Kind.FUNCTION)


def check_task(task: TaskDefinition) -> TaskDefinition:
    check_basics(task)
    check_kind(task)
    return task


def check_basics(task: TaskDefinition) -> None:
    """What is not about its kind."""
    check_name(task.name, "name")
    if task.queue is not None:
        check_name(task.queue, "queue")
    if task.priority is not None and not LOWEST <= task.priority <= EMERGENCY:
        raise InvalidInput(f"priority: {task.priority} is outside {LOWEST}…{EMERGENCY}", field="priority")
    if task.max_attempts is not None:
        check_max_attempts(task.max_attempts)
    if task.timeout is not None and not parse_duration(task.timeout, "timeout"):
        raise InvalidInput("timeout: must be more than 0", field="timeout")
    check_expiry(None, task.expires_in)
    if task.unique is not None:
        check_unique(task.unique)
    if task.breaker is not None:
        check_breaker(task.breaker)
    check_placement(task.requires, task.prefers, task.avoids, spread=task.spread)


def secret_names(task: TaskDefinition) -> list[str]:
    """What a worker needs of the tenant's secrets to run the task. Where a sink writes is the server's business."""
    names = {use.name for use in task.secrets or ()}
    names.update(
        ref.steps[0] for field, text in templates(task) for ref in references(text, field) if ref.root == SECRETS
    )
    if task.http is not None and task.http.sign_with is not None:
        names.add(task.http.sign_with)
    return sorted(names)


def secrets_of(task: TaskDefinition) -> list[str]:
    """All that it uses of the tenant's secrets, here or there."""
    sink = task.sink.dsn_secret if task.sink else None
    return sorted({*secret_names(task), *([sink] if sink else [])})
