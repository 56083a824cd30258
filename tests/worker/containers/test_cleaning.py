"""What an agent leaves when it is killed, and that the next one removes it."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from worker.conftest import eventually

from .house import House, call

pytestmark = pytest.mark.asyncio(loop_scope="session")
DOOMED = Path(__file__).with_name("doomed.py")


@pytest.fixture
async def killed(image, tmp_path):
    """The token and the job of an agent that was killed with its engine's programs, and left a running container."""
    process = subprocess.Popen(
        [sys.executable, str(DOOMED), str(tmp_path / "state"), image],
        env={**os.environ, "PYTHONPATH": str(DOOMED.parents[2])}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    words = (await asyncio.to_thread(process.stdout.readline)).split()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    return words


async def test_the_next_start_removes_what_a_killed_agent_left(killed, image, tmp_path):
    agent, job = killed
    house = House(tmp_path / "state", image)
    assert house.quarters.dead == (agent,)
    await house.quarters.end_dead_processes()
    assert (await house.runner.prepare()).ready
    await house.quarters.remove_dead()
    assert call(house.engine, "ps", "--all", "--quiet", f"--filter=label=horae.agent={agent}") == ""
    assert str(tmp_path) not in Path("/proc/self/mountinfo").read_text()
    assert list(Path("/sys/fs/cgroup").glob(f"**/horae-{agent}-*")) == []
    assert not (house.quarters.folder.parent / agent).exists()
    # Podman's monitor of the container ends by itself, a moment after it.
    await eventually(lambda: not _named_by_processes(job))
    await house.runner.close()
    await house.quarters.close()


async def test_a_start_leaves_the_containers_of_living_agents_alone(house, image, tmp_path):
    errand = house.errand("sh", "-c", "echo ready; sleep 600")
    running = asyncio.create_task(house.runner.run(errand))
    await errand.said("ready")
    other = House(tmp_path / "state", image)
    assert (await other.runner.prepare()).ready
    await other.runner.close()
    await other.quarters.close()
    assert call(house.engine, "ps", "--quiet", f"--filter=label=horae.errand={errand.mark}")
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert house.left_of(errand) == []


def _named_by_processes(job):
    return any(job.encode() in _read(file) for file in Path("/proc").glob("[0-9]*/cmdline"))


def _read(file):
    try:
        return file.read_bytes()
    except OSError:
        return b""
