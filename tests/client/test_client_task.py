import asyncio
import enum
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import msgspec
import pytest

from horae import (
    App,
    BadParams,
    Cancelled,
    Context,
    Fatal,
    InvalidInput,
    InvalidParams,
    Retry,
    SetupError,
    Unique,
    UniqueWhile,
    Unserialisable,
)


class Runtime:
    def __init__(self) -> None:
        self.asked_to_stop = False
        self.reported: list[Any] = []
        self.stored: list[bytes] = []

    def cancelled(self) -> bool:
        return self.asked_to_stop

    def progress(self, done: float, total: float | None, note: str | None) -> None:
        self.reported.append((done, total, note))

    def checkpoint(self, data: bytes) -> None:
        self.stored.append(data)


def context(runtime: Runtime | None = None, **changes: Any) -> Context:
    facts: dict[str, Any] = {"job_id": "j1", "attempt": 2, "max_attempts": 5, "task": "t"}
    return Context(runtime=runtime or Runtime(), **facts | changes)


class Colour(enum.Enum):
    RED = "red"


@dataclass
class Address:
    street: str
    colour: Colour = Colour.RED


class Unknown:
    pass


app = App()


@app.task(queue="mail", priority=7, max_attempts=3, timeout="1m30s")
def send(to: str, subject: str = "hi", *, ctx: Context, when: datetime | None = None) -> str:
    """Sends a mail.

    At most once.
    """
    return f"{to} {subject} {ctx.attempt} {when and when.year}"


def make(function: Any, **settings: Any) -> Any:
    return App().task(**settings)(function)


def test_the_definition_comes_from_the_decorator_and_the_function():
    definition = send.definition
    assert (definition.name, definition.queue, definition.priority) == ("send", "mail", 7)
    assert (definition.max_attempts, definition.timeout, definition.description) == (3, 90.0, "Sends a mail.")
    assert definition.params_schema == {
        "type": "object",
        "properties": {
            "to": {"type": "string"},
            "subject": {"type": "string"},
            "when": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": ["to"],
        "additionalProperties": False,
    }


def test_nested_types_are_described_inside_the_schema():
    def deliver(to: Address, notes: list[Annotated[str, msgspec.Meta(max_length=9)]]) -> None: ...

    schema = make(deliver).definition.params_schema
    assert schema["properties"]["to"] == {"$ref": "#/$defs/Address"}
    assert set(schema["$defs"]) == {"Address", "Colour"}


def test_a_parameter_without_a_hint_or_of_a_type_that_json_lacks_takes_anything():
    def loose(a, b: Unknown, c: Any = 1): ...

    schema = make(loose).definition.params_schema
    assert schema["properties"] == {"a": {}, "b": {}, "c": {}}
    assert make(loose).invoke(b'{"a": [1], "b": {"x": 2}}', context()) == b"null"


def test_keyword_arguments_of_any_name_stay_open_in_the_schema():
    def tag(name: str, **labels: int) -> dict[str, int]:
        return {name: 0} | labels

    task = make(tag)
    assert task.definition.params_schema["additionalProperties"] == {"type": "integer"}
    assert task.invoke(b'{"name": "a", "b": 1}', context()) == b'{"a":0,"b":1}'
    with pytest.raises(BadParams):
        task.invoke(b'{"name": "a", "b": "x"}', context())


def test_a_task_runs_from_json_to_json_with_its_types_and_its_context():
    assert send.invoke(b'{"to": "j", "when": "2026-01-02T00:00:00Z"}', context()) == b'"j hi 2 2026"'


def test_a_dataclass_is_built_from_its_object():
    def deliver(to: Address) -> str:
        return f"{to.street} {to.colour}"

    assert make(deliver).invoke(b'{"to": {"street": "High"}}', context()) == b'"High Colour.RED"'


def test_a_default_that_was_left_out_is_the_functions_own():
    def collect(items: list[int] = [1, 2]) -> list[int]:  # noqa: B006
        return items

    assert make(collect).invoke(b"{}", context()) == b"[1,2]"


@pytest.mark.parametrize(
    "params", [b'{"to": 3}', b"{}", b'{"to": "a", "cc": "b"}', b"[1]", b"not json", b'{"to":"\xff"}']
)
def test_params_that_do_not_fit_are_fatal(params):
    with pytest.raises(BadParams, match="send"):
        send.invoke(params, context())
    assert issubclass(BadParams, Fatal)


@pytest.mark.parametrize("result", [object(), {"a": {1, object()}}, "\ud800"])
def test_a_result_that_is_not_json_is_fatal(result):
    def give():
        return result

    with pytest.raises(Unserialisable, match="give"):
        make(give).invoke(b"{}", context())
    assert issubclass(Unserialisable, Fatal)


async def test_a_coroutine_function_runs_inside_the_loop():
    loops = []

    async def double(n: int) -> int:
        loops.append(asyncio.get_running_loop())
        return 2 * n

    task = make(double)
    assert task.is_async
    assert await task.invoke_async(b'{"n": 4}', context()) == b"8"
    assert loops == [asyncio.get_running_loop()]
    assert await asyncio.to_thread(task.invoke, b'{"n": 5}', context()) == b"10"


def test_a_direct_call_runs_the_plain_function_and_supplies_a_context():
    assert send("j") == "j hi 1 None"
    assert send("j", "yo", ctx=context()) == "j yo 2 None"


def test_a_direct_call_takes_a_context_by_position():
    def first(ctx: Context, n: int) -> int:
        return n + ctx.attempt

    assert make(first)(context(), 1) == 3
    assert make(first)(1) == 2


def test_two_tasks_of_one_name_are_refused():
    other = App()
    other.task(name="same")(lambda: 1)
    with pytest.raises(SetupError, match=r"two tasks are called 'same'.*@app.task\(name"):
        other.task(name="same")(lambda: 2)


def with_args(*to: str): ...
def with_positional(to: str, /): ...
def with_option(_at: str): ...
def with_generator():
    yield 1


def unresolved(to: "Nowhere"): ...  # noqa: F821


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (with_args, r"\*parameter 'to' has no name"),
        (with_positional, "positional-only parameter 'to' has no name"),
        (with_option, "'_at' is an option of submit"),
        (with_generator, "generator"),
        (unresolved, "Nowhere.*TYPE_CHECKING"),
    ],
)
def test_a_function_that_cannot_be_a_task_is_refused_when_declared(function, message):
    with pytest.raises(SetupError, match=message):
        make(function)


