"""How containers end, and that nothing of them is left."""

import asyncio
import os
import signal
from pathlib import Path

import msgspec
import pytest

from horae.model.kinds import Limits
from horae.model.states import End
from horae.worker.errands.errand import StopOrder

pytestmark = pytest.mark.asyncio(loop_scope="session")
FILL = "dd if=/dev/zero of=/output/big bs=1M count=50; echo went on; sleep 30"


async def test_an_exit_status_is_the_jobs_own(house):
    done = await house.shell("echo because >&2; exit 3")
    assert (done.end, done.error.kind, done.error.message) == (End.ERROR, "exit", "exit status 3: because")
    assert (await house.shell("exit 65")).end is End.FATAL
    # These mean something else when the engine says them.
    assert (await house.shell("exit 125")).error.kind == "exit"
    assert (await house.shell("exit 127")).error.kind == "exit"
    assert house.left_of(done.errand) == []


async def test_a_job_can_say_when_to_try_again(house):
    done = await house.shell("echo '{\"retry_after\": 30}' > $HORAE_EVENTS; exit 75")
    assert (done.end, done.outcome.retry_after) == (End.ERROR, 30)


async def test_a_signal_is_a_crash(house):
    done = await house.shell("kill -SEGV $$")
    assert (done.end, done.error.kind) == (End.CRASHED, "crash")
    assert "SIGSEGV" in done.error.message


async def test_too_much_memory_is_told_from_other_kills(house):
    done = await house.shell("tail /dev/zero", limits=Limits(memory="24MiB"))
    assert (done.end, done.error.kind) == (End.CRASHED, "oom"), done.error
    assert "24MiB of memory" in done.error.message
    assert done.outcome.usage.peak_memory == pytest.approx(24 * 2**20, rel=0.05)
    assert house.left_of(done.errand) == []


async def test_too_many_processes_are_a_limit(house):
    done = await house.shell("(while true; do sleep 60 & done); sleep 60", limits=Limits(processes=10))
    assert (done.end, done.error.kind) == (End.ERROR, "limit"), done.error
    assert "10 processes" in done.error.message
    assert house.left_of(done.errand) == []


async def test_a_full_disk_is_a_limit(house):
    done = await house.shell(FILL, limits=Limits(disk="8MiB"))
    assert (done.end, done.error.kind) == (End.ERROR, "limit"), done.error
    assert "8MiB of disk" in done.error.message
    assert house.left_of(done.errand) == []


async def test_removed_files_that_are_open_count_as_well(house):
    script = "exec 3> /tmp/a; rm /tmp/a; dd if=/dev/zero bs=1M count=50 >&3; sleep 30"
    done = await house.shell(script, limits=Limits(disk="8MiB"))
    assert (done.error.kind, done.end) == ("limit", End.ERROR)


async def test_use_is_recorded(house):
    script = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; dd if=/dev/zero of=/tmp/x bs=1M count=20"
    usage = (await house.shell(script, limits=Limits(memory="64MiB"))).outcome.usage
    assert usage.cpu > 0.05
    assert 20 * 2**20 < usage.peak_memory < 64 * 2**20
    assert usage.written_bytes is not None


async def test_a_job_told_to_stop_can_end_by_itself(house):
    errand = house.errand("sh", "-c", "trap 'echo saved; exit 0' TERM; echo ready; while true; do sleep 0.05; done")
    done, seconds = await _stop(house, errand, StopOrder(End.CANCELLED, "not needed", 20.0))
    assert (done.end, done.error.kind, done.error.message) == (End.CANCELLED, "cancelled", "not needed")
    assert errand.text == "ready\nsaved\n"
    assert seconds < 15
    assert house.left_of(errand) == []


async def test_a_job_that_does_not_stop_is_killed(house):
    errand = house.errand("sh", "-c", "trap '' TERM; echo ready; while true; do sleep 0.05; done")
    done, seconds = await _stop(house, errand, StopOrder(End.TIMEOUT, "too long", 0.3))
    assert (done.end, done.error.kind) == (End.TIMEOUT, "timeout")
    assert seconds > 0.3
    assert house.left_of(errand) == []


