"""Jobs that misbehave: each comes to the right end, the worker goes on, and nothing is left behind."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import psutil
import pytest

from horae.bench.program import Program
from horae.client.client import Client
from horae.client.handles import Job
from horae.model.job import JobRequest
from horae.model.states import End, State
from horae.testing.stack import Stack
from horae.testing.waiting import wait_for
from horae.wire.jobs import JobResult

from .conftest import spec

pytestmark = pytest.mark.asyncio(loop_scope="module")

FAILURES = {
    "return_nonsense": ("Unserialisable", "JSON"),
    "exit_by_sys": ("SystemExit", "enough"),
    "interrupt": ("KeyboardInterrupt", ""),
    "recurse": ("RecursionError", "maximum recursion"),
    "exhaust_memory": ("MemoryError", ""),
    "raise_mute": ("Mute", "__str__"),
    "raise_deadly": ("Deadly", "__str__"),
}
CRASHES = {"exit_by_os": ("exit", "status 7"), "segfault": ("crash", "SIGSEGV"), "close_everything": ("crash", "")}
SUCCESSES = [
    "fork_a_daemon",
    "leave_a_process",
    "close_output",
    "remove_own_folder",
    "ignore_sigterm",
    "start_endless_threads",
]


@pytest.fixture(scope="module", loop_scope="module")
async def worker(stack: Stack) -> AsyncIterator[Program]:
    """With one process, so that each job runs where the bad one before it ran."""
    worker = await stack.worker("one", spec("bad_jobs"), slots=1)
    await stack.until_joined("one")
    yield worker


@pytest.fixture(scope="module")
def client(stack: Stack, worker: Program) -> Iterator[Client]:
    with stack.client() as client:
        yield client


async def run(client: Client, stack: Stack, task: str, **request: object) -> JobResult:
    """Submits it and waits for its outcome; pauses between attempts are skipped."""
    job = client.submit(JobRequest(task=task, max_attempts=1, **request)).id
    connection = await asyncpg.connect(stack.dsn)

    async def ended() -> JobResult | None:
        await connection.execute("update horae.timer set run_at = now() where id = $1", job)
        answer = client.result(job, 0.2)
        return answer if answer.state.ended else None

    try:
        return await wait_for(ended, what=task)
    finally:
        await connection.close()


async def assert_unharmed(client: Client, stack: Stack, worker: Program) -> None:
    """The worker runs a good job as ever, and has no process besides its own."""
    answer = await run(client, stack, "good")
    assert (answer.state, bytes(answer.result)) == (State.SUCCEEDED, b'"good"'), answer.error
    assert {(line.stream, line.text) for line in Job(client, str(answer.id)).logs()} == {
        ("stdout", "good\n"),
        ("stderr", "good\n"),
    }
    await wait_for(lambda: not strays(worker), what=f"the end of {strays(worker)}")
    worker.check()


def strays(worker: Program) -> list[list[str]]:
    """What runs below the worker but is not part of it."""
    commands = [command(process) for process in psutil.Process(worker.pid).children(recursive=True)]
    return [words for words in commands if words and not {"horae.worker.child", "horae.worker.keeper"} & set(words)]


def command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


@pytest.mark.parametrize("task", FAILURES)
async def test_what_a_job_raises_is_its_failure(client, stack, worker, task):
    kind, words = FAILURES[task]
    answer = await run(client, stack, task)
    assert (answer.state, answer.error.kind) == (State.FAILED, kind)
    assert words in answer.error.message
    await assert_unharmed(client, stack, worker)


@pytest.mark.parametrize("task", CRASHES)
async def test_a_job_that_ends_its_process_fails_after_three_crashes(client, stack, worker, task):
    kind, words = CRASHES[task]
    answer = await run(client, stack, task)
    assert (answer.state, answer.error.kind) == (State.FAILED, kind)
    assert words in answer.error.message
    assert [execution.end for execution in client.executions(str(answer.id)).items] == [End.CRASHED] * 3
    await assert_unharmed(client, stack, worker)


@pytest.mark.parametrize("task", SUCCESSES)
async def test_what_a_job_leaves_behind_harms_nobody(client, stack, worker, task):
    answer = await run(client, stack, task)
    assert answer.state is State.SUCCEEDED, answer.error
    await assert_unharmed(client, stack, worker)


async def test_a_job_that_ignores_the_signal_is_killed_when_its_time_is_up(client, stack, worker):
    answer = await run(client, stack, "ignore_sigterm_and_stay", timeout="200ms")
    assert (answer.state, answer.error.kind) == (State.FAILED, "timeout")
    await assert_unharmed(client, stack, worker)


async def test_a_job_after_one_that_ignored_the_signal_hears_it(client, stack, worker, tmp_path):
    await run(client, stack, "ignore_sigterm")
    answer = await run(client, stack, "tidy", params={"path": str(tmp_path / "trace")}, timeout="200ms")
    assert answer.error.kind == "timeout"
    assert (tmp_path / "trace").read_text() == "tidied"


async def test_a_large_result_comes_back_whole(client, stack, worker):
    answer = await run(client, stack, "return_much")
    assert json.loads(bytes(answer.result)) == "x" * 5_000_000
    await assert_unharmed(client, stack, worker)


async def test_of_200_mb_of_output_the_beginning_and_the_end_are_kept(client, stack, worker):
    answer = await run(client, stack, "print_much")
    assert answer.state is State.SUCCEEDED
    lines = list(Job(client, str(answer.id)).logs())
    text = "".join(line.text for line in lines)
    assert (text[:13], text[-8:]) == ("the beginning", "the end\n")
    assert len(text) < 2_000_000
    assert any(line.stream == "system" and "left out" in line.text for line in lines)
    await assert_unharmed(client, stack, worker)


async def test_output_that_is_no_text_is_kept_as_far_as_it_is(client, stack, worker):
    answer = await run(client, stack, "print_garbage")
    text = "".join(line.text for line in Job(client, str(answer.id)).logs())
    assert text == "nul \ufffd, not utf-8 \ufffd\ufffd, colour \x1b[31mred\x1b[0m\n"
    await assert_unharmed(client, stack, worker)


async def test_a_worker_whose_app_raises_at_import_says_so_and_ends(stack, tmp_path: Path):
    (tmp_path / "broken.py").write_text("raise RuntimeError('no database here')")
    worker = await stack.worker("broken", f"{tmp_path / 'broken.py'}:app")
    await wait_for(lambda: "no database here" in worker.last_words())
    assert "Traceback" not in worker.last_words().partition("no database here")[2]
    await wait_for(lambda: not psutil.pid_exists(worker.pid))
