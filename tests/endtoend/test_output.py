"""Output beyond the result: pieces while a job runs, files, sinks, lifetimes; by SDK and CLI on a real Horae."""

import asyncio
import io
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio

from horae import Gone, JobFailed, JobRequest
from horae.client.client import AsyncClient
from horae.client.handles import AsyncJob, Job
from horae.model.kinds import Script
from horae.model.task import TaskDefinition
from horae.testing.database import temporary_folder
from horae.testing.inline import inline
from horae.testing.stack import Stack
from horae.testing.waiting import wait_for

from .conftest import spec
from .output_app import app, brief, count, count_async, flood, no_table, report, too_much

pytestmark = pytest.mark.asyncio(loop_scope="module")
SECONDS = 60


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def real(stack: Stack) -> AsyncIterator[Stack]:
    await stack.worker("one", spec("output_app"))
    await stack.until_joined("one")
    with stack.client() as client:
        async with AsyncClient(connection=client.connection) as asynchronous:
            former = app.clients.swap(client, asynchronous)
            yield stack
            app.clients.swap(*former)


async def horae(stack: Stack, *arguments: str) -> str:
    """What the program prints."""
    environ = os.environ | {"HORAE_URL": stack.url, "HORAE_KEY": stack.client().connection.key or ""}
    ran = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "horae.cli", *arguments, env=environ, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await ran.communicate()
    assert ran.returncode == 0, out
    return out.decode()


async def test_pieces_arrive_while_the_job_runs(real, tmp_path):
    gate = tmp_path / "gate"
    job = count.submit(3, gate=str(gate))
    pieces = job.partials()
    assert next(pieces).data == {"number": 0}
    assert not job.status().ended
    gate.touch()
    assert [piece.data for piece in pieces] == [{"number": 1}, {"number": 2}]
    assert job.result(SECONDS) == 3


async def test_pieces_of_coroutines_arrive_too(real):
    job = await count_async.asubmit(5)
    assert isinstance(job, AsyncJob)
    assert [piece.data async for piece in job.partials()] == list(range(5))


async def test_pieces_over_the_rate_are_left_out_and_the_log_says_so(real):
    job = flood.submit()
    job.result(SECONDS)
    pieces = [piece.data for piece in job.partials()]
    assert 100 <= len(pieces) < 2000
    assert pieces == sorted(pieces)
    assert any("partial results were left out" in line.text for line in job.logs())


async def test_a_piece_that_is_too_large_is_an_error_in_the_task(real):
    with pytest.raises(JobFailed, match="partial: 70002 bytes"):
        too_much.submit(_max_attempts=1).result(SECONDS)


async def test_the_command_prints_pieces_and_then_the_result(real):
    job = count.submit(2)
    job.wait(SECONDS)
    assert (await horae(real, "result", job.id, "--follow")).splitlines() == ['{"number":0}', '{"number":1}', "2"]


async def test_inline_runs_have_pieces_too():
    with inline(app):
        job = count.submit(2)
        assert job.result() == 2
        assert [piece.data for piece in job.partials()] == [{"number": 0}, {"number": 1}]


async def test_rows_are_written_as_parquet_before_the_job_has_ended(real):
    import pyarrow.parquet

    job = report.submit(3)
    assert job.result(SECONDS) == [{"row": 0}, {"row": 1}, {"row": 2}]
    written = real.folder / "objects" / "tables" / "default" / "daily" / f"{job.id}.parquet"
    assert pyarrow.parquet.read_table(io.BytesIO(written.read_bytes())).to_pylist() == job.result()


async def test_a_result_that_is_no_table_fails_the_job_with_a_clear_error(real):
    with pytest.raises(JobFailed, match="must be a list of objects"):
        no_table.submit().result(SECONDS)


async def test_a_result_is_gone_when_its_lifetime_is_over(real):
    job = brief.submit()
    assert job.wait(SECONDS)

    def gone() -> bool:
        try:
            return not job.result(SECONDS)
        except Gone:
            return True

    await wait_for(gone)
    assert "kept for its lifetime" in await horae(real, "job", job.id)


SOURCE = """
mkdir -p "$HORAE_OUTPUT/sub"
echo hello > "$HORAE_OUTPUT/a.txt"
head -c 3000000 /dev/zero > "$HORAE_OUTPUT/sub/zeros"
ln -s /etc/passwd "$HORAE_OUTPUT/link"
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def left(real: Stack) -> AsyncIterator[Job]:
    """A job of a script that left files."""
    with temporary_folder() as state:  # the sandbox's account must reach it
        yield await leave(real, state)


async def leave(real: Stack, state: Path) -> Job:
    client = app.client
    client.put_task(TaskDefinition(name="leave", script=Script(source=SOURCE, interpreter="sh")))
    arguments = ["worker", "--kinds", "script", "--name", "scripts", "--slots", "1", "--url", real.url]
    arguments += ["--key-file", str(real._key_file), "--state", str(state)]
    await real._start("scripts", arguments, {}, real.workers)
    await real.until_joined("scripts")
    job = Job(client, client.submit(JobRequest(task="leave")).id)
    job.wait(SECONDS)
    return job


async def test_what_a_script_leaves_is_read_and_saved_by_the_sdk(left, tmp_path):
    files = {file.name: file for file in left.files()}
    assert set(files) == {"a.txt", "sub/zeros"}
    assert files["a.txt"].read() == b"hello\n"
    seen: list[int] = []
    assert files["sub/zeros"].save(tmp_path, seen.append) == tmp_path / "zeros"
    assert (tmp_path / "zeros").read_bytes() == bytes(3_000_000)
    assert sum(seen) == 3_000_000
    assert [path.name for path in tmp_path.iterdir()] == ["zeros"]


async def test_the_same_for_coroutines(left, tmp_path):
    files = await AsyncJob(app.async_client, left.id).files()
    assert await files[0].read() == b"hello\n"
    assert (await files[0].save(tmp_path / "copy")).read_text() == "hello\n"
    assert (await files[0].address()).startswith(app.client.connection.url)


async def test_a_file_is_given_away_by_address(left):
    (file, *_) = left.files()
    async with aiohttp.ClientSession() as http, http.get(file.address("1m")) as answer:
        assert await answer.read() == b"hello\n"


async def test_the_command_lists_and_fetches_files(real, left, tmp_path):
    listed = await horae(real, "files", left.id)
    assert "a.txt" in listed
    assert "2.9MiB" in listed
    assert await horae(real, "files", "get", left.id, "a.txt", "-o", "-") == "hello\n"
    await horae(real, "files", "get", left.id, "sub/zeros", "-o", str(tmp_path / "z"))
    assert (tmp_path / "z").stat().st_size == 3_000_000
    assert (await horae(real, "files", "address", left.id, "a.txt")).startswith(real.url)


async def test_a_link_is_left_and_the_job_s_log_or_files_do_not_have_it(left):
    assert "link" not in [Path(file.name).name for file in left.files()]