@pytest.mark.parametrize("settings", [{"name": "a b"}, {"priority": 11}, {"max_attempts": 0}, {"timeout": "soon"}])
def test_settings_out_of_range_are_refused_when_declared(settings):
    with pytest.raises(InvalidInput):
        make(lambda: None, **{"name": "fine"} | settings)


def test_arguments_are_bound_like_in_a_call():
    assert send.signature.bind(("a",), {"subject": "b"}) == {"to": "a", "subject": "b"}
    for args, kwargs in [((), {}), (("a", "b", "c"), {}), (("a",), {"to": "b"}), (("a",), {"_prio": 1})]:
        with pytest.raises(InvalidParams, match="send"):
            send.signature.bind(args, kwargs)


def test_a_context_tells_what_is_saved_and_how_long_is_left():
    runtime = Runtime()
    ctx = context(runtime, saved=b'{"street": "High"}', deadline=0.0)
    assert (ctx.saved, ctx.load_checkpoint(Address)) == ({"street": "High"}, Address("High"))
    assert (ctx.remaining, context().remaining, context().saved) == (timedelta(0), None, None)
    ctx.progress(1, 3, "one")
    ctx.checkpoint({"at": datetime(2026, 1, 1, tzinfo=UTC)})
    assert (runtime.reported, runtime.stored) == ([(1, 3, "one")], [b'{"at":"2026-01-01T00:00:00Z"}'])
    assert (ctx.saved, ctx.idempotency_key, ctx.log.name) == ({"at": "2026-01-01T00:00:00Z"}, "j1", "t")
    with pytest.raises(Unserialisable):
        ctx.checkpoint(object())


async def test_a_coroutine_saves_a_checkpoint_without_holding_up_the_loop():
    runtime = Runtime()
    await context(runtime).acheckpoint([1])
    assert runtime.stored == [b"[1]"]


def test_a_cancelled_job_is_stopped_where_it_asks():
    runtime = Runtime()
    ctx = context(runtime)
    ctx.raise_if_cancelled()
    runtime.asked_to_stop = True
    with pytest.raises(Cancelled):
        ctx.raise_if_cancelled()
    assert not issubclass(Cancelled, Exception)


def test_retry_reads_its_wait():
    assert [Retry(after=a).after_seconds for a in (None, 3, "1m", timedelta(hours=1))] == [None, 3.0, 60.0, 3600.0]
    with pytest.raises(InvalidInput, match="after"):
        Retry(after="soon")


def test_a_task_can_be_unique_and_its_jobs_expire() -> None:
    app = App()

    @app.task(unique=Unique(by=["customer"], period="1h"), expires_in="10m")
    def sync(customer: int) -> None: ...

    assert sync.definition.unique == Unique(by=["customer"], period="1h")
    assert sync.definition.expires_in == 600.0


def test_a_task_with_terms_that_make_no_sense_is_refused() -> None:
    with pytest.raises(InvalidInput, match="exclude"):

        @App().task(unique=Unique(period="1h", during=UniqueWhile.RUNNING))
        def sync(customer: int) -> None: ...
