"""The runnable half of a task: a plain function, its definition, and how to run it from JSON to JSON."""

import asyncio
import inspect
import time
from collections.abc import Callable
from typing import Any

import msgspec

from horae.client.context import Context
from horae.client.localsecrets import local_secrets
from horae.client.options import RESERVED
from horae.client.signature import Signature
from horae.model.errors import SetupError
from horae.model.task import TaskDefinition, check_task


class Function:
    def __init__(self, function: Callable[..., Any], definition: TaskDefinition) -> None:
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise SetupError(f"{definition.name}: a generator has no single result; return a list, or loop inside")
        self.function = function
        self.signature = Signature(function, RESERVED)
        described = definition.description or _first_paragraph(function)
        self.definition = check_task(
            msgspec.structs.replace(definition, params_schema=self.signature.schema(), description=described)
        )
        self.name = self.definition.name
        self.is_async = inspect.iscoroutinefunction(function)

    @property
    def wants_context(self) -> bool:
        return self.signature.context is not None

    def invoke(self, params: bytes, ctx: Context | None) -> bytes:
        """Runs the function on a JSON object of params and gives its result as JSON."""
        result = self.function(**self.signature.decode(params, ctx))
        if self.is_async:
            result = asyncio.run(result)
        return self.signature.encode_result(result)

    async def invoke_async(self, params: bytes, ctx: Context | None) -> bytes:
        """The same inside a running event loop."""
        result = self.function(**self.signature.decode(params, ctx))
        if self.is_async:
            result = await result
        return self.signature.encode_result(result)

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A plain call of the function; a Context that is declared but not given is supplied."""
        name = self.signature.context
        if name is None or name in kwargs or any(isinstance(value, Context) for value in args):
            return self.function(*args, **kwargs)
        return self.function(**self.signature.bind(args, kwargs), **{name: self._detached_context()})

    def _detached_context(self) -> Context:
        runtime = DetachedRuntime(self.definition)
        return Context(job_id=f"direct-{time.time_ns():x}", attempt=1, max_attempts=1, task=self.name, runtime=runtime)


class DetachedRuntime:
    """For a task that is called as a plain function: nobody cancels it and nobody listens."""

    def __init__(self, definition: TaskDefinition) -> None:
        self._definition = definition

    def cancelled(self) -> bool:
        return False

    def moving(self) -> bool:
        return False

    def progress(self, done: float, total: float | None, note: str | None) -> None: ...

    def checkpoint(self, data: bytes) -> None: ...

    def partial(self, data: bytes) -> None: ...

    def secrets(self) -> dict[str, str]:
        return local_secrets(self._definition, {})


def _first_paragraph(function: Callable[..., Any]) -> str | None:
    text = inspect.getdoc(function)
    return " ".join(text.split("\n\n")[0].split()) if text else None
