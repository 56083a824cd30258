"""A folder as object storage: what is removed leaves nothing behind, or its file system would run out of inodes."""

import asyncio
import os
import sys
import threading
from pathlib import Path

import pytest

from horae.model.errors import NotReady
from horae.store.folder import HANDS
from horae.store.objects import Objects, ObjectsConfig
from horae.testing.waiting import wait_for


async def test_a_removed_day_leaves_no_folders(tmp_path: Path) -> None:
    objects = Objects(ObjectsConfig(str(tmp_path)))
    for job in ("a", "b"):
        await objects.put(f"results/20261101/1/{job}/1", b"large")
    await objects.put("results/20261102/1/c/1", b"large")

    assert await objects.remove("results/20261101") == 2
    assert [each.name for each in (tmp_path / "results").iterdir()] == ["20261102"]
    assert await objects.get("results/20261102/1/c/1") == b"large"


async def test_a_deleted_object_takes_its_empty_folders_with_it(tmp_path: Path) -> None:
    objects = Objects(ObjectsConfig(str(tmp_path)))
    await objects.put("results/20261101/1/a/1", b"large")
    await objects.put("results/20261101/1/b/1", b"large")

    await objects.delete(["results/20261101/1/a/1"])
    assert [each.name for each in (tmp_path / "results/20261101/1").iterdir()] == ["b"]


async def test_what_a_dead_server_left_unfinished_goes_with_its_day(tmp_path: Path) -> None:
    objects = Objects(ObjectsConfig(str(tmp_path)))
    await objects.put("results/20261101/1/a/1", b"large")
    (tmp_path / "results/20261101/1/a/.unfinished").write_bytes(b"lar")

    assert await objects.remove("results/20261101") == 1
    assert list((tmp_path / "results").iterdir()) == []


async def test_nothing_is_stored_outside_the_folder(tmp_path: Path) -> None:
    objects = Objects(ObjectsConfig(str(tmp_path / "objects")))
    for key in ("../x", "/x", "a//b", "a/./b", "a/../../x", ".x", "a\0b"):
        with pytest.raises(NotReady, match="no name of an object"):
            await objects.put(key, b"hostile")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


async def test_objects_come_while_their_neighbours_go(tmp_path: Path) -> None:
    """Whoever removes the last one takes the folder along, just when another is about to write there."""
    objects = Objects(ObjectsConfig(str(tmp_path)))

    async def come_and_go(key: str) -> None:
        for _ in range(30):
            assert await objects.create(key, b"large")
            await objects.delete([key])

    await asyncio.gather(*(come_and_go(f"results/20261101/1/a/{number}") for number in range(HANDS)))
    assert list(tmp_path.iterdir()) == []


async def test_a_folder_that_hangs_leaves_threads_to_others(tmp_path: Path) -> None:
    """Nobody writes into the pipe, so whoever opens it waits; and those who asked give up."""
    objects, pipe = Objects(ObjectsConfig(str(tmp_path))), tmp_path / "pipe"
    os.mkfifo(pipe)
    asking = [asyncio.create_task(objects.get("pipe")) for _ in range(3 * HANDS)]
    await wait_for(lambda: threading.active_count() > HANDS)
    for asked in asking:
        asked.cancel()
    await asyncio.gather(*asking, return_exceptions=True)
    assert await asyncio.to_thread(os.getpid) == os.getpid()
    pipe.open("wb").close()  # Those who wait may go on, and find nothing.
    await wait_for(lambda: not objects._opened._hands.locked())


STORM = """
import asyncio, os, sys
from horae.cli.running import run
from horae.store.objects import Objects, ObjectsConfig

def threads():
    return len(os.listdir("/proc/self/task"))

async def storm():
    before, objects, large = threads(), Objects(ObjectsConfig(sys.argv[1])), bytes(1 << 20)
    keys = [str(number) for number in range(100)]
    await asyncio.gather(*(objects.create(key, large) for key in keys))
    async def read(key):
        return [piece async for piece in objects.read(key, 0, len(large))]
    await asyncio.gather(*map(read, keys))
    await objects.delete(keys)
    print(threads() - before)

run(storm())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
async def test_a_storm_starts_no_threads(tmp_path: Path) -> None:
    """In a process of its own: here there are threads of other tests. With a driver that starts its own, 510 more."""
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-c", STORM, str(tmp_path), env=os.environ, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await program.communicate()
    assert int(out) == 0
