"""Heavy jobs: what a worker starts always fits beside what it runs, and nothing starves."""

import random
from pathlib import Path

import msgspec
import pytest

from horae.model.states import End
from horae.model.work import CancelOrder

from .conftest import eventually, read

APP = str(Path(__file__).parent / "heavy_app.py") + ":app"
PATIENT = {"prefetch_seconds": 60.0}
"""Nothing goes back to the server because it waits here."""


async def test_a_wide_job_waits_for_its_slots_and_nothing_overtakes_it(server, start, tmp_path):
    diary, gate = tmp_path / "diary", tmp_path / "gate"
    first = await server.submit("stay", path=str(diary), name="first", gate=str(gate))
    wide = await server.submit("stay", path=str(diary), name="wide", needs={"slots": 3})
    behind = await server.submit("stay", path=str(diary), name="behind")
    await start(APP, slots=3, **PATIENT)
    await server.until(lambda: any((beat.running, beat.queued) == (1, 2) for beat in server.beats))
    seen = len(server.beats)
    await server.until(lambda: len(server.beats) > seen + 2)
    assert read(diary) == "+first\n"
    gate.touch()
    await server.done(first, wide, behind)
    assert read(diary).split() == ["+first", "-first", "+wide", "-wide", "+behind", "-behind"]


async def test_light_jobs_run_beside_a_heavy_one_in_the_slots_it_leaves(server, start, tmp_path):
    diary, gate = tmp_path / "diary", tmp_path / "gate"
    wide = await server.submit("stay", path=str(diary), name="wide", gate=str(gate), needs={"slots": 2})
    await start(APP, slots=3, **PATIENT)
    await eventually(lambda: "+wide" in read(diary))
    lights = [await server.submit("stay", path=str(diary), name=f"light{i}", seconds=0.02) for i in range(6)]
    await server.done(*lights)
    assert wide not in server.finished
    inside = [line for line in read(diary).split() if "light" in line]
    assert all(a[1:] == b[1:] for a, b in zip(inside[::2], inside[1::2], strict=True)), "one at a time"
    gate.touch()
    await server.done(wide)


async def test_a_memory_hog_waits_though_slots_are_free(server, start, tmp_path):
    diary, gate = tmp_path / "diary", tmp_path / "gate"
    for name in ("one", "two"):
        await server.submit("stay", path=str(diary), name=name, gate=str(gate), needs={"memory": 600})
    await start(APP, slots=4, memory=1000, **PATIENT)
    await server.until(lambda: any((beat.running, beat.queued) == (1, 1) for beat in server.beats))
    assert read(diary) == "+one\n"
    gate.touch()
    await server.until(lambda: len(server.finished) == 2)


async def test_an_exchange_tells_what_is_left(server, start, tmp_path):
    gate = tmp_path / "gate"
    await start(APP, slots=4, async_slots=9, cpus=8, memory=1000, gpus=2, disk=5000, **PATIENT)
    await server.until(lambda: server.free)
    assert server.free[0] is None, "an idle worker has all that it announced"
    join = server.joins[0]
    assert (join.cpus, join.memory, join.gpus, join.disk, join.slots, join.widest) == (8, 1000, 2, 5000, 13, 4)
    await server.submit(
        "stay", path=str(tmp_path / "d"), name="n", gate=str(gate), needs={"slots": 2, "memory": 300, "gpu": 0.5}
    )
    await server.until(lambda: any(beat.running for beat in server.beats))
    await server.until(lambda: server.free[-1] is not None)
    left = server.free[-1]
    assert (left.slots, left.cpu, left.memory, left.gpu, left.disk) == (2, 8, 700, 1.5, 5000)
    gate.touch()


async def test_a_job_that_wants_more_than_there_is_runs_alone(server, start, tmp_path):
    await start(APP, slots=2, memory=10)
    done = await server.run("stay", path=str(tmp_path / "d"), name="n", needs={"slots": 50, "memory": 99})
    assert done.end is End.SUCCEEDED


@pytest.mark.parametrize("seed", [1, 2])
async def test_whatever_comes_what_runs_together_fits(server, start, tmp_path, seed):
    diary, chance = tmp_path / "diary", random.Random(seed)
    needs = {}
    for number in range(60):
        heavy = {"slots": chance.randint(1, 3), "memory": chance.choice([0, 300, 600]), "gpu": chance.choice([0, 0.5])}
        needs[str(number)] = heavy if chance.random() < 0.5 else {"slots": 1, "memory": 0, "gpu": 0}
    asynchronous = {name for name in needs if chance.random() < 0.4}
    for name, need in needs.items():
        task = "float_by" if name in asynchronous else "stay"
        await server.submit(task, path=str(diary), name=name, seconds=chance.random() / 100, needs=need)
    await start(APP, slots=3, async_slots=4, memory=1000, gpus=1, **PATIENT)
    await server.until(lambda: len(server.finished) == len(needs))
    assert {done.end for done in server.finished.values()} == {End.SUCCEEDED}
    running: set[str] = set()
    for line in read(diary).split():
        (running.add if line[0] == "+" else running.discard)(line[1:])
        assert sum(needs[name]["slots"] for name in running - asynchronous) <= 3
        assert sum(needs[name]["slots"] for name in running & asynchronous) <= 4
        assert sum(needs[name]["memory"] for name in running) <= 1000
        assert sum(needs[name]["gpu"] for name in running) <= 1


@pytest.mark.parametrize(("task", "page"), [("travel", 7), ("drift", 8)])
async def test_a_moved_job_can_save_where_it_was_and_goes_on_from_there(server, start, tmp_path, task, page):
    await start(APP)
    path = tmp_path / "state"
    job = await server.submit(task, path=str(path))
    await eventually(lambda: read(path) == "started")
    server.cancels.append(CancelOrder(job, 1, "to the other host", move=True))
    (moved,) = await server.done(job)
    assert (moved.end, moved.error.kind, moved.error.message) == (End.MOVED, "moved", "to the other host")
    assert msgspec.json.decode(server.checkpoints[job]) == {"page": page}
    again = await server.submit(task, path=str(path), attempt=2, checkpoint={"page": page})
    (done,) = await server.done(again)
    assert bytes(done.result) == str(page).encode()


async def test_a_job_that_waits_is_moved_without_starting(server, start, tmp_path):
    diary, gate = tmp_path / "diary", tmp_path / "gate"
    first = await server.submit("stay", path=str(diary), name="first", gate=str(gate))
    waits = await server.submit("stay", path=str(diary), name="waits", needs={"slots": 2})
    await start(APP, slots=2, **PATIENT)
    await server.until(lambda: (waits, 1) in server.leased)
    server.cancels.append(CancelOrder(waits, 1, "", move=True))
    (moved,) = await server.done(waits)
    assert moved.end is End.MOVED
    gate.touch()
    await server.done(first)
    assert "waits" not in read(diary)


async def test_a_job_that_is_moved_and_cancelled_is_cancelled(server, start, tmp_path):
    await start(APP)
    path = tmp_path / "state"
    job = await server.submit("travel", path=str(path))
    await eventually(lambda: read(path) == "started")
    server.cancels[:] = [CancelOrder(job, 1, "away", move=True), CancelOrder(job, 1, "no more")]
    (done,) = await server.done(job)
    assert done.end is End.CANCELLED
    assert job not in server.checkpoints
