"""Jobs that misbehave: each comes to the right end, the worker goes on, and nothing is left behind."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

from faults.load import skip_pause
from horae.bench.program import Program
from horae.client.client import Client
from horae.client.handles import Job
from horae.model.job import JobRequest
from horae.model.states import End, State
from horae.testing.processes import alive
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
CRASHES = {"exit_by_os": ("exit", "status 7"), "segfault": ("crash", "SIGSEGV")}
SUCCESSES = [
    "fork_a_daemon",
    "leave_a_process",
    "close_output",
    "close_everything",
    "remove_own_folder",
    "ignore_sigterm",
    "start_endless_threads",
]


class Ward:
    """A worker with one process, so that each job runs where the bad one before it ran."""

    def __init__(self, stack: Stack, worker: Program, client: Client) -> None:
        self.stack = stack
        self.worker = worker
        self.client = client

    async def run(self, task: str, **request: object) -> JobResult:
        """Submits it and waits for its outcome; pauses between attempts are skipped."""
        job = str(self.client.submit(JobRequest(task=task, max_attempts=1, **request)).id)

        async def ended() -> JobResult | None:
            await skip_pause(self.stack, job)
            answer = self.client.result(job, 0.2)
            return answer if answer.state.ended else None

        with self._fresh_process_after_failure():
            return await wait_for(ended, 100, what=task)

    async def check(self) -> None:
        """The worker runs a good job as ever, and has no process besides its own."""
        answer = await self.run("good")
        with self._fresh_process_after_failure():
            assert answer.state is State.SUCCEEDED, answer.error
            assert set(self.output(answer)) == {("stdout", "good\n"), ("stderr", "good\n")}
            await wait_for(lambda: not strays(self.worker), what=f"the end of {strays(self.worker)}")
            self.worker.check()

    def output(self, answer: JobResult) -> list[tuple[str, str]]:
        return [(line.stream, line.text) for line in Job(self.client, str(answer.id)).logs()]

    @contextmanager
    def _fresh_process_after_failure(self) -> Iterator[None]:
        """One bad job must not fail the tests of the others."""
        try:
            yield
        except AssertionError:
            for process in psutil.Process(self.worker.pid).children():
                process.kill()
            raise


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ward(stack: Stack) -> AsyncIterator[Ward]:
    worker = await stack.worker("one", spec("bad_jobs"), slots=1)
    await stack.until_joined("one")
    with stack.client() as client:
        yield Ward(stack, worker, client)
    processes = psutil.Process(worker.pid).children(recursive=True)
    await worker.stop()
    assert not psutil.wait_procs(processes, timeout=60)[1], "the worker left processes behind"


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
async def test_what_a_job_raises_is_its_failure(ward, task):
    kind, words = FAILURES[task]
    answer = await ward.run(task)
    assert answer.state is State.FAILED, answer
    assert answer.error.kind == kind
    assert words in answer.error.message
    await ward.check()


@pytest.mark.parametrize("task", CRASHES)
async def test_a_job_that_ends_its_process_fails_after_three_crashes(ward, task):
    kind, words = CRASHES[task]
    answer = await ward.run(task)
    assert answer.state is State.FAILED, answer
    assert answer.error.kind == kind
    assert words in answer.error.message
    assert [execution.end for execution in ward.client.executions(str(answer.id)).items] == [End.CRASHED] * 3
    await ward.check()


@pytest.mark.parametrize("task", SUCCESSES)
async def test_what_a_job_leaves_behind_harms_nobody(ward, task):
    answer = await ward.run(task)
    assert answer.state is State.SUCCEEDED, answer.error
    await ward.check()


async def test_a_job_that_ignores_the_signal_is_killed_when_its_time_is_up(ward):
    answer = await ward.run("ignore_sigterm_and_stay", timeout="200ms")
    assert (answer.state, answer.error.kind) == (State.FAILED, "timeout")
    await ward.check()


async def test_a_job_after_one_that_ignored_the_signal_hears_it(ward, tmp_path):
    await ward.run("ignore_sigterm")
    answer = await ward.run("tidy", params={"path": str(tmp_path / "trace")}, timeout="3s")
    assert answer.error.kind == "timeout"
    assert (tmp_path / "trace").read_text() == "tidied"


async def test_a_large_result_comes_back_whole(ward):
    answer = await ward.run("return_much")
    assert json.loads(bytes(answer.result)) == "x" * 5_000_000
    await ward.check()


async def test_of_200_mb_of_output_the_beginning_and_the_end_are_kept(ward):
    answer = await ward.run("print_much")
    assert answer.state is State.SUCCEEDED
    output = ward.output(answer)
    text = "".join(text for _, text in output)
    assert (text[:13], text[-8:]) == ("the beginning", "the end\n")
    assert len(text) < 2_000_000
    assert any(stream == "system" and "left out" in text for stream, text in output)
    await ward.check()


async def test_output_that_is_no_text_is_kept_as_far_as_it_is(ward):
    answer = await ward.run("print_garbage")
    text = "".join(text for _, text in ward.output(answer))
    assert text == "nul \ufffd, not utf-8 \ufffd\ufffd, colour \x1b[31mred\x1b[0m\n"
    await ward.check()


async def test_a_worker_whose_app_raises_at_import_says_so_and_ends(stack, tmp_path: Path):
    (tmp_path / "broken.py").write_text("raise RuntimeError('no database here')")
    worker = await stack.worker("broken", f"{tmp_path / 'broken.py'}:app")
    await wait_for(lambda: not alive(worker.pid))
    assert worker.last_words().count("RuntimeError: no database here") == 1
