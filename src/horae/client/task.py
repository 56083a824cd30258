"""A task: a function that can also be submitted.

`submit` comes in two forms. `send.options(at=…).submit(…)` is checked in full by a type checker. `send.submit(…,
_at=…)` is shorter; a checker then checks the option but not the arguments beside it (see `typed`). Without options
both check the arguments if the Context comes first, or there is none. Python's types cannot cut a parameter from the
end of a signature: with the Context last any arguments pass the checker, and wrong ones are refused at run time.
"""

import functools
from collections.abc import Awaitable, Callable, Iterable
from datetime import timedelta
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, Unpack

from horae.client.clients import Clients
from horae.client.declared import Declared, Every, rule_fields
from horae.client.function import Function
from horae.client.handles import AsyncJob, Job
from horae.client.options import Options, OptionsGiven
from horae.client.preset import Item, Preset
from horae.client.typed import OptionalCall
from horae.model.task import TaskDefinition

P = ParamSpec("P")
R = TypeVar("R")


class Task(Function, Generic[P, R]):
    def __init__(self, function: Callable[..., Any], definition: TaskDefinition, clients: Clients) -> None:
        super().__init__(function, definition)
        self._clients = clients
        self.declared = Declared()
        """Where its schedules go: the app's, once it has one."""
        functools.update_wrapper(self, function, updated=())
        self.submit: OptionalCall[P, Job[R]] = OptionalCall(lambda o: self._preset(o).submit)
        self.asubmit: OptionalCall[P, Awaitable[AsyncJob[R]]] = OptionalCall(lambda o: self._preset(o).asubmit)
        self.submit_many: OptionalCall[[Iterable[Item]], list[Job[R]]] = OptionalCall(
            lambda o: self._preset(o).submit_many
        )
        self.asubmit_many: OptionalCall[[Iterable[Item]], Awaitable[list[AsyncJob[R]]]] = OptionalCall(
            lambda o: self._preset(o).asubmit_many
        )
        self.submit_in: OptionalCall[Concatenate[Any, P], str] = OptionalCall(lambda o: self._preset(o).submit_in)
        self.asubmit_in: OptionalCall[Concatenate[Any, P], Awaitable[str]] = OptionalCall(
            lambda o: self._preset(o).asubmit_in
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the plain function, here and now; that of an async task returns its coroutine, to be awaited."""
        return self.call(args, kwargs)

    def __repr__(self) -> str:
        return f"<Task {self.name}>"

    def options(self, **options: Unpack[OptionsGiven]) -> Preset[P, R]:
        """The task with options fixed: `send.options(delay="10s", priority=8).submit("john@example.com")`."""
        return self._preset(Options(**options))

    def every(
        self, rule: str | float | timedelta | None = None, /, *, name: str | None = None, **schedule: Any
    ) -> Every[P]:
        """Declares a schedule: `send.every("0 10 * * FRI", tz="Europe/Berlin")("john@example.com")`.

        `rule` is a cron expression or an interval. `schedule` takes what a schedule's definition has: tz, calendars,
        overlap, missed, max_runs, job … It is in force once `app.apply_schedules()` was called.
        """
        fields = rule_fields(rule) | schedule
        return Every(
            lambda params: self.declared.add(name or self.name, self, params=params, **fields), self.signature.bind
        )

    def job(self, job_id: str) -> Job[R]:
        """A handle on a job of this task that was submitted elsewhere."""
        return Job(self._clients.sync, job_id, self.signature.returns)

    def ajob(self, job_id: str) -> AsyncJob[R]:
        return AsyncJob(self._clients.asynchronous, job_id, self.signature.returns)

    def _preset(self, options: Options) -> Preset[P, R]:
        return Preset(self, options, self._clients)
