"""How jobs end, as the server hears of it."""

import msgspec

from horae.model.states import End


async def test_a_job_that_succeeds_brings_its_result_and_its_times(server, start):
    await start()
    done = await server.run("add", a=2, b=3)
    assert done.end is End.SUCCEEDED
    assert msgspec.json.decode(done.result) == 5
    assert 0 <= done.took < 5
    assert done.waited > 0
    assert done.lane == 7


async def test_an_exception_is_an_error_with_the_users_frames_only(server, start):
    await start()
    done = await server.run("fail", text="boom")
    assert done.end is End.ERROR
    assert (done.error.kind, done.error.message) == ("ValueError", "boom")
    assert "raise ValueError(text)" in done.error.traceback
    assert "horae/worker" not in done.error.traceback
    assert "horae/client" not in done.error.traceback


async def test_long_or_odd_messages_are_cut_and_cleaned(server, start):
    await start()
    done = await server.run("fail", text="\0" + "x" * 100_000)
    assert len(done.error.message) == 2_000
    assert "\0" not in done.error.message
    assert len(done.error.traceback) <= 16_001


async def test_fatal_is_not_to_be_tried_again(server, start):
    await start()
    done = await server.run("fail_for_good")
    assert (done.end, done.error.message) == (End.FATAL, "useless")


async def test_retry_carries_the_time_it_asks_for(server, start):
    await start()
    done = await server.run("ask_again")
    assert (done.end, done.retry_after) == (End.ERROR, 30.0)


async def test_params_that_do_not_fit_are_fatal(server, start):
    await start()
    done = await server.run("add", a="x", b=1)
    assert (done.end, done.error.kind) == (End.FATAL, "BadParams")


async def test_a_result_that_is_not_json_is_fatal(server, start):
    await start()
    done = await server.run("not_json")
    assert (done.end, done.error.kind) == (End.FATAL, "Unserialisable")


async def test_a_task_that_the_app_lacks_is_an_error(server, start):
    await start()
    done = await server.run("absent")
    assert (done.end, done.error.kind) == (End.ERROR, "UnknownTask")


async def test_sys_exit_is_an_error_and_the_process_goes_on(server, start):
    await start()
    before = (await server.run("pid")).result
    done = await server.run("exit_politely")
    assert (done.end, done.error.kind) == (End.ERROR, "SystemExit")
    assert bytes((await server.run("pid")).result) == bytes(before)


async def test_a_large_result_is_uploaded_before_its_completion(server, start):
    await start()
    done = await server.run("large", size=100_000)
    assert done.blob == 100_002
    assert done.result is msgspec.UNSET
    assert server.results[done.id] == b'"' + b"x" * 100_000 + b'"'


async def test_a_result_over_the_limit_is_fatal(server, start):
    await start()
    done = await server.run("large", size=64 * 1024 * 1024)
    assert (done.end, done.error.kind) == (End.FATAL, "ResultTooLarge")


async def test_cpu_and_memory_of_a_longer_job_are_measured_and_of_a_tiny_one_not(server, start):
    await start()
    assert (await server.run("nothing")).cpu is None
    done = await server.run("burn")
    assert 0.05 < done.cpu < 2
    assert done.peak_memory > 1_000_000


async def test_progress_reaches_the_server_while_the_job_runs_and_the_latest_counts(server, start, tmp_path):
    server.heartbeat_seconds = 5.0
    await start()
    job = await server.submit("report_progress", gate=str(tmp_path / "gate"))
    await server.until(lambda: any(p.done == 49 for p in server.progress))
    assert job not in server.finished
    last = server.progress[-1]
    assert (last.id, last.attempt, last.total, last.note) == (job, 1, 100.0, "half")
    (tmp_path / "gate").touch()
    await server.done(job)


async def test_a_checkpoint_is_durable_when_the_call_returns_and_the_next_attempt_sees_the_last(server, start):
    await start()
    job = await server.submit("save", checkpoint={"page": 6})
    (done,) = await server.done(job)
    assert msgspec.json.decode(done.result) == {"page": 6}
    assert msgspec.json.decode(server.checkpoints[job]) == {"page": 7}


async def test_a_refused_checkpoint_fails_the_attempt(server, start):
    server.refuse_checkpoints = True
    await start()
    done = await server.run("save")
    assert (done.end, done.error.kind) == (End.ERROR, "WrongState")


async def test_a_task_that_forks_and_returns_twice_ends_once(server, start):
    await start()
    done = await server.run("fork_and_return")
    assert bytes(done.result) == b"2"
    assert bytes((await server.run("add", a=1, b=1)).result) == b"2"
    assert not server.stale
