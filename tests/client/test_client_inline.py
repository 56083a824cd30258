import asyncio
import logging
import sys
from datetime import UTC, datetime, timedelta

import pytest

from horae import App, Cancelled, Client, Context, Fatal, InvalidParams, JobFailed, NotFound, Retry, State, WrongState
from horae.client import preset
from horae.testing.inline import inline

app = App()
tries: list[int] = []


@app.task(max_attempts=3)
def flaky(good_at: int, ctx: Context) -> int:
    tries.append(ctx.attempt)
    if ctx.attempt < good_at:
        raise Retry("not yet", after="1h")
    return ctx.attempt


@app.task
def refuse() -> None:
    tries.append(1)
    raise Fatal("never")


@app.task
def double(when: datetime, by: timedelta = timedelta(days=1)) -> datetime:
    return when + by


@app.task
async def loop_of() -> int:
    await asyncio.sleep(0)
    return id(asyncio.get_running_loop())


@app.task
def talk(ctx: Context) -> None:
    print("to stdout")
    print("to stderr", file=sys.stderr)
    ctx.log.info("to the log")


@app.task(max_attempts=2)
def resume(ctx: Context) -> str:
    if ctx.saved is None:
        ctx.checkpoint({"page": 3})
        raise ValueError("crash")
    return f"from page {ctx.saved['page']}"


@app.task
def outer() -> datetime:
    return double.submit(datetime(2026, 1, 1, tzinfo=UTC)).result()


@app.task
def stop(ctx: Context) -> None:
    app.client.cancel(ctx.job_id)
    ctx.raise_if_cancelled()


@app.task
def give_object() -> object:
    return object()


@pytest.fixture(autouse=True)
def forget() -> None:
    tries.clear()


def test_a_job_runs_at_once_with_the_round_trip_through_json():
    with inline(app) as run:
        job = double.submit(datetime(2026, 1, 1, tzinfo=UTC), by=timedelta(hours=1))
        assert job.status() is State.SUCCEEDED
        assert job.result() == datetime(2026, 1, 1, 1, tzinfo=UTC)
    assert [job.task.name for job in run.jobs] == ["double"]


def test_params_and_results_that_are_not_json_fail_as_in_production():
    with inline(app):
        with pytest.raises(InvalidParams):
            double.submit("not an instant")
        with pytest.raises(JobFailed, match="Unserialisable"):
            give_object.submit().result()


def test_failures_are_retried_without_waiting_until_one_attempt_succeeds():
    with inline(app):
        assert flaky.submit(2).result() == 2
    assert tries == [1, 2]


def test_when_the_attempts_are_used_up_the_job_has_failed():
    with inline(app):
        job = flaky.submit(9)
        with pytest.raises(JobFailed, match="Retry: not yet") as caught:
            job.result()
        assert (tries, caught.value.extra["state"]) == ([1, 2, 3], State.FAILED)
        assert flaky.submit(9, _max_attempts=1).get().attempt == 1


def test_fatal_is_not_retried():
    with inline(app):
        assert refuse.submit().wait() is State.FAILED
    assert tries == [1]


def test_a_later_job_runs_only_when_its_time_has_come():
    with inline(app) as run:
        soon = flaky.submit(1, _delay="10m")
        late = flaky.submit(1, _at=run.now + timedelta(days=2))
        assert soon.status() is State.SCHEDULED
        with pytest.raises(WrongState, match=r"run.until\(…\) or run.drain"):
            soon.result()
        run.until(run.now + timedelta(hours=1))
        assert (soon.status(), late.status()) == (State.SUCCEEDED, State.SCHEDULED)
        run.drain()
        assert late.status() is State.SUCCEEDED
        assert run.now == late.get().run_at


def test_later_jobs_run_in_the_order_of_their_time():
    with inline(app) as run:
        for hours in (3, 1, 2):
            double.submit(datetime(2026, 1, hours, tzinfo=UTC), _delay=hours * 3600)
        seen = []
        for _ in range(3):
            run.until(run.now + timedelta(hours=1))
            seen.append(sum(job.state is State.SUCCEEDED for job in run.jobs))
        assert seen == [1, 2, 3]


async def test_an_async_task_runs_in_the_loop_of_the_test():
    with inline(app):
        job = await loop_of.asubmit()
        assert await job.result() == id(asyncio.get_running_loop())
        assert [await j.wait() for j in await loop_of.asubmit_many([()] * 2)] == [State.SUCCEEDED] * 2


async def test_an_async_task_can_be_submitted_by_sync_code_with_or_without_a_loop():
    with inline(app):
        assert loop_of.submit().result() != id(asyncio.get_running_loop())
    await asyncio.to_thread(_submit_without_a_loop)


