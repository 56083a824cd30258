"""Functions get their secrets, and nothing of them leaves the worker."""

from pathlib import Path

import msgspec
import pytest

from horae.model.errors import NotFound
from horae.model.states import End
from horae.model.task import TaskDefinition

from .secret_app import shown
from .stand_in import StandIn

APP = str(Path(__file__).parent / "secret_app.py") + ":app"
TOKEN = 's3cr3t/Tök+en "quoted"\\\nsecond line of it'


@pytest.fixture
async def worker(server: StandIn, start):
    names = ("say", "give_back", "fail", "crash", "keep", "ask_for_another", "note", "say_from_a_coroutine")
    server.tasks = {name: TaskDefinition(name=name) for name in names}
    server.secrets = {"TOKEN": TOKEN}
    return await start(APP)


def leaks(text: str) -> list[str]:
    """Also of the lines of the secret, one by one."""
    return [form for form in (*shown(TOKEN), *TOKEN.splitlines()) if form in text]


async def test_what_a_job_prints_of_its_secret_is_masked_however_it_is_encoded_and_cut(server, worker):
    job = await server.submit("say")
    (finished,) = await server.done(job)
    assert finished.end is End.SUCCEEDED
    text = server.text(job)
    assert leaks(text) == []
    assert text.count("***") >= 2 * len(shown(TOKEN)) + 2
    assert text.count("stdout") == text.count("stderr") == len(shown(TOKEN))
    assert "*** and done\n" in text
    assert [asked.id for asked in server.briefed] == [job]


@pytest.mark.parametrize("size", [1, 2000])
async def test_a_result_is_masked_and_stays_json_also_when_it_is_uploaded(server, worker, size):
    job = await server.submit("give_back", size=size)
    (finished,) = await server.done(job)
    assert finished.end is End.SUCCEEDED, finished.error
    result = server.results[job] if size > 1 else bytes(finished.result)
    assert leaks(result.decode()) == []
    assert set(msgspec.json.decode(result)) == {"forms", "***"}
    assert finished.blob == (len(result) if size > 1 else None)


@pytest.mark.parametrize("ahead", [0, 1960, 1970, 1975])
async def test_an_error_is_masked_also_where_it_was_cut_off(server, worker, ahead):
    error = (await server.run("fail", ahead=ahead)).error
    assert error.kind == "ValueError"
    assert "***" in error.message
    assert leaks(error.message + error.traceback) == []
    assert "s3c" not in error.message


async def test_the_last_words_of_a_process_that_died_are_masked(server, worker):
    job = await server.submit("crash")
    (finished,) = await server.done(job)
    assert finished.end is End.CRASHED
    assert "***" in finished.error.traceback
    assert leaks(finished.error.traceback + server.text(job)) == []
    assert "s3cr3t" not in finished.error.traceback
    assert "second" not in finished.error.traceback


async def test_what_a_job_left_in_the_process_is_masked_for_the_next_one_too(server, worker):
    await server.run("keep")
    job = await server.submit("say_what_another_kept")
    (finished,) = await server.done(job)
    assert bytes(finished.result) == b'["***"]'
    assert server.text(job) == "['***']\n"


async def test_a_coroutine_gets_its_secret_and_is_masked(server, worker):
    job = await server.submit("say_from_a_coroutine")
    (finished,) = await server.done(job)
    assert msgspec.json.decode(finished.result) == TOKEN[::-1]
    assert server.text(job) == "***\n"


async def test_progress_is_masked(server, worker):
    job = await server.submit("note")
    (finished,) = await server.done(job)
    notes = [progress.note for progress in server.progress if progress.id == job]
    assert {*notes, *([finished.progress.note] if finished.progress else [])} == {"using ***"}


async def test_progress_that_was_cut_in_the_middle_of_a_secret_is_masked(server, worker):
    (finished,) = await server.done(await server.submit("note", ahead=485))
    (note,) = {p.note for p in [*server.progress, finished.progress] if p}
    assert note == "." * 485 + "using ***"


async def test_a_secret_that_the_task_does_not_name_is_refused_in_words(server, worker):
    error = (await server.run("ask_for_another")).error
    assert error.kind == "NoSecret"
    assert error.message == "the task does not name the secret 'OTHER': declare it with @app.task(secrets=['OTHER'])"


async def test_what_the_server_says_against_it_is_the_jobs_error(server, worker):
    server.refuse_briefs = NotFound("the tenant has no secret TOKEN; make it with `horae secret set TOKEN`")
    finished = await server.run("keep")
    assert finished.end is End.ERROR
    assert (finished.error.kind, finished.error.message[:30]) == ("NoSecret", "the tenant has no secret TOKEN")


async def test_a_job_without_secrets_asks_for_nothing(server, worker):
    await server.run("say_what_another_kept")
    assert server.briefed == []
