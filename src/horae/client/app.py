"""An App: a named set of tasks and the way to the server they are submitted to."""

from collections.abc import Callable, Coroutine, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, TypeVarTuple, overload

import msgspec

from horae.client.client import AsyncClient, Client
from horae.client.clients import Clients
from horae.client.context import Context
from horae.client.declared import Declared, rule_fields
from horae.client.options import Duration, seconds
from horae.client.task import Task
from horae.model.breaker import Breaker
from horae.model.definition import ScheduleDefinition
from horae.model.errors import SetupError
from horae.model.kinds import SecretUse, Sink
from horae.model.placement import Requirements, Traits
from horae.model.retry import RetryPolicy
from horae.model.task import TaskDefinition
from horae.model.unique import Unique

if TYPE_CHECKING:
    from horae.wire.schedules import SchedulePut

P = ParamSpec("P")
R = TypeVar("R")
Ts = TypeVarTuple("Ts")


class App:
    def __init__(
        self, name: str | None = None, url: str | None = None, key: str | None = None, client: Client | None = None
    ) -> None:
        self.name = name
        self.tasks: dict[str, Task[..., Any]] = {}
        self.clients = Clients(url, key, client)
        self.schedules = Declared()

    @property
    def client(self) -> Client:
        return self.clients.sync

    @property
    def async_client(self) -> AsyncClient:
        return self.clients.asynchronous

    @property
    def task(self) -> "TaskDecorator":
        """Declares a function as a task: `@app.task` or `@app.task(queue="mail", max_attempts=5, timeout="30s")`."""
        return TaskDecorator(self, TaskDefinition(name=""))

    def add(self, task: Task[..., Any]) -> None:
        if task.name in self.tasks:
            other = self.tasks[task.name].function
            raise SetupError(
                f"two tasks are called {task.name!r}: {_where(other)} and {_where(task.function)}; "
                "give one of them another with @app.task(name=…)"
            )
        self.tasks[task.name] = task
        task.declared = self.schedules

    def schedule(
        self, name: str, task: Task[..., Any], rule: str | float | timedelta | None = None, /, **schedule: Any
    ) -> ScheduleDefinition:
        """Declares a schedule: `app.schedule("weekly", send, "0 10 * * FRI", params={"to": "john@example.com"})`."""
        return self.schedules.add(name, task, **(rule_fields(rule) | schedule))

    def apply_schedules(self, why: str = "") -> "list[SchedulePut]":
        """Puts the declared schedules in force. Those that are as declared already are left alone."""
        return self.schedules.apply(self.client, why)

    async def aapply_schedules(self, why: str = "") -> "list[SchedulePut]":
        return await self.schedules.apply_async(self.async_client, why)


class TaskDecorator:
    """Called with settings it gives a decorator that has them; called with a function it declares a task.

    The overloads take the Context out of the parameters that `submit` asks for: see `task` for what a type checker
    can and cannot do about it.
    """

    def __init__(self, app: App, defaults: TaskDefinition) -> None:
        self._app = app
        self._defaults = defaults

    @overload
    def __call__(
        self,
        *,
        name: str | None = None,
        queue: str | None = None,
        priority: int | None = None,
        max_attempts: int | None = None,
        retry: RetryPolicy | None = None,
        timeout: Duration | None = None,
        description: str | None = None,
        requires: Requirements | None = None,
        prefers: Traits | None = None,
        avoids: Traits | None = None,
        spread: int | None = None,
        unique: Unique | None = None,
        expires_in: Duration | None = None,
        breaker: Breaker | None = None,
        secrets: Sequence[str] | None = None,
        keep_results: Duration | None = None,
        sink: Sink | None = None,
    ) -> "TaskDecorator": ...
    @overload
    def __call__(self, function: Callable[Concatenate[Context, P], Coroutine[Any, Any, R]], /) -> Task[P, R]: ...
    @overload
    def __call__(self, function: Callable[[*Ts, Context], Coroutine[Any, Any, R]], /) -> Task[..., R]: ...
    # A coroutine is an R too, hence the overlap; the first match wins.
    @overload
    def __call__(self, function: Callable[P, Coroutine[Any, Any, R]], /) -> Task[P, R]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, function: Callable[Concatenate[Context, P], R], /) -> Task[P, R]: ...
    @overload
    def __call__(self, function: Callable[[*Ts, Context], R], /) -> Task[..., R]: ...
    @overload
    def __call__(self, function: Callable[P, R], /) -> Task[P, R]: ...
    def __call__(self, function: Callable[..., Any] | None = None, **settings: Any) -> Any:
        if function is None:
            given = {name: value for name, value in settings.items() if value is not None}
            for duration in {"timeout", "expires_in", "keep_results"} & given.keys():
                given[duration] = seconds(given[duration], duration)
            if "secrets" in given:
                given["secrets"] = [SecretUse(name=name) for name in given["secrets"]]
            return TaskDecorator(self._app, msgspec.structs.replace(self._defaults, **given))
        return self._declare(function)

    def _declare(self, function: Callable[..., Any]) -> Task[..., Any]:
        name = self._defaults.name or getattr(function, "__name__", "")
        task: Task[..., Any] = Task(function, msgspec.structs.replace(self._defaults, name=name), self._app.clients)
        self._app.add(task)
        return task


def _where(function: Callable[..., Any]) -> str:
    return f"{getattr(function, '__module__', '?')}.{getattr(function, '__qualname__', repr(function))}"
