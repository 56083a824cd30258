"""Types for calls that take a task's own arguments and, beside them, underscored options.

A ParamSpec cannot be widened by keywords. So a call without options is checked against the task's parameters, and
one overload for each option admits the rest: there the option is checked, the arguments beside it are not.
"""

from collections.abc import Callable, Mapping
from typing import Any, Generic, ParamSpec, TypeVar, overload

from horae.client.options import Duration, Instant, Options, split
from horae.model.retry import RetryPolicy
from horae.model.unique import Unique

P = ParamSpec("P")
J = TypeVar("J")


class OptionalCall(Generic[P, J]):
    """`call(*args, **kwargs, _at=…, _priority=…)`: splits off the options and hands on the arguments."""

    def __init__(self, prepare: Callable[[Options], Callable[P, J]]) -> None:
        self._prepare = prepare

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> J: ...
    @overload
    def __call__(self, *args: Any, _at: Instant, **kwargs: Any) -> J: ...
    @overload
    def __call__(self, *args: Any, _delay: Duration, **kwargs: Any) -> J: ...
    @overload
    def __call__(self, *args: Any, _priority: int, **kwargs: Any) -> J: ...
    @overload
    def __call__(self, *args: Any, _queue: str, **kwargs: Any) -> J: ...
    @overload
    def __call__(self, *args: Any, _timeout: Duration, **kwargs: Any) -> J: ...
    @overload
    def __call__(self, *args: Any, _max_attempts: int, **kwargs: Any) -> J: ...
    @overload
    def __call__(self, *args: Any, _retry: RetryPolicy, **kwargs: Any) -> J: ...
    @overload
    def __call__(self, *args: Any, _labels: Mapping[str, str], **kwargs: Any) -> J: ...
    @overload
    def __call__(self, *args: Any, _concurrency_key: str, **kwargs: Any) -> J: ...
    @overload
    def __call__(self, *args: Any, _deadline: Instant, **kwargs: Any) -> J: ...
    @overload
    def __call__(self, *args: Any, _expires: Instant, **kwargs: Any) -> J: ...
    @overload
    def __call__(self, *args: Any, _expires_in: Duration, **kwargs: Any) -> J: ...
    @overload
    def __call__(self, *args: Any, _unique: Unique, **kwargs: Any) -> J: ...
    @overload
    def __call__(self, *args: Any, _idempotency_key: str, **kwargs: Any) -> J: ...
    @overload
    def __call__(self, *args: Any, _tenant: str, **kwargs: Any) -> J: ...
    def __call__(self, *args: Any, **kwargs: Any) -> J:
        options, rest = split(kwargs)
        return self._prepare(options)(*args, **rest)
