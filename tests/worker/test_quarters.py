"""Nothing is left: what an agent's death leaves behind, the next one removes."""

import asyncio
import contextlib
import os
import random
import signal
import sys
from pathlib import Path

import pytest

from horae.model.errors import SetupError
from horae.testing.processes import alive
from horae.worker import tree
from horae.worker.config import AgentConfig
from horae.worker.deadman import DeadMan
from horae.worker.errands.quarters import MARK, Quarters, default_state, open_quarters, remove_folder
from horae.worker.sandbox.cgroups import group_name
from horae.worker.sandbox.hierarchy import find_hierarchy
from horae.worker.sandbox.limits import Bounds
from horae.worker.sandbox.mounts import mount_memory

from .conftest import eventually, read
from .errand_runner import ShellRunner, script
from .stand_in import DEADLINE

SCRIPT = {"kind": "script"}


async def test_an_agent_that_lives_is_not_taken_for_dead(tmp_path):
    first, second = Quarters(tmp_path), Quarters(tmp_path)
    assert (first.dead, second.dead) == ((), ())
    assert first.cache == second.cache
    await first.close()
    await second.close()
    assert list((tmp_path / "agents").iterdir()) == []


async def test_only_one_agent_cleans_up_after_a_dead_one(tmp_path):
    dead = tmp_path / "agents" / "dead"
    dead.mkdir(parents=True, mode=0o700)
    first, second = Quarters(tmp_path), Quarters(tmp_path)
    assert (first.dead, second.dead) == (("dead",), ())
    await first.remove_dead()
    assert not dead.exists()
    for quarters in (first, second):
        await quarters.close()


async def test_what_could_not_be_cleaned_up_is_for_the_next_start(tmp_path):
    (tmp_path / "agents" / "dead").mkdir(parents=True, mode=0o700)
    for _ in range(2):
        quarters = Quarters(tmp_path)
        assert quarters.dead == ("dead",)
        await quarters.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
async def test_mounts_and_control_groups_of_a_dead_agent_go_whatever_this_host_runs(tmp_path):
    """Its containers may have been run by an engine that is no longer here."""
    agent = f"dead{os.getpid()}"
    disk = tmp_path / "agents" / agent / "job.1" / "disk"
    disk.mkdir(parents=True)
    mount_memory(disk, size=4096, files=10)
    (tmp_path / "agents").chmod(0o700)
    hierarchy = find_hierarchy(below_own=False).hierarchy
    hierarchy.create(group_name(agent, "job", 1), Bounds())
    quarters = Quarters(tmp_path)
    await quarters.remove_dead()
    assert not disk.parents[1].exists()
    assert str(tmp_path) not in Path("/proc/self/mountinfo").read_text()
    assert not any(agent in name for name in hierarchy.names())
    await quarters.close()


async def test_a_worker_of_functions_cleans_up_after_a_dead_agent_too(tmp_path):
    config = AgentConfig(name="w", state=str(tmp_path))
    assert open_quarters(config) is None
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "agents" / "dead").mkdir(parents=True, mode=0o700)
    quarters = open_quarters(config)
    assert quarters is not None
    assert quarters.dead == ("dead",)
    await quarters.remove_dead()
    await quarters.close()
    assert open_quarters(config) is None


def test_a_folder_that_others_can_write_is_refused(tmp_path):
    tmp_path.joinpath("cache").mkdir()
    tmp_path.joinpath("cache").chmod(0o777)
    with pytest.raises(SetupError, match="only this user can write"):
        Quarters(tmp_path)


def test_the_state_folder_suits_the_user(tmp_path):
    assert default_state({"HOME": "/home/x"}, 0) == Path("/var/lib/horae-worker")
    assert default_state({"HOME": "/home/x"}, 7) == Path("/home/x/.local/state/horae/worker")
    assert default_state({"HOME": "/home/x", "XDG_STATE_HOME": "/s"}, 7) == Path("/s/horae/worker")
    assert default_state({}, 7).name == "horae-worker-7"


