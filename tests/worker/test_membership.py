"""The worker's side of the lease: lost answers, fencing, rejoining, draining."""

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path

import pytest

from horae.model.errors import InvalidInput
from horae.model.states import End
from horae.testing.processes import alive
from horae.worker.agent import AgentConfig

from .conftest import APP, eventually, read


async def test_the_join_tells_tasks_and_slots(server, start):
    await start(slots=2, async_slots=30, labels={"disk": "ssd"}, region="eu")
    await server.until(lambda: server.joins)
    (join,) = server.joins
    assert {task.name for task in join.tasks} >= {"add", "meet"}
    assert (join.slots, join.labels, join.region, join.name) == (32, {"disk": "ssd"}, "eu", "here")


async def test_a_lost_answer_is_named_until_the_server_knows(server, start):
    server.break_fetches = 1
    await start()
    done = await server.run("nothing")
    assert server.break_fetches == 0
    assert len(server.lost) == 1
    assert (done.end, done.attempt) == (End.SUCCEEDED, 2)


async def test_a_completion_whose_call_broke_is_sent_again(server, start):
    await start()
    server.break_completions = "before"
    assert (await server.run("nothing")).end is End.SUCCEEDED
    assert server.break_completions is None
    assert not server.stale


async def test_a_completion_whose_answer_was_lost_is_stale_the_second_time_and_then_dropped(server, start):
    await start()
    server.break_completions = "after"
    done = await server.run("nothing")
    await server.until(lambda: server.stale)
    assert (await server.run("nothing")).end is End.SUCCEEDED
    assert [stale.id for stale in server.stale] == [done.id]


async def test_ends_that_pile_up_behind_a_slow_call_go_by_a_second_one(server, start):
    await start()
    await server.done(*await server.submit_many("nothing", [{}] * 200))
    server.hold_completions = True
    jobs = await server.submit_many("nothing", [{}] * 8000)
    await server.until(lambda: len(server.held) == 2)
    assert 2000 in server.held, "as many as one call takes"
    await server.let_go()
    await server.done(*jobs)
    assert not server.stale


async def test_whoever_cannot_report_takes_no_more_jobs(server, start):
    await start()
    await server.done(*await server.submit_many("nothing", [{}] * 200))
    server.hold_completions = True
    jobs = await server.submit_many("nothing", [{}] * 20_000)
    await server.until(lambda: server.held)
    server.beats.clear()

    def is_idle() -> bool:
        return len(server.beats) > 3 and not any(beat.running or beat.queued for beat in server.beats[-3:])

    await server.until(is_idle)
    assert len(server.ready) > 5000
    await server.let_go()
    await server.done(*jobs)


async def test_silence_ends_what_runs_before_the_lease_can_and_the_worker_joins_again(server, start, tmp_path):
    server.lease_seconds = 6.0
    await start(grace=30)
    path = tmp_path / "pid"
    await server.submit("stubborn", path=str(path))
    stray = int(await eventually(lambda: read(path)))
    server.mute = True
    await server.until(lambda: len(server.joins) >= 2)
    assert not alive(stray)
    server.mute = False
    server.gone.add(1)
    assert (await server.run("nothing")).end is End.SUCCEEDED
    assert len(server.finished) == 1, "the job that was given up is not reported"


async def test_gone_means_kill_and_join_again(server, start, tmp_path):
    await start(grace=30)
    path = tmp_path / "pid"
    await server.submit("stubborn", path=str(path))
    stray = int(await eventually(lambda: read(path)))
    server.gone.add(1)
    await server.until(lambda: len(server.joins) == 2)
    assert not alive(stray)
    assert (await server.run("nothing")).end is End.SUCCEEDED


async def test_stop_finishes_what_runs_hands_back_the_rest_and_leaves(server, start, tmp_path):
    running = await start()
    gate = tmp_path / "gate"
    await server.done(*await server.submit_many("wait_if", [{"path": str(gate), "wait": False}] * 20))
    jobs = await server.submit_many("wait_if", [{"path": str(gate), "wait": True}] * 10)
    await server.until(lambda: any(beat.running and beat.queued for beat in server.beats))
    held = [job for job, _ in server.leased]
    running.agent.stop()
    await server.until(lambda: len(server.leased) == 1)
    seen = len(server.beats)
    await server.until(lambda: len(server.beats) > seen)
    gate.touch()
    await asyncio.wait_for(running.task, 100)
    assert server.left == [1]
    (done,) = server.finished.keys() & held
    assert server.finished[done].end is End.SUCCEEDED
    assert set(held) - {done} <= set(server.handed_back)
    assert set(held) <= set(jobs)


async def test_a_second_stop_kills_and_leaves_at_once(server, start, tmp_path):
    running = await start(grace=300)
    path = tmp_path / "pid"
    job = await server.submit("stubborn", path=str(path))
    stray = int(await eventually(lambda: read(path)))
    running.agent.stop()
    running.agent.stop()
    await asyncio.wait_for(running.task, 100)
    assert not alive(stray)
    assert server.left == [1]
    assert job not in server.finished


async def test_the_server_can_drain_and_resume_a_worker(server, start):
    await start()
    await server.run("nothing")
    server.drain = True
    seen = len(server.beats)
    await server.until(lambda: len(server.beats) > seen + 1)
    job = await server.submit("nothing")
    seen = len(server.beats)
    await server.until(lambda: len(server.beats) > seen + 2)
    assert job not in server.finished
    server.drain = False
    (done,) = await server.done(job)
    assert done.end is End.SUCCEEDED


@pytest.fixture
async def agent_process(server):
    script = Path(__file__).parent / "agent_process.py"
    process = await asyncio.create_subprocess_exec(sys.executable, str(script), server.url, APP)
    yield process
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()


async def _start_daemon(server, process, tmp_path):
    """Makes the agent run a job with a daemon; the pids of that and of its children, the keeper included."""
    path = tmp_path / "pid"
    await server.submit("stubborn", path=str(path))
    stray = int(await eventually(lambda: read(path)))
    children = [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
    return [stray, *children]


async def test_a_killed_agent_takes_everything_along(server, agent_process, tmp_path):
    pids = await _start_daemon(server, agent_process, tmp_path)
    agent_process.kill()
    await agent_process.wait()
    await eventually(lambda: not any(alive(pid) for pid in pids))


async def test_a_frozen_agents_children_are_ended_when_its_time_is_up(server, agent_process, tmp_path):
    server.lease_seconds = 6.0
    pids = await _start_daemon(server, agent_process, tmp_path)
    agent_process.send_signal(signal.SIGSTOP)
    await eventually(lambda: not alive(pids[0]))
    # Its first membership is over; thawed, it notices and starts afresh.
    server.gone.add(1)
    agent_process.send_signal(signal.SIGCONT)
    await server.until(lambda: len(server.joins) >= 2)
    assert (await server.run("nothing")).end is End.SUCCEEDED
    assert len(server.finished) == 1


async def test_a_keeper_that_dies_is_replaced(server, start):
    running = await start()
    await server.run("nothing")
    keeper = running.agent._dispatch.crew._keeper
    first = keeper.pid
    os.kill(first, signal.SIGKILL)
    await eventually(lambda: keeper.pid != first and alive(keeper.pid))


@pytest.mark.parametrize("setting", [{"slots": 0}, {"grace": -1}, {"log_limit": 10}, {"name": ""}])
def test_settings_that_cannot_work_are_refused(setting):
    with pytest.raises(InvalidInput):
        AgentConfig(**setting)
