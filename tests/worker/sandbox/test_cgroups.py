"""Control groups: the real ones of this host, and what the files of the other version say."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from horae.worker import tree
from horae.worker.sandbox import cgroup1, cgroup2
from horae.worker.sandbox.cgroup2 import Group2
from horae.worker.sandbox.cgroups import clear, group_name, parse_keyed, sweep
from horae.worker.sandbox.hierarchy import find_hierarchy
from horae.worker.sandbox.limits import Bounds

MIB = 2**20


@pytest.fixture
def hierarchy():
    found = find_hierarchy()
    assert found.hierarchy is not None, found.reason
    return found.hierarchy


@pytest.fixture
def name(tmp_path):
    return group_name(f"test{os.getpid()}{tmp_path.name[-4:]}".replace("-", ""), "job", 1)


def enter(group, *command: str) -> subprocess.Popen:
    """As the launcher does it: in before the program starts."""
    joins = "; ".join(f"echo $$ > {entrance}" for entrance in group.entrances)
    return subprocess.Popen(["sh", "-c", f'{joins}; exec "$@"', "sh", *command], start_new_session=True)


def test_what_is_in_a_group_is_killed_together_and_the_group_is_gone(hierarchy, name):
    group = hierarchy.create(name, Bounds())
    process = enter(group, "sh", "-c", "sleep 600 & setsid sleep 600 & wait")
    while len(group.pids()) < 3:
        assert process.poll() is None
    members = group.pids()
    clear(group)
    assert process.wait() == -signal.SIGKILL
    assert not [pid for pid in members if (seen := tree.look(pid)) and seen.alive]
    assert name not in hierarchy.names()


def test_the_use_of_a_group(hierarchy, name):
    group = hierarchy.create(name, Bounds())
    enter(group, sys.executable, "-c", "x = bytearray(30_000_000)\nfor i in range(2_000_000): pass").wait()
    reading = group.read()
    clear(group)
    assert reading.cpu > 0.02
    assert 30_000_000 < reading.peak_memory < 100_000_000
    assert (reading.ooms, reading.refused) == (0, 0)


def test_memory_and_processes_that_were_refused_are_counted(hierarchy, name):
    group = hierarchy.create(name, Bounds(memory=20 * MIB, processes=3))
    enter(group, sys.executable, "-c", "bytearray(100_000_000)").wait()
    enter(group, "sh", "-c", "sleep 1 & sleep 1 & sleep 1 & sleep 1 & sleep 1 & sleep 1").wait()
    reading = group.read()
    clear(group)
    assert reading.ooms >= 1
    assert reading.refused >= 1


def test_a_limit_can_be_changed_both_ways(hierarchy, name):
    group = hierarchy.create(name, Bounds(memory=100 * MIB))
    for memory in (10 * MIB, 500 * MIB):
        group.limit(Bounds(memory=memory))
        process = enter(group, sys.executable, "-c", "bytearray(60_000_000)")
        assert (process.wait() == 0) is (memory > 100 * MIB)
    clear(group)


def test_a_process_is_found_in_the_group_it_is_in(hierarchy, name):
    group = hierarchy.create(name, Bounds())
    process = enter(group, "sleep", "600")
    while not group.pids():
        assert process.poll() is None
    assert process.pid in hierarchy.group_of(process.pid).pids()
    clear(group)
    process.wait()
    assert hierarchy.group_of(process.pid) is None


def test_only_groups_of_dead_agents_are_swept(hierarchy, name):
    agent = name.split("-")[1]
    mine, others = hierarchy.create(name, Bounds()), hierarchy.create(group_name("alive", agent, 1), Bounds())
    process = enter(mine, "sleep", "600")
    while not mine.pids():
        assert process.poll() is None
    assert sweep(hierarchy, [agent]) == 1
    assert process.wait() == -signal.SIGKILL
    assert name not in hierarchy.names()
    assert group_name("alive", agent, 1) in hierarchy.names()
    clear(others)


def test_at_the_root_a_group_has_the_same_path_in_every_tree(name):
    hierarchy = find_hierarchy(below_own=False).hierarchy
    group = hierarchy.create(name, Bounds())
    assert {Path(entrance).parts[-2] for entrance in group.entrances} == {name}
    assert len({len(Path(entrance).parts) for entrance in group.entrances}) == 1
    clear(group)


# Version 2, of which this host may have only the bare tree.


def test_the_bare_tree_of_version_2_kills_and_removes(name):
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    mount = next((line.split()[4] for line in lines if " cgroup2 " in line), None)
    if mount is None:
        pytest.skip("no tree of version 2 is mounted here")
    folder = Path(mount) / name
    folder.mkdir()
    group = Group2(folder)
    process = enter(group, "sh", "-c", "sleep 600 & wait")
    while len(group.pids()) < 2:
        assert process.poll() is None
    clear(group)
    assert process.wait() == -signal.SIGKILL
    assert not folder.exists()


def test_limits_and_use_in_the_files_of_version_2(tmp_path):
    group = Group2(tmp_path / "group")
    group.make(Bounds(memory=64 * MIB, cpu=1.5, processes=10))
    written = {path.name: path.read_text() for path in (tmp_path / "group").iterdir()}
    assert written == {
        "memory.max": str(64 * MIB),
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "cpu.max": "150000 100000",
        "pids.max": "12",
    }
    for name, text in (
        ("cpu.stat", "usage_usec 2500000\nuser_usec 1\n"),
        ("memory.peak", "4096\n"),
        ("memory.events", "low 0\nhigh 0\nmax 7\noom 1\noom_kill 2\noom_group_kill 1\n"),
        ("pids.events", "max 5\n"),
        ("io.stat", "254:0 rbytes=100 wbytes=7 rios=1 wios=1 dbytes=0 dios=0\n8:0 rbytes=1 wbytes=2 rios=1 wios=1\n"),
    ):
        (tmp_path / "group" / name).write_text(text)
    reading = group.read()
    assert (reading.cpu, reading.peak_memory, reading.ooms, reading.refused) == (2.5, 4096, 2, 5)
    assert (reading.read_bytes, reading.written_bytes) == (101, 9)


MOUNT2 = "29 23 0:26 {root} {at} rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"


def test_the_agents_own_group_of_version_2_is_found(tmp_path):
    own = tmp_path / "system.slice/horae.service"
    own.mkdir(parents=True)
    (own / "cgroup.controllers").write_text("cpu io memory pids\n")
    found = cgroup2.find(MOUNT2.format(root="/", at=tmp_path), "/system.slice/horae.service")
    assert found is not None
    assert found._base == own
    settled = cgroup2.find(MOUNT2.format(root="/", at=tmp_path), "/system.slice/horae.service/horae-agent")
    assert settled._base == own


def test_in_a_container_the_tree_begins_at_its_own_group(tmp_path):
    (tmp_path / "cgroup.controllers").write_text("cpu memory pids\n")
    found = cgroup2.find(MOUNT2.format(root="/docker/abc", at=tmp_path), "/docker/abc")
    assert found._base == tmp_path


def test_a_tree_without_the_controllers_is_none(tmp_path):
    (tmp_path / "cgroup.controllers").write_text("hugetlb\n")
    assert cgroup2.find(MOUNT2.format(root="/", at=tmp_path), "/") is None


def test_settling_moves_the_agent_out_of_the_way_and_nobody_else(tmp_path):
    (tmp_path / "cgroup.controllers").write_text("cpu io memory pids\n")
    (tmp_path / "cgroup.events").write_text("populated 1\n")
    (tmp_path / "cgroup.procs").write_text(f"1\n{os.getpid()}\n")
    cgroup2.Hierarchy2(tmp_path, "/", tmp_path).settle()
    assert (tmp_path / "horae-agent/cgroup.procs").read_text() == str(os.getpid())
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+cpu +io +memory +pids"


def test_the_root_needs_no_moving(tmp_path):
    (tmp_path / "cgroup.controllers").write_text("cpu memory pids\n")
    (tmp_path / "cgroup.procs").write_text(f"{os.getpid()}\n")
    cgroup2.Hierarchy2(tmp_path, "/", tmp_path).settle()
    assert not (tmp_path / "horae-agent").exists()
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+cpu +memory +pids"


# What the kernel writes.


def test_paths_of_version_1():
    assert cgroup1.parse_membership("9:name=systemd:/\n4:memory:/a/b\n2:cpu,cpuacct:/c\n0::/x\n") == {
        "name=systemd": "/", "memory": "/a/b", "cpu": "/c", "cpuacct": "/c", "": "/x"
    }  # fmt: skip


def test_bytes_read_and_written():
    assert cgroup1.parse_blkio("254:0 Read 10\n254:0 Write 5\n8:0 Read 1\n254:0 Sync 9\nTotal 16\n") == (11, 5)
    assert cgroup1.parse_blkio("") == cgroup2.parse_io("") == (None, None)


def test_counts():
    assert parse_keyed("oom_kill_disable 0\nunder_oom 0\noom_kill 3\nodd\n") == {
        "oom_kill_disable": 0, "under_oom": 0, "oom_kill": 3
    }  # fmt: skip
