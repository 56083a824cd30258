"""Processes that die under their jobs."""

import gc
from pathlib import Path

from horae.model.states import End
from horae.testing.processes import alive
from horae.worker import orphans, tree

from .conftest import eventually, read


async def test_an_exit_is_a_crash_with_evidence(server, start):
    await start()
    done = await server.run("die")
    assert (done.end, done.error.kind) == (End.CRASHED, "exit")
    assert "status 7" in done.error.message
    assert "last words" in done.error.traceback


async def test_a_signal_is_a_crash_and_the_next_job_gets_a_fresh_process(server, start):
    await start()
    done = await server.run("be_killed")
    assert (done.end, done.error.kind) == (End.CRASHED, "crash")
    assert "SIGSEGV" in done.error.message
    assert (await server.run("nothing")).end is End.SUCCEEDED


async def test_a_crash_in_a_batch_harms_neither_the_jobs_before_it_nor_those_behind(server, start, tmp_path):
    await start()
    path = str(tmp_path / "ran")
    # Teaches the agent that this task is quick, so that the next ones travel together.
    await server.done(*await server.submit_many("crash_if", [{"path": path, "number": -1, "crash": False}] * 20))
    params = [{"path": path, "number": n, "crash": n == 25} for n in range(50)]
    jobs = await server.submit_many("crash_if", params)
    ends = [done.end for done in await server.done(*jobs)]
    assert ends[25] is End.CRASHED
    assert ends[:25] + ends[26:] == [End.SUCCEEDED] * 49
    ran = [int(line) for line in read(tmp_path / "ran").split() if line != "-1"]
    assert sorted(ran) == [n for n in range(50) if n != 25], "each ran once"


async def test_a_process_that_a_job_left_behind_is_ended(server, start, tmp_path):
    await start()
    await server.run("leave_a_process", path=str(tmp_path / "pid"))
    pid = int(read(tmp_path / "pid"))
    await eventually(lambda: not alive(pid))
    assert (await server.run("nothing")).end is End.SUCCEEDED


async def test_an_app_that_raises_at_import_stops_the_agent_with_its_message(server, start, tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text("raise RuntimeError('no database here')")
    running = await start(spec=str(broken))
    error = (await eventually(lambda: running.task.done() and running.task)).exception()
    assert error.code == "setup"
    assert "no database here" in error.detail
    assert not server.joins


async def test_an_app_that_ends_the_process_at_import_stops_the_agent(server, start, tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text("import os; os._exit(9)")
    running = await start(spec=str(broken))
    error = (await eventually(lambda: running.task.done() and running.task)).exception()
    assert error.code == "setup"
    assert "status 9" in error.detail


async def test_an_app_without_tasks_stops_the_agent(server, start, tmp_path):
    empty = tmp_path / "empty.py"
    empty.write_text("from horae import App; app = App()")
    running = await start(spec=str(empty))
    error = (await eventually(lambda: running.task.done() and running.task)).exception()
    assert error.code == "setup"
    assert "no tasks" in error.detail


async def test_a_child_is_replaced_after_its_share_of_jobs(server, start):
    await start(max_jobs_per_child=5)
    pids: list[bytes] = []
    while len(set(pids)) < 3:
        pids.append(bytes((await server.run("pid")).result))
    assert pids.count(pids[0]) >= 5


async def test_a_child_that_holds_much_memory_is_replaced(server, start):
    await start(max_child_memory=1)
    pids = {bytes((await server.run("pid")).result)}
    while len(pids) < 2:
        pids.add(bytes((await server.run("pid")).result))


async def test_replaced_children_leave_nothing_open(server, start):
    await start()
    await server.run("die")
    await server.run("nothing")
    before, deaths = descriptors(), 6
    for _ in range(deaths):
        await server.run("die")
    await server.run("nothing")
    assert descriptors() < before + deaths


def descriptors() -> int:
    """How many are open, besides what earlier tests have left to the collector."""
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_of_a_daemon_that_a_job_left_behind_no_zombie_stays(server, start, tmp_path, monkeypatch):
    monkeypatch.setattr(orphans, "LONG", 0.0)
    await start()
    await server.run("leave_a_daemon", path=str(tmp_path / "pid"))
    daemon = int(read(tmp_path / "pid"))
    await eventually(lambda: not alive(daemon))
    await server.run("die")  # The dead daemon comes to the agent now.
    await eventually(lambda: tree.look(daemon) is None)