def test_a_folder_is_removed_whatever_is_in_it_and_no_link_is_followed(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").touch()
    folder = tmp_path / "folder"
    (folder / "locked").mkdir(parents=True)
    (folder / "link").symlink_to(outside)
    (folder / "locked" / "file").symlink_to(outside / "file")
    (folder / "locked").chmod(0)

    with contextlib.chdir(folder):
        for _ in range(2000):
            Path("d").mkdir()
            os.chdir("d")
    remove_folder(folder)
    assert not folder.exists()
    assert (outside / "file").exists()


async def test_a_keeper_ends_what_carries_the_mark_though_it_was_told_of_nothing():
    """The agent may die after it has started a process and before it has said so."""
    keeper = DeadMan(f"{MARK}=an-agent/")
    process = await asyncio.create_subprocess_exec("sleep", "600", env={MARK: "an-agent/job/1"})
    try:
        await asyncio.to_thread(keeper.close)
        assert await asyncio.wait_for(process.wait(), DEADLINE) == -signal.SIGKILL
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()


@pytest.fixture
def launch(server, tmp_path):
    """Starts an agent in a process of its own that runs scripts."""
    processes = []

    async def launch():
        file = Path(__file__).parent / "agent_process.py"
        process = await asyncio.create_subprocess_exec(
            sys.executable, str(file), server.url, "", str(tmp_path / "state"), start_new_session=True
        )
        processes.append(process)
        return process

    yield launch
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            process.kill()


async def test_a_killed_agents_errands_die_with_it_and_its_folder_goes_at_the_next_start(
    server, launch, hire, tmp_path
):
    cleaned = []

    class Noting(ShellRunner):
        async def prepare(self):
            cleaned.append((self.kind, self.quarters.dead))
            return await super().prepare()

    detached = f"setsid sh -c 'echo $$ >> {tmp_path}/pids; exec sleep 600' &"
    server.tasks["s"] = script(f"{detached} echo $$ >> {tmp_path}/pids; wait")
    process = await launch()
    await server.submit("s", needs=SCRIPT)
    pids = await eventually(lambda: len(read(tmp_path / "pids").split()) == 2 and read(tmp_path / "pids").split())
    process.kill()
    await process.wait()
    await eventually(lambda: not any(alive(int(pid)) for pid in pids))
    (left,) = (tmp_path / "state" / "agents").iterdir()
    await hire(make_runner=Noting)
    await server.until(lambda: len(server.joins) == 2)
    assert not left.exists()
    assert [dead for _, dead in cleaned] == [(left.name,)] * 3, "each runner was asked, though only one is offered"


async def test_what_outlived_agent_and_keeper_is_killed_at_the_next_start(server, launch, hire, tmp_path):
    server.tasks["s"] = script(f"echo $$ > {tmp_path}/pid; exec sleep 600")
    process = await launch()
    await server.submit("s", needs=SCRIPT)
    pid = int(await eventually(lambda: read(tmp_path / "pid")))
    keeper = next(child for child in tree.children_of(process.pid) if b"keeper" in cmdline(child))
    tree.send(keeper, signal.SIGSTOP)
    tree.send(process.pid, signal.SIGKILL)
    tree.send(keeper, signal.SIGKILL)
    await process.wait()
    assert alive(pid)
    await hire()
    await server.until(lambda: len(server.joins) == 2)
    assert not alive(pid)


async def test_agents_killed_at_any_moment_leave_nothing_that_the_next_does_not_remove(server, launch, tmp_path):
    server.tasks["s"] = script("mkdir output; sleep 0.0$(($$ % 9)); (sleep 600 > /dev/null 2>&1 &); echo 1 > result")
    chance, lives = random.Random(), set()
    for round_ in range(4):
        process = await launch()
        await server.until(lambda joined=round_ + 1: len(server.joins) == joined)
        for _ in range(20):
            await server.submit("s", needs=SCRIPT)
        enough = len(server.finished) + chance.randrange(12)  # What it is about is that the moment is any.
        await server.until(lambda enough=enough: len(server.finished) >= enough)
        lives |= {folder.name for folder in (tmp_path / "state" / "agents").iterdir()}
        process.kill()
        await process.wait()
    last = await launch()
    await server.until(lambda: len(server.joins) == 5)
    last.terminate()
    assert await asyncio.wait_for(last.wait(), DEADLINE) == 0
    assert list((tmp_path / "state" / "agents").iterdir()) == []
    assert len(lives) == 4
    assert [tree.marked(f"{MARK}={life}/") for life in lives] == [[]] * 4


def cmdline(pid):
    return Path(f"/proc/{pid}/cmdline").read_bytes()
