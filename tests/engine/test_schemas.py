"""Params are checked against any schema in bounded time, and nobody waits for it but whoever asked."""

import asyncio
import contextlib
import time
from typing import Any
from uuid import UUID

import msgspec
import pytest

from horae.engine.examination import Question, answer
from horae.engine.examiner import MOST_WAITING, Examiner
from horae.engine.schemas import QUICK, Schemas, known_schema
from horae.engine.taskvalidation import validate
from horae.model.errors import InvalidInput, InvalidParams, Overloaded
from horae.model.task import TaskDefinition

from .staging import ROOT, submit

LOOK_AHEAD = {"properties": {"word": {"type": "string", "pattern": r"^(?=.*\d)\w+$"}}}
TREE = {"$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}, "n": {"type": "integer"}}}},
        "$ref": "#/$defs/node"}  # fmt: skip

LINEAR, PATIENCE = 4.0, 30.0
"""Seconds in which the slowest machine has done what is bounded, of a processor and with others. What is not bounded
takes longer than anybody waits."""


def chain(length: int) -> dict[str, Any]:
    """Each definition refers twice to the one before."""
    definitions: dict[str, Any] = {"d0": {"type": "object"}}
    for number in range(1, length):
        definitions[f"d{number}"] = {"allOf": [{"$ref": f"#/$defs/d{number - 1}"}] * 2}
    return {"$ref": f"#/$defs/d{length - 1}", "$defs": definitions}


@pytest.fixture
async def examiner():
    """It has time enough for what is bounded."""
    examiner = Examiner(PATIENCE)
    yield examiner
    await examiner.close()


@pytest.fixture
async def hurried():
    """It has little time, so that what is not bounded is soon refused."""
    examiner = Examiner(seconds=0.5)
    yield examiner
    await examiner.close()


@pytest.fixture
def patient(engine):
    """An engine whose examiner has time enough for what is bounded."""
    engine._examiner._seconds = PATIENCE
    return engine


def task(schema: dict[str, Any], name: str = "work") -> TaskDefinition:
    return TaskDefinition(name=name, params_schema=schema)


async def faults(examiner: Examiner, schema: dict[str, Any], params: dict[str, Any]) -> list[str]:
    known = known_schema(task(schema))
    found = await Schemas(examiner).faults(1, known, params, len(msgspec.json.encode(params)))
    return [fault["pointer"] for fault in found]


async def longest_pause(work: Any) -> float:
    """How long the loop stood still while the work was done: by its thread's own clock, which no load can stretch."""
    pauses = [0.0]

    async def tick() -> None:
        while True:
            began = time.thread_time()
            await asyncio.sleep(0.001)
            pauses.append(time.thread_time() - began)

    ticking = asyncio.create_task(tick())
    try:
        await asyncio.gather(work, return_exceptions=True)
    finally:
        ticking.cancel()
    return max(pauses)


async def test_a_schema_that_explodes_is_refused_at_submit_though_it_was_saved_before(engine, conn):
    """As it may stand in the database since before there was a bound."""
    await engine.tasks.register(1, task({"type": "object"}))
    text = msgspec.json.encode(chain(40)).decode()
    await conn.execute("update task set params_schema = $1 where name = 'work'", text)
    engine.tasks.forget()
    refusal: list[BaseException] = []

    async def ask() -> None:
        with pytest.raises(InvalidParams, match="cannot be checked against the schema of the task within 1 s") as error:
            await submit(engine)
        refusal.append(error.value)

    assert await longest_pause(ask()) < LINEAR
    assert refusal


async def test_a_schema_that_explodes_holds_up_no_validation(engine):
    assert await longest_pause(validate(engine.schemas, 1, task(chain(40)), {"a": 1})) < LINEAR


@pytest.mark.parametrize(
    ("schema", "params"),
    [(chain(40), {}), ({"properties": {"x": {"items": {"allOf": [{"minLength": 1}] * 3000}}}}, {"x": ["y"] * 200_000})],
    ids=["references", "a long list"],
)
async def test_what_takes_longer_than_it_may_is_refused(hurried, schema, params):
    began = time.monotonic()
    with pytest.raises(InvalidParams, match="send less, or make the schema simpler"):
        await faults(hurried, schema, params)
    assert time.monotonic() - began < PATIENCE
    hurried._seconds = PATIENCE
    assert await faults(hurried, LOOK_AHEAD, {"word": "a1"}) == []


async def test_an_expression_that_goes_back_and_forth_has_an_end(hurried):
    schema = {"properties": {"x": {"pattern": r"^(?:(?=(a+))\1?)+(?!a)b$"}}}
    began = time.monotonic()
    with contextlib.suppress(InvalidParams):
        assert await faults(hurried, schema, {"x": "a" * 400_000}) == ["/params/x"]
    assert time.monotonic() - began < PATIENCE


