"""Whose output it is, and how much of it arrives."""

import os
from pathlib import Path

from horae.model.states import End


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def test_output_in_a_batch_goes_to_the_job_that_wrote_it_and_before_its_completion(server, start):
    await start()
    await server.done(*await server.submit_many("say", [{"text": "warm"}] * 20))
    jobs = await server.submit_many("say", [{"text": f"I am {n}"} for n in range(60)])
    await server.done(*jobs)
    assert [server.text(job, "stdout") for job in jobs] == [f"I am {n}\n" for n in range(60)]
    assert all(server.order.index(f"log:{job}") < server.order.index(job) for job in jobs)


async def test_logging_goes_to_stderr_with_its_level_and_name(server, start):
    await start()
    done = await server.run("say_on_both", text="hello")
    assert server.text(done.id, "stdout") == "hello\n"
    assert server.text(done.id, "stderr") == "INFO mine: hello\n"


async def test_output_of_subprocesses_goes_to_the_job_that_started_them(server, start):
    await start()
    await server.done(*await server.submit_many("say_by_subprocess", [{"text": "warm"}] * 3))
    jobs = await server.submit_many("say_by_subprocess", [{"text": f"I am {n}"} for n in range(15)])
    await server.done(*jobs)
    assert [server.text(job) for job in jobs] == [f"I am {n}\n" for n in range(15)]


async def test_coroutines_that_print_by_turns_are_told_apart(server, start):
    await start()
    jobs = await server.submit_many("say_slowly", [{"text": letter} for letter in "abcd"])
    await server.done(*jobs)
    assert [server.text(job) for job in jobs] == [f"{letter * 5}\n" for letter in "abcd"]


async def test_output_arrives_while_the_job_runs_even_half_a_line(server, start, tmp_path):
    await start()
    gate = tmp_path / "gate"
    job = await server.submit("talk_and_wait", path=str(gate))
    await server.until(lambda: server.text(job) == "now\nhalf a line")
    assert job not in server.finished
    gate.touch()
    await server.done(job)
    assert server.text(job) == "now\nhalf a line, the other half\n"


async def test_bytes_that_are_no_text_are_replaced(server, start):
    await start()
    done = await server.run("bytes_that_are_no_text")
    assert server.text(done.id) == "ok \ufffd \ufffd end\n"


async def test_a_task_that_closes_stdout_spoils_it_for_nobody_else(server, start):
    await start()
    first = await server.run("close_stdout")
    second = await server.run("say", text="still here")
    assert (first.end, second.end) == (End.SUCCEEDED, End.SUCCEEDED)
    assert server.text(second.id) == "still here\n"


async def test_a_flood_is_cut_in_the_middle_with_a_remark_and_memory_stays_bounded(server, start):
    await start(log_limit=100_000)
    await server.run("nothing")
    before = _resident()
    done = await server.run("flood", lines=200)
    text = server.text(done.id)
    assert done.end is End.SUCCEEDED
    assert text.startswith("the beginning\nxxx")
    assert text.endswith("xxx\nthe end\n")
    (remark,) = [chunk.text for chunk in server.chunks if chunk.stream == "system"]
    assert "left out" in remark
    assert len(text) - len(remark) == 100_000
    assert _resident() - before < 64 * 1024 * 1024


async def test_heartbeats_go_on_during_a_flood(server, start):
    server.heartbeat_seconds = 0.02
    await start()
    await server.run("nothing")
    beats = len(server.beats)
    await server.run("flood", lines=300)
    assert len(server.beats) > beats


async def test_a_completion_does_not_wait_for_output_that_cannot_be_sent(server, start):
    await start()
    server.logs_down = True
    done = await server.run("say", text="unheard")
    assert done.end is End.SUCCEEDED
    server.logs_down = False
    await server.until(lambda: server.text(done.id) == "unheard\n")