def _submit_without_a_loop() -> None:
    with inline(app):
        assert loop_of.submit().wait() is State.SUCCEEDED


def test_many_are_submitted_with_their_refusals():
    with inline(app) as run:
        with pytest.raises(InvalidParams, match=r"1 of 2 jobs were refused.*item 1"):
            flaky.submit_many([(1,), {"good_at": "x"}])
        assert [job.state for job in run.jobs] == [State.SUCCEEDED]


async def test_many_in_several_calls_at_once_come_back_in_order(monkeypatch):
    monkeypatch.setattr(preset, "CHUNK", 2)
    with inline(app):
        jobs = await flaky.asubmit_many([(n,) for n in range(1, 8)])
        assert [(await job.get()).params for job in jobs] == [{"good_at": n} for n in range(1, 8)]
        with pytest.raises(InvalidParams) as caught:
            await flaky.asubmit_many([("x",) if n % 3 == 0 else (n,) for n in range(1, 8)])
        assert [item["index"] for item in caught.value.extra["refused"]] == [2, 5]
        assert len(caught.value.extra["accepted"]) == 5


def test_output_and_logs_belong_to_the_job_and_still_reach_the_test(capsys):
    with inline(app):
        job = talk.submit()
        assert [(line.stream, line.text) for line in job.logs()] == [
            ("stdout", "to stdout\n"),
            ("stderr", "to stderr\n"),
            ("stderr", "to the log\n"),
        ]
        assert list(job.logs(follow=True)) == list(job.logs())
    assert "to stdout" in capsys.readouterr().out
    assert logging.getLogger("talk").handlers == []


def test_a_checkpoint_is_there_in_the_next_attempt():
    with inline(app):
        assert resume.submit().result() == "from page 3"


def test_a_job_may_submit_others_and_use_their_results():
    with inline(app):
        assert outer.submit().result() == datetime(2026, 1, 2, tzinfo=UTC)


def test_a_pending_job_can_be_cancelled_and_retried():
    with inline(app):
        job = flaky.submit(1, _delay=60)
        assert job.cancel().state is State.CANCELLED
        with pytest.raises(JobFailed, match="cancelled"):
            job.result()
        with pytest.raises(WrongState):
            job.cancel()
        job.retry()
        assert job.status() is State.SUCCEEDED


def test_a_failed_job_can_be_retried_with_other_params():
    with inline(app):
        job = flaky.submit(9)
        job.retry(params={"good_at": 5})
        assert job.result() == 5


def test_a_running_job_is_cancelled_where_it_looks():
    with inline(app):
        assert stop.submit().wait() is State.CANCELLED
    assert issubclass(Cancelled, BaseException)


def test_an_idempotency_key_gives_back_the_job_that_was_there():
    with inline(app) as run:
        first, second = (flaky.submit(1, _idempotency_key="k") for _ in range(2))
        assert first.id == second.id
        assert len(run.jobs) == 1


def test_what_the_inline_mode_lacks_is_said():
    with inline(app), pytest.raises(NotFound, match="the inline mode has no GET /v1/workers"):
        app.client.workers()


def test_afterwards_the_app_has_its_own_client_again(client: Client):
    mine = App(client=client)
    with inline(mine):
        assert mine.client is not client
    assert mine.client is client


@app.task(secrets=["INLINE_TOKEN"])
def tell(name: str, ctx: Context) -> str:
    return ctx.secret(name)


@app.task(secrets=["INLINE_TOKEN"])
async def tell_later(ctx: Context) -> str:
    return await ctx.asecret("INLINE_TOKEN")


def test_secrets_are_given_by_the_test_or_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INLINE_TOKEN", "from outside")
    assert tell("INLINE_TOKEN") == "from outside"
    with inline(app):
        assert tell.submit("INLINE_TOKEN").result() == "from outside"
    with inline(app, secrets={"INLINE_TOKEN": "from the test"}):
        assert tell.submit("INLINE_TOKEN").result() == "from the test"
        assert tell_later.submit().result() == "from the test"


def test_a_secret_that_is_not_there_or_not_declared_is_the_jobs_error() -> None:
    with inline(app, secrets={"OTHER": "of another task"}), pytest.raises(JobFailed, match="no secret INLINE_TOKEN"):
        tell.options(max_attempts=1).submit("INLINE_TOKEN").result()
    with inline(app, secrets={"INLINE_TOKEN": "x", "OTHER": "y"}), pytest.raises(JobFailed, match=r"secrets=\['OTHER'"):
        tell.options(max_attempts=1).submit("OTHER").result()
