"""Attempts that end by a callback: in any order of worker and service, and whoever dies in between."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.engine.callbacks import Accepted
from horae.engine.engine import Engine
from horae.engine.fleet import Joining
from horae.engine.limits import LimitSpec
from horae.engine.rows import state_of
from horae.engine.sessions import Session
from horae.model.callbacks import SERVER, CallbackProgress, CallbackReport, CallbackState, answer_of
from horae.model.errors import InvalidInput, NotFound, Overloaded, WrongState
from horae.model.explanation import Code
from horae.model.kinds import HttpCall, Sink
from horae.model.retry import RetryPolicy
from horae.model.states import End, State
from horae.model.task import TaskDefinition
from horae.model.work import Finished, Grant, JobError, Usage

from .staging import ROOT, done, duty, engine_config, resting_engine, submit, take_one

SUCCESS = CallbackReport(state=CallbackState.SUCCEEDED, result=msgspec.Raw(b'{"n":1}'))
FAILURE = CallbackReport(state=CallbackState.FAILED, error="no room", retry=False)


class Called(NamedTuple):
    """A job whose worker has made its call."""

    worker: Session
    grant: Grant
    token: str

    @property
    def parked(self) -> Finished:
        return done(self.grant, End.PARKED, error=None)


async def called(engine: Engine, *, sink: Sink | None = None, **request: Any) -> Called:
    call = HttpCall(url="https://example.com", callback=True, callback_timeout="1h")
    await engine.tasks.register(0, TaskDefinition(name="call", http=call, sink=sink))
    joining = Joining(name="w", host="h", slots=10, tasks=[], kinds=["http"])
    worker = await engine.fleet.session(ROOT, await engine.fleet.join(ROOT, joining))
    await submit(engine, "call", **request)
    grant = await take_one(engine, worker)
    brief = await engine.briefs.give(worker.worker_id, grant.lane, grant.id, grant.attempt)
    assert brief.callback is not None
    return Called(worker, grant, brief.callback.url.rpartition("/")[2])


async def parked(engine: Engine, **more: Any) -> Called:
    made = await called(engine, **more)
    assert await engine.complete.attempts(made.worker.worker_id, [made.parked]) == []
    return made


async def state(engine: Engine, made: Called) -> State:
    return state_of(await engine.steer.get(ROOT, UUID(made.grant.id)))


async def holder(conn: Any, made: Called) -> int | None:
    return await conn.fetchval("select worker_id from lease where id = $1", UUID(made.grant.id))


# The usual way.


async def test_a_parked_attempt_runs_on_without_its_worker(resting: Engine, conn):
    made = await parked(resting)
    assert await holder(conn, made) == SERVER
    await resting.fleet.leave(ROOT, made.worker.worker_id)
    await duty(resting, "reclaim").run_once()
    assert await state(resting, made) is State.RUNNING


async def test_a_callback_ends_the_attempt_with_its_result(resting: Engine, conn):
    made = await parked(resting)
    accepted = await resting.callbacks.report(made.token, SUCCESS)
    assert accepted == Accepted(made.grant.id, 1, End.SUCCEEDED)
    row = await conn.fetchrow("select state::text, result, worker_id from outcome")
    assert tuple(row) == ("succeeded", '{"n":1}', SERVER)


async def test_a_large_result_goes_to_object_storage(resting: Engine):
    made = await parked(resting)
    large = msgspec.Raw(b'"' + b"x" * 100_000 + b'"')
    await resting.callbacks.report(made.token, CallbackReport(state=CallbackState.SUCCEEDED, result=large))
    ended = await resting.output.result(1, UUID(made.grant.id), 0)
    assert ended.result == '"' + "x" * 100_000 + '"'


async def test_a_sink_is_written_before_the_attempt_ends_and_a_refusal_of_it_fails_the_job(resting: Engine):
    for result, end, files in ((b'[{"n": 1}]', State.SUCCEEDED, 1), (b'"no table"', State.FAILED, 1)):
        made = await parked(resting, sink=Sink(parquet="calls"))
        report = CallbackReport(state=CallbackState.SUCCEEDED, result=msgspec.Raw(result))
        await resting.callbacks.report(made.token, report)
        assert await state(resting, made) is end
        assert len(list(Path(resting.config.objects).rglob("*.parquet"))) == files


async def test_a_failure_is_tried_again_after_the_time_it_asks_for(resting: Engine, conn):
    made = await parked(resting, retry=RetryPolicy(first=1, jitter=False))
    failure = CallbackReport(state=CallbackState.FAILED, error=JobError("Busy", "later"), retry_after="500s")
    await resting.callbacks.report(made.token, failure)
    assert await state(resting, made) is State.SCHEDULED
    assert 400 < await conn.fetchval("select extract(epoch from run_at - clock_timestamp())::float from timer") <= 500
    assert "Busy" in await conn.fetchval("select error from attempt")


async def test_a_failure_that_is_final_fails_the_job_at_once(resting: Engine):
    made = await parked(resting, max_attempts=5)
    await resting.callbacks.report(made.token, FAILURE)
    assert await state(resting, made) is State.FAILED


async def test_progress_is_told_as_often_as_one_likes_and_ends_nothing(resting: Engine):
    made = await parked(resting)
    for number in (1, 2):
        progress = CallbackProgress(done=number, total=3, note="so far \x00")
        accepted = await resting.callbacks.report(made.token, CallbackReport(progress=progress))
        assert accepted == Accepted(made.grant.id, 1, None)
    row = await resting.steer.get(ROOT, UUID(made.grant.id))
    assert (row["done"], row["total"], row["note"], state_of(row)) == (2, 3, "so far ", State.RUNNING)


async def test_a_parked_job_keeps_its_place_in_a_limit_and_frees_it_with_the_callback(resting: Engine):
    await resting.limits.put(ROOT, None, LimitSpec(name="one", task="call", max_running=1))
    made = await parked(resting)
    await submit(resting, "call")
    assert await resting.dispatch.take(made.worker, 2, 1) == []
    await resting.callbacks.report(made.token, SUCCESS)
    assert len(await resting.dispatch.take(made.worker, 3, 1)) == 1


# The callback comes first.


async def test_a_callback_that_is_quicker_than_the_worker_counts(resting: Engine, conn):
    made = await called(resting)
    await resting.callbacks.report(made.token, SUCCESS)
    assert await state(resting, made) is State.SUCCEEDED
    assert await resting.complete.attempts(made.worker.worker_id, [made.parked]) == [], "no news, and nothing stale"
    assert await conn.fetchval("select worker_id from outcome") == made.worker.worker_id


async def test_the_late_word_of_a_worker_does_not_touch_the_next_attempt(resting: Engine, conn):
    made = await called(resting, retry=RetryPolicy(first=0))
    await resting.callbacks.report(made.token, CallbackReport(state=CallbackState.FAILED))
    again = await take_one(resting, made.worker, 2)
    assert again.attempt == 2
    assert await resting.complete.attempts(made.worker.worker_id, [made.parked]) == []
    assert tuple(await conn.fetchrow("select worker_id, attempt from lease")) == (made.worker.worker_id, 2)
    with pytest.raises(NotFound):
        await resting.callbacks.report(made.token, CallbackReport(progress=CallbackProgress(done=1)))


async def test_callbacks_and_parking_at_the_same_time_lose_nothing(engine: Engine):
    """Whichever goes first: the attempt ends once, by the callback."""
    for _ in range(10):
        made = await called(engine)
        await asyncio.gather(
            engine.complete.attempts(made.worker.worker_id, [made.parked]), engine.callbacks.report(made.token, SUCCESS)
        )
        assert await state(engine, made) is State.SUCCEEDED


# Said twice.


async def test_the_same_said_again_is_answered_the_same(resting: Engine):
    made = await parked(resting)
    first = await resting.callbacks.report(made.token, SUCCESS)
    spaced = CallbackReport(state=CallbackState.SUCCEEDED, result=msgspec.Raw(b'{ "n": 1 }'))
    assert await resting.callbacks.report(made.token, spaced) == first


async def test_something_else_said_afterwards_is_refused(resting: Engine):
    made = await parked(resting)
    await resting.callbacks.report(made.token, SUCCESS)
    with pytest.raises(WrongState, match="before"):
        await resting.callbacks.report(made.token, FAILURE)
    assert await state(resting, made) is State.SUCCEEDED


async def test_of_two_different_ends_at_the_same_time_one_counts(engine: Engine):
    made = await parked(engine)
    both = await asyncio.gather(
        engine.callbacks.report(made.token, SUCCESS), engine.callbacks.report(made.token, FAILURE),
        return_exceptions=True,
    )  # fmt: skip
    accepted = [one for one in both if isinstance(one, Accepted)]
    assert len(accepted) == 1
    assert [type(one) for one in both if one not in accepted] == [WrongState]
    expected = State.SUCCEEDED if accepted[0].end is End.SUCCEEDED else State.FAILED
    assert await state(engine, made) is expected


async def test_a_park_said_again_after_a_lost_answer_is_no_news(resting: Engine, conn):
    made = await parked(resting)
    assert await resting.complete.attempts(made.worker.worker_id, [made.parked]) == []
    assert await holder(conn, made) == SERVER


# Who may say so.


async def test_an_unknown_token_is_told_nothing_and_many_are_slowed_down(resting: Engine, monkeypatch):
    monkeypatch.setattr("horae.engine.strangers.MISSES_AT_ONCE", 5.0)
    monkeypatch.setattr("horae.engine.strangers.MISSES_A_SECOND", 0.001)
    for _ in range(5):
        with pytest.raises(NotFound):
            await resting.callbacks.report("x" * 43, SUCCESS, "192.0.2.1")
    with pytest.raises(Overloaded):
        await resting.callbacks.report("x" * 43, SUCCESS, "192.0.2.1")
    made = await parked(resting)
    await resting.callbacks.report(made.token, SUCCESS, "192.0.2.2")


async def test_a_stranger_behind_the_same_proxy_shuts_nobody_out(resting: Engine):
    made = await parked(resting)
    for _ in range(300):
        with pytest.raises(NotFound):
            await resting.callbacks.report("x" * 43, SUCCESS, "192.0.2.1")
    await resting.callbacks.report(made.token, SUCCESS, "192.0.2.1")


async def test_the_token_itself_is_not_stored(resting: Engine, conn):
    made = await parked(resting)
    stored = str(await conn.fetch("select * from callback")) + str(await conn.fetch("select * from job"))
    assert made.token not in stored
    assert made.token.encode().hex() not in stored


async def test_a_token_of_an_attempt_that_is_over_ends_nothing(resting: Engine):
    made = await called(resting, retry=RetryPolicy(first=0))
    await resting.complete.attempts(made.worker.worker_id, [done(made.grant, End.ERROR)])
    await take_one(resting, made.worker, 2)
    with pytest.raises(NotFound):
        await resting.callbacks.report(made.token, SUCCESS)
    assert await state(resting, made) is State.RUNNING


async def test_a_job_that_nobody_can_call_back_for_cannot_be_parked(resting: Engine, conn):
    """A worker that parks what has no callback, by mistake or malice, must not leave a job that never ends."""
    made = await called(resting, retry=RetryPolicy(first=60, jitter=False))
    await conn.execute("delete from callback")
    assert await resting.complete.attempts(made.worker.worker_id, [made.parked]) == []
    assert await state(resting, made) is State.SCHEDULED


async def test_a_park_of_what_the_worker_does_not_hold_is_stale(resting: Engine):
    made = await called(resting)
    assert await resting.complete.attempts(made.worker.worker_id + 1, [made.parked]) == [(made.grant.id, 1)]
    assert await state(resting, made) is State.RUNNING


# Time.


async def test_a_parked_attempt_whose_time_is_over_ends_as_a_timeout(resting: Engine, conn):
    made = await parked(resting, retry=RetryPolicy(first=60, jitter=False))
    await conn.execute("update callback set due_at = clock_timestamp()")
    assert (await duty(resting, "callbacks").run_once())["overdue"] == 1
    assert await state(resting, made) is State.SCHEDULED
    assert await conn.fetchval("select ending::text from attempt") == "timeout"
    with pytest.raises(NotFound):
        await resting.callbacks.report(made.token, SUCCESS)


async def test_an_answer_and_the_end_of_the_time_at_once_agree_on_one(engine: Engine, conn):
    """Either the answer is accepted and counts, or it is told that it came too late."""
    made = await parked(engine, max_attempts=1)
    await conn.execute("update callback set due_at = clock_timestamp()")
    answer, _ = await asyncio.gather(
        engine.callbacks.report(made.token, SUCCESS), duty(engine, "callbacks").run_once(), return_exceptions=True
    )
    accepted = isinstance(answer, Accepted)
    assert accepted or isinstance(answer, NotFound)
    assert await state(engine, made) is (State.SUCCEEDED if accepted else State.FAILED)


async def test_a_call_that_still_runs_is_left_to_its_own_timeout(resting: Engine, conn):
    made = await called(resting)
    await conn.execute("update callback set due_at = clock_timestamp()")
    assert not any((await duty(resting, "callbacks").run_once()).values())
    assert await holder(conn, made) == made.worker.worker_id
    assert await conn.fetchval("select due_at > clock_timestamp() from callback")


async def test_callbacks_that_are_settled_are_forgotten_after_a_while(resting: Engine, conn):
    made = await parked(resting)
    await resting.callbacks.report(made.token, SUCCESS)
    await resting.callbacks.forget(3600)
    assert await conn.fetchval("select count(*) from callback where answer is null") == 1
    await conn.execute("update callback set settled_at = settled_at - interval '2 hours'")
    await resting.callbacks.forget(3600)
    assert await conn.fetchval("select count(*) from callback") == 0


# Cancelling.


async def test_cancelling_a_parked_job_ends_it_at_once(resting: Engine, conn):
    made = await parked(resting)
    assert await resting.steer.cancel(ROOT, UUID(made.grant.id), "not needed") is State.CANCELLED
    assert "not needed" in await conn.fetchval("select error from outcome")
    with pytest.raises(NotFound):
        await resting.callbacks.report(made.token, SUCCESS)


async def test_a_cancel_that_the_worker_had_not_heard_of_goes_along_when_it_parks(resting: Engine):
    made = await called(resting)
    assert await resting.steer.cancel(ROOT, UUID(made.grant.id), "too late") is State.RUNNING
    await resting.complete.attempts(made.worker.worker_id, [made.parked])
    assert (await duty(resting, "callbacks").run_once())["cancelled"] == 1
    assert await state(resting, made) is State.CANCELLED


async def test_cancels_and_parking_at_the_same_time_lose_no_cancel(engine: Engine):
    for _ in range(10):
        made = await called(engine)
        await asyncio.gather(
            engine.complete.attempts(made.worker.worker_id, [made.parked]),
            engine.steer.cancel(ROOT, UUID(made.grant.id), ""),
        )
        await duty(engine, "callbacks").run_once()
        assert await state(engine, made) is State.CANCELLED


async def test_a_parked_job_cannot_be_moved(resting: Engine):
    made = await parked(resting)
    with pytest.raises(WrongState, match="callback"):
        await resting.relocate.move(ROOT, UUID(made.grant.id), "", force=True)


# Whoever dies.


async def test_an_answer_that_a_server_left_lying_is_carried_out_by_any_other(resting: Engine, database, tmp_path):
    """The server dies after it wrote the answer down and before it carried it out."""
    made = await parked(resting)

    async def die(hashed: bytes) -> None:
        raise ConnectionResetError

    resting.callbacks._carry_out = die
    with pytest.raises(ConnectionResetError):
        await resting.callbacks.report(made.token, SUCCESS)
    async with resting_engine(engine_config(database, tmp_path)) as other:
        assert (await duty(other, "callbacks").run_once())["answered"] == 1
        assert await state(other, made) is State.SUCCEEDED
        assert (await other.callbacks.report(made.token, SUCCESS)).end is End.SUCCEEDED


async def test_a_worker_that_dies_before_it_parks_costs_neither_the_callback_nor_the_job(resting: Engine, conn):
    made = await called(resting)
    await conn.execute("update worker set expires_at = clock_timestamp() - interval '1 second'")
    await resting.callbacks.report(made.token, SUCCESS)
    await duty(resting, "reclaim").run_once()
    assert await state(resting, made) is State.SUCCEEDED


async def test_a_worker_that_was_given_up_before_the_callback_lets_the_job_run_again(resting: Engine, conn):
    made = await called(resting)
    await conn.execute("update worker set expires_at = clock_timestamp() - interval '1 second'")
    await duty(resting, "reclaim").run_once()
    with pytest.raises(NotFound):
        await resting.callbacks.report(made.token, SUCCESS)
    assert await state(resting, made) is State.READY


async def test_an_answer_that_cannot_be_carried_out_does_not_hold_up_the_others(resting: Engine, conn):
    bad, good = await parked(resting), await parked(resting)
    for made in (bad, good):
        await conn.execute(
            "update callback set due_at = clock_timestamp(), digest = '', answer = $2 where id = $1",
            UUID(made.grant.id),
            '{"end":"succeeded","result":"' + "x" * (40_000 if made is bad else 1) + '"}',
        )

    async def full(*_: object) -> None:
        raise Overloaded("object storage is full")

    resting.output.save_result = full
    await duty(resting, "callbacks").run_once()
    assert await state(resting, good) is State.SUCCEEDED
    assert await state(resting, bad) is State.RUNNING


# What is told of it.


async def test_it_is_explained_what_a_parked_job_waits_for(resting: Engine):
    made = await parked(resting)
    told = await resting.explain.of(ROOT, UUID(made.grant.id))
    assert [reason.code for reason in told.reasons] == [Code.AWAITING_CALLBACK]
    assert told.reasons[0].until is not None
    assert told.running.worker_id == SERVER


async def test_what_the_worker_told_of_the_call_is_kept(resting: Engine):
    made = await called(resting)
    end = msgspec.structs.replace(made.parked, waited=0.5, usage=Usage(isolation="guarded", version=3))
    await resting.complete.attempts(made.worker.worker_id, [end])
    await resting.callbacks.report(made.token, SUCCESS)
    (run,) = await resting.steer.executions(await resting.steer.get(ROOT, UUID(made.grant.id)))
    assert (run["isolation"], run["task_version"], run["ending"]) == ("guarded", 3, "succeeded")


async def test_the_address_is_below_the_public_url(resting: Engine, database, tmp_path):
    config = msgspec.structs.replace(engine_config(database, tmp_path), public_url="https://horae.example.com/x/")
    async with resting_engine(config) as engine:
        url = await engine.callbacks.open(1, 1, str(UUID(int=1)), 1, timedelta(hours=1))
    assert url.startswith("https://horae.example.com/x/v1/callbacks/")


# The report itself.


@pytest.mark.parametrize(
    "report",
    [
        CallbackReport(state=CallbackState.SUCCEEDED, error="x"),
        CallbackReport(state=CallbackState.SUCCEEDED, retry_after=1),
        CallbackReport(state=CallbackState.FAILED, result=msgspec.Raw(b"1")),
        CallbackReport(state=CallbackState.FAILED, retry_after="soon"),
        CallbackReport(state=CallbackState.FAILED, progress=CallbackProgress(done=1)),
        CallbackReport(),
    ],
)
def test_a_report_that_says_two_things_or_none_is_refused(report):
    with pytest.raises(InvalidInput):
        answer_of(report)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json_values, json_values)
def test_answers_are_the_same_exactly_when_they_say_the_same(one, two):
    def digest(value: Any) -> bytes:
        raw = msgspec.Raw(msgspec.json.encode(value))
        return answer_of(CallbackReport(state=CallbackState.SUCCEEDED, result=raw)).digest

    def said(value: Any) -> bytes:
        return msgspec.json.encode(value, order="deterministic")

    assert (digest(one) == digest(two)) is (said(one) == said(two))


async def test_an_answer_that_cannot_be_carried_out_keeps_no_other_from_its_end(resting: Engine, conn):
    broken, other = await parked(resting), await parked(resting)
    await conn.execute(
        "update callback set digest = '', answer = '{}', due_at = clock_timestamp() - interval '2s' where id = $1",
        UUID(broken.grant.id),
    )
    await conn.execute(
        "update callback set due_at = clock_timestamp() - interval '1s' where id = $1", UUID(other.grant.id)
    )
    assert (await duty(resting, "callbacks").run_once())["overdue"] == 1
    assert await state(resting, broken) is State.RUNNING
