"""Every limit of a script, reached on purpose."""

import asyncio
import time

import pytest

from horae.model.kinds import Limits
from horae.model.states import End


async def test_memory(house):
    done = await house.run("x = bytearray(200_000_000); print(len(x))", "python", limits=Limits(memory="64MiB"))
    assert (done.end, done.error.kind) == (End.CRASHED, "oom")
    assert "64MiB of memory" in done.error.message
    assert done.outcome.usage.peak_memory <= 64 * 2**20


async def test_memory_of_a_child_ends_the_job_as_well(house):
    source = "python3 -c 'bytearray(200_000_000)'; echo still; sleep 60"
    done = await house.run(source, limits=Limits(memory="64MiB"))
    assert (done.end, done.error.kind) == (End.CRASHED, "oom")


async def test_files_count_as_memory_and_the_error_says_so(house):
    done = await house.run("head -c 90000000 /dev/zero > big", limits=Limits(memory="64MiB"))
    assert done.error.kind == "oom"
    assert "files in /output and /tmp" in done.error.message


async def test_processes(house):
    source = "i=0; while [ $i -lt 40 ]; do sleep 60 & i=$((i+1)); done; wait"
    done = await house.run(source, limits=Limits(processes=20))
    assert (done.end, done.error.kind) == (End.ERROR, "limit")
    assert "20 processes" in done.error.message
    assert done.errand.processes == []


async def test_as_many_processes_as_the_limit_says_are_fine(house):
    source = "i=0; while [ $i -lt 19 ]; do sleep 0.2 & i=$((i+1)); done; wait; echo 1"
    done = await house.run(source, limits=Limits(processes=20))
    alone = await house.run("echo 1", limits=Limits(processes=1))
    one_more = await house.run("sleep 0.1; echo 1", limits=Limits(processes=1))
    assert (done.error, alone.error, one_more.error.kind) == (None, None, "limit")


async def test_a_fork_bomb(house):
    done = await house.run("f() { f | f & }; f; sleep 60", "bash")
    assert (done.end, done.error.kind, done.errand.processes) == (End.ERROR, "limit", [])


@pytest.mark.parametrize("place", ["/output", "/tmp", "/dev/shm"])
async def test_disk(house, place):
    done = await house.run(f"head -c 5000000 /dev/zero > {place}/big", limits=Limits(disk="2MiB"))
    assert (done.end, done.error.kind) == (End.ERROR, "limit")
    assert "2MiB of disk" in done.error.message


async def test_disk_is_one_amount_for_all_places_and_counts_files_without_a_name(house):
    source = "exec 3> /tmp/a; rm /tmp/a; head -c 1500000 /dev/zero >&3; head -c 1500000 /dev/zero > b; sleep 60"
    done = await house.run(source, limits=Limits(disk="2MiB"))
    assert (done.end, done.error.kind) == (End.ERROR, "limit")


async def test_many_small_files(house):
    source = "import os\nfor n in range(100_000): open(f'{n}', 'x').close()"
    done = await house.run(source, "python", limits=Limits(disk="4MiB"))
    assert (done.end, done.error.kind) == (End.ERROR, "limit")


async def test_open_files(house):
    source = "import os\nfiles = []\ntry:\n  while True: files.append(os.dup(1))\nexcept OSError: print(len(files))"
    done = await house.run(source, "python", limits=Limits(open_files=50))
    assert 40 <= done.result <= 50


async def test_cpu_slows_it(house):
    started = time.monotonic()
    done = await house.run("import time\nwhile time.process_time() < 0.3: pass", "python", limits=Limits(cpu=0.2))
    assert done.end is End.SUCCEEDED
    assert 0.3 <= done.outcome.usage.cpu < 2, "the interpreter's start included"
    assert time.monotonic() - started > 0.7


async def test_much_output_fills_neither_memory_nor_the_loop(house):
    """300 MB: the recorder keeps 100 kB, as the agent's log keeps what it has room for."""
    beats = 0

    async def beat():
        nonlocal beats
        while True:
            await asyncio.sleep(0.01)
            beats += 1

    beating = asyncio.ensure_future(beat())
    done = await house.run("head -c 300000000 /dev/zero; echo; echo 1")
    beating.cancel()
    assert (done.end, done.result) == (End.SUCCEEDED, 1)
    assert beats > 5


async def test_what_a_job_may_use_follows_what_it_has_reserved(house):
    errand = house.errand("cat /dev/zero | head -c 5000000 > big")
    errand.grant.disk = 2**20
    outcome = await house.runner.run(errand)
    assert "1MiB of disk" in outcome.error.message
