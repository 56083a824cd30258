"""Cancellation and timeouts end the whole tree, and only then are reported."""

from horae.model.states import End
from horae.model.work import CancelOrder
from horae.testing.processes import alive

from .conftest import eventually, read


async def test_cancel_runs_the_finally_blocks(server, start, tmp_path):
    await start()
    path = tmp_path / "state"
    job = await server.submit("tidy", path=str(path))
    await eventually(lambda: read(path) == "started")
    server.cancels.append(CancelOrder(job, 1, "not needed"))
    (done,) = await server.done(job)
    assert (done.end, done.error.message) == (End.CANCELLED, "not needed")
    assert read(path) == "tidied"


async def test_a_cancel_of_another_attempt_is_ignored(server, start, tmp_path):
    await start()
    path = tmp_path / "go"
    job = await server.submit("wait_for", path=str(path), attempt=2)
    await server.until(lambda: any(beat.running for beat in server.beats))
    server.cancels.append(CancelOrder(job, 1, "old"))
    seen = len(server.beats)
    await server.until(lambda: len(server.beats) > seen + 3)
    path.touch()
    (done,) = await server.done(job)
    assert done.end is End.SUCCEEDED


async def test_the_task_can_see_that_it_is_cancelled(server, start):
    await start()
    job = await server.submit("watch_flag")
    await server.until(lambda: any(beat.running for beat in server.beats))
    server.cancels.append(CancelOrder(job, 1, ""))
    (done,) = await server.done(job)
    assert done.end is End.CANCELLED


async def test_a_timeout_interrupts_the_task_and_its_process_is_replaced(server, start, tmp_path):
    await start()
    before = bytes((await server.run("pid")).result)
    path = tmp_path / "state"
    done = await server.run("tidy", timeout=3.0, path=str(path))
    assert done.end is End.TIMEOUT
    assert "3 s" in done.error.message
    assert done.took >= 3
    assert read(path) == "tidied"
    assert bytes((await server.run("pid")).result) != before


async def test_a_timeout_ends_a_task_that_ignores_sigterm_and_its_daemon(server, start, tmp_path):
    await start(grace=0.5)
    path = tmp_path / "pid"
    done = await server.run("stubborn", timeout=3.0, path=str(path))
    assert done.end is End.TIMEOUT
    assert not alive(int(read(path))), "the daemon was gone before the end was reported"


async def test_a_job_that_waits_is_cancelled_without_starting(server, start, tmp_path):
    await start()
    gate, ran = tmp_path / "gate", tmp_path / "ran"
    await server.done(*await server.submit_many("wait_if", [{"path": str(gate), "wait": False}] * 20))
    await server.done(*await server.submit_many("append", [{"path": str(ran), "text": "warm"}] * 20))
    blocker = await server.submit("wait_if", path=str(gate), wait=True)
    doomed = await server.submit("append", path=str(ran), text="doomed")
    await server.until(lambda: (doomed, 1) in server.leased)
    server.cancels.append(CancelOrder(doomed, 1, "no"))
    (done,) = await server.done(doomed)
    assert (done.end, done.error.message) == (End.CANCELLED, "no")
    assert blocker not in server.finished
    gate.touch()
    await server.done(blocker)
    assert "doomed" not in read(ran)


async def test_jobs_behind_a_long_one_go_to_another_child(server, start, tmp_path):
    await start(slots=2)
    gate = tmp_path / "gate"
    quick = {"path": str(gate), "wait": False}
    await server.done(*await server.submit_many("wait_if", [quick] * 50))
    # One batch for each child; the first job of the first one blocks.
    jobs = await server.submit_many("wait_if", [{"path": str(gate), "wait": True}] + [quick] * 40)
    others = {bytes(done.result) for done in await server.done(*jobs[1:])}
    assert jobs[0] not in server.finished
    gate.touch()
    (first,) = await server.done(jobs[0])
    assert first.end is End.SUCCEEDED
    assert bytes(first.result) not in others or len(others) == 2


async def test_a_coroutine_is_cancelled_alone(server, start, tmp_path):
    await start()
    path, other = tmp_path / "state", tmp_path / "other"
    job, neighbour = await server.submit_many("sleep_long", [{"path": str(path)}, {"path": str(other)}])
    await eventually(lambda: read(path) == read(other) == "started")
    server.cancels.append(CancelOrder(job, 1, ""))
    (done,) = await server.done(job)
    assert done.end is End.CANCELLED
    assert read(path) == "tidied"
    assert read(other) == "started"
    assert neighbour not in server.finished


async def test_a_coroutine_that_does_not_heed_its_timeout_takes_its_process_down(server, start, tmp_path):
    await start(grace=0.3, drain_timeout=0.3)
    job = await server.submit("deaf", timeout=0.3, path=str(tmp_path / "state"))
    (done,) = await server.done(job)
    assert done.end is End.TIMEOUT
    assert (await server.run("meet", count=1)).end is End.SUCCEEDED


async def test_coroutines_run_side_by_side_in_one_process(server, start):
    await start(async_slots=20)
    done = await server.done(*await server.submit_many("meet", [{"count": 10}] * 10))
    assert len({bytes(one.result) for one in done}) == 1
