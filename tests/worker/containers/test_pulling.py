"""Images come from a registry before they are needed, once for all who want them."""

import asyncio
import os
import signal
import socket
import threading
from pathlib import Path

import pytest

from horae.worker import tree
from horae.worker.containers.disk import PlainDisk
from horae.worker.containers.hold import ContainerHold, Meter
from horae.worker.containers.images import Images, _PullHold
from horae.worker.deadman import DeadMan
from horae.worker.errands.workspace import Workspace
from horae.worker.sandbox.limits import Bounds
from horae.worker.sandbox.supervisor import Process
from worker.conftest import eventually

from .registry import registry

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture
def remote(image, tmp_path, monkeypatch):
    with registry(image, tmp_path / "image") as server:
        settings = tmp_path / "registries.conf"
        settings.write_text(f'[[registry]]\nlocation = "127.0.0.1:{server.server_port}"\ninsecure = true\n')
        monkeypatch.setenv("CONTAINERS_REGISTRIES_CONF", str(settings))
        yield server


async def test_jobs_that_want_the_same_image_wait_for_one_pull(house, remote):
    runs = await asyncio.gather(*(house.run("echo", "1", image=remote.image) for _ in range(3)))
    assert [run.result for run in runs] == [1, 1, 1], runs[0].error
    assert remote.asked == 1
    told = [run.errand.streams["system"].decode() for run in runs]
    assert sum(f"pulling {remote.image}" in text for text in told) == 1
    # The wait for the pull of another is part of getting ready, which no timeout counts.
    assert [run.errand.preparations for run in runs] == [[b""]] * 3


async def test_an_image_that_was_pulled_ahead_is_not_pulled_again(house, remote):
    images = Images(house.engine)
    await images.fetch_ahead([remote.image])
    errand = house.errand("true")
    assert await images.fetch(remote.image, "missing", errand) is None
    assert (remote.asked, errand.streams["system"]) == (1, b"")
    assert await images.fetch(remote.image, "always", errand) is None
    assert remote.asked == 2


async def test_a_pull_ahead_ends_with_its_agent_though_that_is_killed(house):
    """The registry takes the call and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        image = f"127.0.0.1:{silent.getsockname()[1]}/small:1"
        pulling = asyncio.create_task(Images(house.engine).fetch_ahead([image]))
        mark = house.quarters.mark_of_all
        await eventually(lambda: _running(mark, image))
        await asyncio.to_thread(DeadMan(mark).close)
        await eventually(lambda: not _running(mark, image))
        await pulling


async def test_a_pull_that_is_called_off_leaves_nothing(house):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        image = f"127.0.0.1:{silent.getsockname()[1]}/small:1"
        pulling = asyncio.create_task(Images(house.engine).fetch_ahead([image]))
        await eventually(lambda: _running(house.quarters.mark_of_all, image))
        pulling.cancel()
        await asyncio.gather(pulling, return_exceptions=True)
        await eventually(lambda: not _running(house.quarters.mark_of_all, image))


def _running(mark, word):
    return [pid for pid in tree.marked(mark) if word.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()]


async def test_killing_what_an_engine_runs_keeps_nobody_waiting(house, monkeypatch):
    """What is in an uninterruptible sleep takes its time to die."""
    released, waited = threading.Event(), []
    for name in ("end_marked", "end_tree"):
        monkeypatch.setattr(tree, name, lambda _: waited.append(released.wait(20)))
    client = Process(["/bin/sleep", "600"], environment={})
    disk = PlainDisk(house.engine, Workspace(house.errand("true")), Bounds())
    hold = ContainerHold("m/1/1", client, None, Meter(None, None), Bounds(), disk)
    asyncio.get_running_loop().call_soon(released.set)
    await asyncio.gather(hold.kill(), _PullHold(client.pid).kill())
    assert waited == [True, True]
    os.kill(client.pid, signal.SIGKILL)
    await client.exited
    client.reap()
    client.close()