async def test_a_stop_before_the_start_leaves_nothing(house):
    for delay in (0.0, 0.05, 0.1, 0.2):
        errand = house.errand("sleep", "60")
        asyncio.get_running_loop().call_later(delay, errand.stop.set_result, StopOrder(End.CANCELLED, "no", 0.1))
        assert (await house.runner.run(errand)).end is End.CANCELLED
        assert house.left_of(errand) == []


async def test_a_run_that_is_called_off_leaves_nothing(house):
    errand = house.errand("sh", "-c", "echo ready; sleep 60")
    running = asyncio.create_task(house.runner.run(errand))
    await errand.said("ready")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert house.left_of(errand) == []


async def test_a_container_whose_client_was_killed_is_ended(house):
    errand = house.errand("sh", "-c", "echo ready; sleep 60")
    running = asyncio.create_task(house.runner.run(errand))
    await errand.said("ready")
    for pid in errand.guarded:
        os.kill(pid, signal.SIGKILL)
    outcome = await running
    assert (outcome.end, outcome.error.kind) == (End.ERROR, "engine")
    assert "SIGKILL" in outcome.error.message
    assert house.left_of(errand) == []


async def test_processes_end_with_the_container(house):
    done = await house.shell("for i in 1 2 3; do setsid sleep 4242 & done; echo 1")
    assert done.result == 1
    assert not [line for line in Path("/proc").glob("[0-9]*/cmdline") if b"sleep\x004242\x00" in _read(line)]


async def test_a_command_that_is_not_there_is_said(house):
    done = await house.run("/no/such/program")
    assert done.end is End.ERROR
    assert "No such file" in done.error.message


async def test_an_image_that_is_not_there_is_the_engines_failure(house):
    done = await house.run("true", image="localhost/horae-no-such:1", pull="never")
    assert (done.end, done.error.kind) == (End.ERROR, "engine")
    assert "horae-no-such" in done.error.message
    assert house.left_of(done.errand) == []


async def test_an_image_that_cannot_be_pulled_is_said_in_the_engines_words(house):
    done = await house.run("true", image="127.0.0.1:1/nothing:1")
    assert (done.end, done.error.kind) == (End.ERROR, "image")
    assert "127.0.0.1:1/nothing:1 could not be pulled: " in done.error.message
    assert "refused" in done.error.message
    assert b"pulling 127.0.0.1:1/nothing:1\n" in done.errand.streams["system"]


@pytest.fixture
def like_docker(house):
    """An agent that is not root, or an engine whose groups are not below ours: what they have to do without."""
    engine, mounts = house.runner._engine, house.runner._mounts
    house.runner._engine, house.runner._mounts = msgspec.structs.replace(engine, nests=False), False
    yield
    house.runner._engine, house.runner._mounts = engine, mounts


@pytest.mark.usefixtures("like_docker")
async def test_limits_hold_without_groups_and_mounts_of_our_own(house):
    done = await house.shell("echo '[2]'; echo x > /output/file; echo y > /tmp/x; sleep 0.6")
    assert (done.result, done.output) == ([2], {"file": b"x\n"}), done.error
    assert done.outcome.usage.cpu > 0
    assert house.left_of(done.errand) == []
    full = await house.shell(FILL, limits=Limits(disk="8MiB"))
    assert full.error.kind == "limit"
    oom = await house.shell("tail /dev/zero; sleep 60", limits=Limits(memory="24MiB"))
    assert (oom.end, oom.error.kind) == (End.CRASHED, "oom")
    assert house.left_of(full.errand) + house.left_of(oom.errand) == []


async def _stop(house, errand, order):
    loop = asyncio.get_running_loop()
    running = asyncio.create_task(house.runner.run(errand))
    await errand.said("ready")
    began = loop.time()
    errand.stop.set_result(order)
    outcome = await running
    return outcome, loop.time() - began


def _read(file):
    try:
        return file.read_bytes()
    except OSError:
        return b""