@pytest.mark.parametrize(
    "pattern", [r"^(a+)+$", r"^(a|aa)+$", r"(.*a){12}", r"^(\w+\s?)*$", r"^.{1,255}$", r"[ab]*a[ab]{800}c"]
)
async def test_no_expression_of_a_light_schema_goes_back_and_forth(pattern):
    known = known_schema(task({"properties": {"x": {"pattern": pattern}}}))
    assert known.weight is not None
    size = min(15_000, QUICK // known.weight)
    began = time.process_time()
    known.passes({"x": "a" * size + "!"}, size)
    assert time.process_time() - began < LINEAR


async def test_thousands_of_faults_are_listed_elsewhere(examiner):
    params = {"x": ["y"] * 50_000}
    schema = {"properties": {"x": {"items": {"type": "integer"}}}}
    assert known_schema(task(schema)).weight is not None
    question = Question(1, msgspec.json.encode(schema).decode(), msgspec.json.encode(params).decode())
    began = time.thread_time()
    answer(question)
    here = time.thread_time() - began
    pause = await longest_pause(faults(examiner, schema, params))
    assert pause < here / 2


@pytest.mark.parametrize(
    ("schema", "good", "bad", "pointer"),
    [
        (LOOK_AHEAD, {"word": "a1"}, {"word": "a"}, "/params/word"),
        (TREE, {"next": {"next": {"n": 1}}}, {"next": {"next": {"n": "x"}}}, "/params/next/next/n"),
        ({"properties": {"a": {}}, "unevaluatedProperties": False}, {"a": 1}, {"b": 1}, "/params"),
    ],
    ids=["look-ahead", "recursion", "unevaluated"],
)
async def test_what_cannot_be_weighed_is_checked_all_the_same(examiner, schema, good, bad, pointer):
    await Schemas(examiner).check_schema(1, task(schema))
    assert await faults(examiner, schema, good) == []
    assert await faults(examiner, schema, bad) == [pointer]


async def test_what_is_no_schema_is_refused_when_it_is_saved(examiner):
    for schema in ({"type": 7}, {"$ref": "https://example.com/x"}, {"pattern": "("}, {"$ref": "#/none"}):
        with pytest.raises(InvalidInput, match="not a JSON Schema"):
            await Schemas(examiner).check_schema(1, task(schema))


async def test_a_saved_schema_that_cannot_be_read_is_said_at_submit(patient, conn):
    await patient.tasks.register(1, task({"type": "object"}))
    await conn.execute("update task set params_schema = '{\"type\": 7}' where name = 'work'")
    patient.tasks.forget()
    with pytest.raises(InvalidParams, match="not a JSON Schema"):
        await submit(patient)


async def test_one_tenants_questions_take_turns_and_too_many_are_refused(hurried):
    asked = [asyncio.create_task(faults(hurried, chain(40), {})) for _ in range(MOST_WAITING + 1)]
    with pytest.raises(Overloaded):
        await asked[-1]
    hurried._seconds = PATIENCE  # for the other tenant: the others have been told theirs
    other = known_schema(task(LOOK_AHEAD))
    assert await Schemas(hurried).faults(2, other, {"word": "a1"}, 15) == []
    assert sum(one.done() for one in asked) <= 12
    for one in asked:
        one.cancel()
    await asyncio.gather(*asked, return_exceptions=True)


async def test_an_examiner_that_was_killed_is_replaced(examiner):
    assert await faults(examiner, LOOK_AHEAD, {"word": "a1"}) == []
    (process,) = examiner._idle
    process.kill()
    await process.wait()
    with pytest.raises(InvalidParams):
        await faults(examiner, LOOK_AHEAD, {"word": "a1"})
    assert await faults(examiner, LOOK_AHEAD, {"word": "a1"}) == []


async def test_a_large_input_for_a_small_schema_is_checked_at_once():
    known = known_schema(task({"properties": {"x": {"items": {"type": "string"}}}}))
    params = {"x": ["y" * 10] * 80_000}
    assert known.weight is not None
    assert known.weight * 1024 * 1024 < QUICK
    assert known.passes(params, 1024 * 1024)


def test_the_program_answers_what_it_is_asked():
    schema = '{"required": ["a"]}'
    assert answer(Question(1, schema)).wrong is None
    assert answer(Question(1, schema, '{"a": 1}')).faults == []
    assert [fault["pointer"] for fault in answer(Question(1, schema, "{}")).faults] == ["/params"]


async def test_a_changed_job_is_checked_too(patient):
    await patient.tasks.register(1, task(LOOK_AHEAD))
    job = await submit(patient, params={"word": "a1"}, delay="1h")
    row = await patient.steer.get(ROOT, UUID(job))
    with pytest.raises(InvalidParams):
        await patient.steer.changed(row, {"params": {"word": "a"}})
