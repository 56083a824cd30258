"""What users do with the SDK, on a real Horae."""

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import date, timedelta

import pytest
import pytest_asyncio

from horae import JobFailed, ResultTimeout, State
from horae.client.client import AsyncClient
from horae.model.states import End
from horae.testing.inline import inline
from horae.testing.stack import Stack
from horae.testing.waiting import wait_for

from .conftest import spec
from .sdk_app import Order, app, double, fail, meet, refuse, resume, ship, succeed_at, talk, triple
from .sdk_app import wait_for as wait_for_file

pytestmark = pytest.mark.asyncio(loop_scope="module")
SECONDS = 100


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def real(stack: Stack) -> AsyncIterator[Stack]:
    """Two servers, with a worker each; the app submits to the first."""
    await stack.server("b")
    await stack.worker("one", spec("sdk_app"))
    await stack.worker("two", spec("sdk_app"), url=stack.address("b"))
    for name in ("one", "two"):
        await stack.until_joined(name)
    with stack.client() as client:
        async with AsyncClient(connection=client.connection) as asynchronous:
            former = app.clients.swap(client, asynchronous)
            yield stack
            app.clients.swap(*former)


async def test_arguments_and_results_keep_their_types(real):
    job = ship.submit(Order("book", date(2026, 11, 20)), after=timedelta(days=2))
    assert job.result(SECONDS) == Order("book", date(2026, 11, 22), 2)
    assert job.status() is State.SUCCEEDED


async def test_a_failure_tells_what_was_raised_and_where(real):
    job = fail.submit("no such customer")
    with pytest.raises(JobFailed, match="ValueError: no such customer") as caught:
        job.result(SECONDS)
    assert "raise ValueError(text)" in caught.value.extra["error"].traceback
    assert job.status() is State.FAILED


async def test_a_fatal_failure_is_not_tried_again(real):
    job = refuse.submit("for good")
    assert job.wait(SECONDS) is State.FAILED
    assert job.refresh().attempt == 1


async def test_a_task_that_asks_for_it_is_tried_again(real):
    assert succeed_at.submit(3).result(SECONDS) == 3


async def test_an_answer_that_says_succeeded_has_the_result(real):
    """Asked again and again without waiting, so that some jobs end while the server looks."""
    for number in range(50):
        job = triple.submit(number)
        while not (answer := app.client.result(job.id, wait=0)).state.ended:
            pass
        assert int(bytes(answer.result or b"-1")) == 3 * number


async def test_a_job_for_later_starts_when_it_is_due(real):
    due = time.monotonic() + 3
    job = triple.submit(1, _delay="3s")
    assert job.status() is State.SCHEDULED
    assert job.result(SECONDS) == 3
    late = time.monotonic() - due
    assert -0.1 < late < 20, f"it came {late:.2f} s late"


async def test_waiting_for_a_result_ends_when_it_has_to(real, tmp_path):
    job = wait_for_file.submit(str(tmp_path / "go"))
    with pytest.raises(ResultTimeout):
        job.result("200ms")
    (tmp_path / "go").touch()
    assert job.result(SECONDS) == "waited"


async def test_a_running_job_can_be_watched_and_cancelled(real, tmp_path):
    job = wait_for_file.submit(str(tmp_path / "never"))
    progress = await wait_for(lambda: job.refresh().progress)
    assert (progress.done, progress.total, progress.note) == (1, 2, "waiting")
    assert job.cancel("not needed").state in (State.RUNNING, State.CANCELLED)
    with pytest.raises(JobFailed, match="cancelled: not needed"):
        job.result(SECONDS)
    assert job.status() is State.CANCELLED
    assert job.retry().state in (State.READY, State.RUNNING)
    (tmp_path / "never").touch()
    assert job.result(SECONDS) == "waited"


async def test_a_pending_job_is_cancelled_at_once(real):
    job = triple.submit(1, _delay="1h")
    assert job.cancel().state is State.CANCELLED


async def test_output_can_be_followed_and_read_later(real):
    job = talk.submit(lines=50)
    followed = list(job.logs(follow=True))
    out = "".join(line.text for line in followed if line.stream == "stdout")
    err = "".join(line.text for line in followed if line.stream == "stderr")
    assert out == "".join(f"line {number}\n" for number in range(50))
    assert err == "INFO talk: done talking\nWARNING another: take care\n"
    assert [(line.stream, line.text) for line in job.logs()] == [(line.stream, line.text) for line in followed]


async def test_a_killed_job_goes_on_from_its_checkpoint(real):
    job = resume.submit()
    assert job.result(SECONDS) == [1] * 5 + [2] * 5
    ends = [execution.end for execution in app.client.executions(job.id).items]
    assert ends == [End.CRASHED, End.SUCCEEDED]


async def test_coroutines_submit_and_wait(real):
    jobs = await asyncio.gather(*(double.asubmit(number) for number in range(50)))
    assert await asyncio.gather(*(job.result(SECONDS) for job in jobs)) == [2 * number for number in range(50)]


async def test_two_thousand_jobs_in_one_call(real):
    jobs = triple.options(labels={"batch": "large"}).submit_many((number,) for number in range(2000))
    assert len({job.id for job in jobs}) == 2000

    def succeeded() -> bool:
        found = app.client.iter_jobs(status="succeeded", label={"batch": "large"}, limit=500)
        return {job.id for job in jobs} == {str(job.id) for job in found}

    await wait_for(succeeded, interval=0.5)
    assert [job.result(SECONDS) for job in jobs[::200]] == [3 * number for number in range(0, 2000, 200)]


async def test_one_key_is_one_job(real):
    jobs = [triple.submit(1, _idempotency_key="once") for _ in range(2)]
    assert jobs[0].id == jobs[1].id


async def test_any_server_answers_for_any_job(real):
    jobs = [triple.submit(number) for number in range(10)]
    with real.client(real.address("b")) as other:
        assert [int(bytes(other.result(job.id).result)) for job in jobs] == [3 * number for number in range(10)]


async def test_two_workers_share_the_work_also_when_it_takes_longer_than_what_came_before(real, tmp_path):
    """Whoever has one of the long jobs waits for the other worker to have one."""
    assert [job.result(SECONDS) for job in triple.submit_many([(1,)] * 200)] == [3] * 200
    jobs = meet.submit_many([(str(tmp_path), 2)] * 20)
    assert len({job.result(SECONDS) for job in jobs}) == 2


async def test_the_inline_mode_gives_the_same_answers(real):
    def answers() -> list[object]:
        return [
            ship.submit(Order("book", date(2026, 11, 20)), after=timedelta(days=2)).result(SECONDS),
            succeed_at.submit(3).result(SECONDS),
            refuse.submit("for good").wait(SECONDS),
            failure(fail.submit("no such customer")),
            double.submit(4).result(SECONDS),
            [job.result(SECONDS) for job in triple.submit_many([(1,), {"number": 2}])],
            triple.submit(1, _delay="1h").cancel().state,
        ]

    with inline(app):
        expected = answers()
    assert answers() == expected


def failure(job) -> tuple[str, str]:
    with pytest.raises(JobFailed) as caught:
        job.result(SECONDS)
    error = caught.value.extra["error"]
    return error.kind, error.message
