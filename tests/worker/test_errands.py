"""Jobs whose task is data: from the grant over the brief to the end, with real processes."""

import asyncio
import base64
import contextlib
import random
import re
from pathlib import Path

import msgspec
import pytest

from horae.model.errors import NotReady, SetupError, UnknownTask
from horae.model.kinds import Kind
from horae.model.states import End
from horae.model.work import CancelOrder, JobError
from horae.testing.processes import alive
from horae.worker.errands.errand import Outcome, Readiness

from .conftest import eventually, read
from .errand_runner import ShellRunner, call, script
from .stand_in import DEADLINE

HEAVY = str(Path(__file__).parent / "heavy_app.py") + ":app"
SCRIPT, HTTP = {"kind": "script"}, {"kind": "http"}
PATIENT = {"prefetch_seconds": 60.0}


async def up(server, job):
    """The job runs: it has written something."""
    await server.until(lambda: server.text(job))


async def test_a_script_runs_and_its_result_and_output_arrive(server, hire):
    server.tasks["s"] = script("echo hello; echo 42 > result")
    await hire()
    job = await server.submit("s", needs=SCRIPT)
    (done,) = await server.done(job)
    assert (done.end, bytes(done.result)) == (End.SUCCEEDED, b"42")
    assert server.text(job) == "hello\n"
    assert (done.cpu, done.peak_memory, done.usage.isolation, done.usage.version) == (0.5, 4096, "none", 3)
    assert (server.joins[0].kinds, server.joins[0].tasks, server.joins[0].slots) == (["script"], [], 1)


async def test_its_output_arrives_before_its_end(server, hire):
    server.tasks["s"] = script("echo hello")
    await hire()
    job = await server.submit("s", needs=SCRIPT)
    await server.done(job)
    assert server.order == [f"log:{job}", job]


async def test_a_large_result_is_uploaded_first(server, hire):
    server.tasks["s"] = script("printf '\"%050000d\"' 0 > result")
    await hire()
    (done,) = await server.done(await server.submit("s", needs=SCRIPT))
    assert (done.blob, done.result) == (50_002, msgspec.UNSET)
    assert server.results[done.id] == b'"' + b"0" * 50_000 + b'"'


async def test_a_result_that_is_not_json_fails_its_own_job_only(server, hire):
    server.tasks["bad"] = script("echo '{' > result")
    server.tasks["good"] = script("echo 1 > result")
    await hire()
    bad, good = await server.submit("bad", needs=SCRIPT), await server.submit("good", needs=SCRIPT)
    failed, succeeded = await server.done(bad, good)
    assert (failed.end, failed.error.message) == (End.ERROR, "the result is not JSON")
    assert succeeded.end is End.SUCCEEDED


async def test_secrets_leave_the_worker_in_no_form(server, hire):
    server.secrets = {"TOKEN": "hunter2-and-more"}
    server.tasks["s"] = script(
        'printf hunter2-; sleep 0.3; echo and-more; printf %s "$TOKEN" | base64; echo "\\"$TOKEN\\"" > result'
    )
    server.tasks["f"] = script('echo "say $TOKEN"; exit 3')
    await hire()
    job, failing = await server.submit("s", needs=SCRIPT), await server.submit("f", needs=SCRIPT)
    done, _ = await server.done(job, failing)
    assert bytes(done.result) == b'"***"'
    assert server.text(job) == "***\n***\n"
    assert server.text(failing) == "say ***\n"
    sent = msgspec.json.encode([server.finished, [chunk.text for chunk in server.chunks]])
    assert b"hunter2" not in sent
    assert base64.b64encode(b"hunter2-and-more") not in sent


async def test_a_refused_brief_ends_the_attempt_with_its_reason(server, hire):
    server.refuse_briefs = UnknownTask("the task s is gone")
    await hire()
    (done,) = await server.done(await server.submit("s", needs=SCRIPT))
    assert (done.end, done.error.kind, done.error.message) == (End.ERROR, "unknown_task", "the task s is gone")


async def test_a_brief_that_cannot_be_had_is_asked_for_again(server, hire):
    server.tasks["s"] = script("true")
    server.refuse_briefs = NotReady("starting")
    await hire()
    job = await server.submit("s", needs=SCRIPT)
    await server.until(lambda: len(server.briefed) > 2)
    assert job not in server.finished
    server.refuse_briefs = None
    (done,) = await server.done(job)
    assert done.end is End.SUCCEEDED


async def test_a_job_can_be_cancelled_while_its_brief_is_awaited(server, hire):
    server.refuse_briefs = NotReady("starting")
    await hire()
    job = await server.submit("s", needs=SCRIPT)
    await server.until(lambda: server.briefed)
    server.cancels.append(CancelOrder(job, 1, "no need"))
    (done,) = await server.done(job)
    assert (done.end, done.error.message) == (End.CANCELLED, "no need")


async def test_a_runner_that_breaks_fails_the_job_and_not_the_agent(server, hire):
    class Broken(ShellRunner):
        async def run(self, errand):
            if errand.brief.task.script.source == "break":
                raise ZeroDivisionError("of course")
            return await super().run(errand)

    server.tasks |= {"b": script("break"), "s": script("true")}
    await hire(make_runner=Broken)
    (broken,) = await server.done(await server.submit("b", needs=SCRIPT))
    assert (broken.end, broken.error.kind, broken.error.message) == (End.CRASHED, "ZeroDivisionError", "of course")
    (done,) = await server.done(await server.submit("s", needs=SCRIPT))
    assert done.end is End.SUCCEEDED


async def test_a_checkpoint_is_durable_and_progress_is_told(server, hire):
    class Telling(ShellRunner):
        async def run(self, errand):
            errand.progress(1, 4, "one")
            errand.progress(float("nan"), None, "never")
            await errand.checkpoint(b'{"page":1}')
            return await super().run(errand)

    server.tasks["s"] = script("true")
    await hire(make_runner=Telling)
    job = await server.submit("s", needs=SCRIPT)
    (done,) = await server.done(job)
    assert server.checkpoints[job] == b'{"page":1}'
    told = [*server.progress, *([done.progress] if done.progress else [])]
    assert [(p.done, p.total, p.note) for p in told] == [(1, 4, "one")]


async def test_a_note_is_masked_and_cut_short_so_that_no_job_can_fill_the_heartbeat(server, hire):
    class Chatty(ShellRunner):
        async def run(self, errand):
            errand.progress(1, None, "x" * 490 + "hunter2-and-more" + "y" * 1_000_000)
            return await super().run(errand)

    server.secrets = {"TOKEN": "hunter2-and-more"}
    server.tasks["s"] = script("true")
    await hire(make_runner=Chatty)
    (done,) = await server.done(await server.submit("s", needs=SCRIPT))
    (note,) = {p.note for p in [*server.progress, done.progress] if p}
    assert note == "x" * 490 + "***" + "y" * 7


async def test_an_errand_that_breaks_the_agents_part_shows_no_secret_and_frees_its_slot(server, hire, capsys):
    class Misshapen(ShellRunner):
        async def run(self, errand):
            if errand.grant.task == "s":
                return await super().run(errand)
            return Breaking(errand.brief.secrets["TOKEN"])

    class Breaking:
        def __init__(self, secret):
            self.secret = secret

        @property
        def end(self):
            raise ValueError(f"\ud800 {self.secret}")

    server.secrets = {"TOKEN": "hunter2-and-more"}
    server.tasks |= {"b": script(""), "s": script("true")}
    await hire(make_runner=Misshapen)
    (done,) = await server.done(await server.submit("b", needs=SCRIPT))
    assert (done.end, done.error.kind, done.error.message) == (End.CRASHED, "ValueError", "? ***")
    (done,) = await server.done(await server.submit("s", needs=SCRIPT))
    assert done.end is End.SUCCEEDED
    logged = "".join(capsys.readouterr())
    assert "errand_broke" in logged
    assert "hunter2" not in logged


async def test_what_a_broken_runner_says_is_masked_in_the_workers_log_too(server, hire, capsys):
    class Broken(ShellRunner):
        async def run(self, errand):
            raise ZeroDivisionError(f"dividing {errand.brief.secrets['TOKEN']}")

    server.secrets = {"TOKEN": "hunter2-and-more"}
    server.tasks["s"] = script("true")
    await hire(make_runner=Broken)
    (done,) = await server.done(await server.submit("s", needs=SCRIPT))
    assert done.error.message == "dividing ***"
    logged = "".join(capsys.readouterr())
    assert "ZeroDivisionError: dividing ***" in logged
    assert "hunter2" not in logged


# Stops.


async def test_a_cancelled_job_is_reported_when_its_process_is_gone(server, hire, tmp_path):
    server.tasks["s"] = script(f"echo $$ > {tmp_path}/pid; echo up; exec sleep 600")
    await hire()
    job = await server.submit("s", needs=SCRIPT)
    await up(server, job)
    server.cancels.append(CancelOrder(job, 1, "enough"))
    (done,) = await server.done(job)
    assert (done.end, done.error.message) == (End.CANCELLED, "enough")
    assert not alive(int(read(tmp_path / "pid")))


async def test_a_moved_job_ends_as_moved(server, hire):
    server.tasks["s"] = script("echo up; exec sleep 600")
    await hire()
    job = await server.submit("s", needs=SCRIPT)
    await up(server, job)
    server.cancels.append(CancelOrder(job, 1, move=True))
    (done,) = await server.done(job)
    assert done.end is End.MOVED


class Slow(ShellRunner):
    """Gets ready for longer than its job may run, or for ever."""

    seconds: float | None = 1.3

    async def run(self, errand):
        with errand.preparing():
            await asyncio.wait([errand.stop], timeout=self.seconds)
        if errand.stop.done():
            order = errand.stop.result()
            return Outcome(end=order.end, error=JobError(order.end.value, order.text))
        return await super().run(errand)


async def test_getting_ready_does_not_count_for_the_timeout(server, hire):
    await hire(make_runner=Slow)
    server.tasks["s"] = script("echo 1")
    (done,) = await server.done(await server.submit("s", timeout=1.0, needs=SCRIPT))
    assert done.end is End.SUCCEEDED
    server.tasks["s"] = script("sleep 60")
    (done,) = await server.done(await server.submit("s", timeout=1.0, needs=SCRIPT))
    assert (done.end, done.error.message) == (End.TIMEOUT, "it ran longer than its timeout of 1 s")


async def test_getting_ready_has_a_limit_of_its_own(server, hire, monkeypatch):
    monkeypatch.setattr("horae.worker.errands.errands.PREPARING_SECONDS", 0.3)
    monkeypatch.setattr(Slow, "seconds", None)
    await hire(make_runner=Slow)
    server.tasks["s"] = script("echo 1")
    (done,) = await server.done(await server.submit("s", needs=SCRIPT))
    assert (done.end, done.error.message) == (End.TIMEOUT, "getting ready for it took longer than 0.005 min")


async def test_a_timeout_kills_a_job_that_does_not_listen(server, hire, tmp_path):
    server.tasks["s"] = script(f"trap '' TERM; echo $$ > {tmp_path}/pid; while :; do sleep 1; done")
    await hire(grace=0.3)
    (done,) = await server.done(await server.submit("s", timeout=2.0, needs=SCRIPT))
    assert (done.end, done.error.message) == (End.TIMEOUT, "it ran longer than its timeout of 2 s")
    assert not alive(int(read(tmp_path / "pid")))
    assert done.took >= 2.0


async def test_a_runner_that_does_not_stop_is_cancelled_and_its_processes_killed(server, hire, tmp_path, monkeypatch):
    class Deaf(ShellRunner):
        async def run(self, errand):
            process = await self.spawn(errand)
            while process.returncode is None:
                with contextlib.suppress(asyncio.CancelledError):
                    await process.wait()

    monkeypatch.setattr("horae.worker.errands.errands.TIDY_SECONDS", 0.2)
    server.tasks["s"] = script(f"echo $$ > {tmp_path}/pid; sleep 600 & wait")
    await hire(make_runner=Deaf, grace=0.1)
    job = await server.submit("s", timeout=2.0, needs=SCRIPT)
    (done,) = await server.done(job)
    assert done.end is End.TIMEOUT
    assert not alive(int(read(tmp_path / "pid")))


async def test_a_worker_does_not_leave_before_a_runner_has_cleaned_up(server, hire, monkeypatch):
    """The job was told to stop, its runner cleans up, and just then the worker is told to leave at once."""
    cleaning, may_finish, cleaned = asyncio.Event(), asyncio.Event(), asyncio.Event()

    class Tidy(ShellRunner):
        async def run(self, errand):
            try:
                await asyncio.Event().wait()
            finally:
                cleaning.set()
                await may_finish.wait()
                cleaned.set()

    monkeypatch.setattr("horae.worker.errands.errands.TIDY_SECONDS", 2.0)
    server.tasks["s"] = script("true")
    running = await hire(make_runner=Tidy, grace=0.1)
    await server.submit("s", timeout=0.1, needs=SCRIPT)
    await asyncio.wait_for(cleaning.wait(), DEADLINE)
    running.agent.stop()
    running.agent.stop()
    asyncio.get_running_loop().call_later(0.5, may_finish.set)
    await asyncio.wait_for(running.task, DEADLINE)
    assert cleaned.is_set()


async def test_what_a_job_detached_is_gone_when_its_end_is_reported(server, hire, tmp_path):
    daemon = f"setsid sh -c 'echo $$ > {tmp_path}/pid; exec sleep 600' > /dev/null 2>&1 &"
    server.tasks["s"] = script(f"{daemon} until [ -s {tmp_path}/pid ]; do sleep 0.01; done")
    await hire()
    (done,) = await server.done(await server.submit("s", needs=SCRIPT))
    assert done.end is End.SUCCEEDED
    assert not alive(int(read(tmp_path / "pid")))


async def test_a_lost_lease_kills_everything_and_nothing_is_reported(server, hire, tmp_path):
    server.lease_seconds = 6.0
    server.tasks["s"] = script(f"echo $$ >> {tmp_path}/pids; trap '' TERM; sleep 600 & wait; sleep 600")
    running = await hire(slots=2, grace=600.0)
    for _ in range(2):
        await server.submit("s", needs=SCRIPT)
    await eventually(lambda: len(read(tmp_path / "pids").split()) == 2)
    server.gone.add(1)
    await server.until(lambda: len(server.joins) == 2)
    assert not any(alive(int(pid)) for pid in read(tmp_path / "pids").split())
    assert not server.finished
    assert not running.task.done()
    server.tasks["s"] = script("true")
    (done,) = await server.done(await server.submit("s", needs=SCRIPT))
    assert done.end is End.SUCCEEDED


async def test_a_worker_that_is_stopped_lets_errands_finish(server, hire, tmp_path):
    server.tasks["s"] = script(f"echo up; until [ -e {tmp_path}/gate ]; do sleep 0.02; done")
    running = await hire()
    job = await server.submit("s", needs=SCRIPT)
    await up(server, job)
    running.agent.stop()
    seen = len(server.beats)
    await server.until(lambda: len(server.beats) > seen + 2)
    assert not server.left, "it goes on heartbeating until the job has ended"
    (tmp_path / "gate").touch()
    await asyncio.wait_for(running.task, DEADLINE)
    assert server.finished[job].end is End.SUCCEEDED
    assert server.left == [1]


async def test_the_second_signal_ends_errands_at_once(server, hire, tmp_path):
    server.tasks["s"] = script(f"echo $$ > {tmp_path}/pid; trap '' TERM; sleep 600 & wait; sleep 600")
    running = await hire(grace=600.0)
    job = await server.submit("s", needs=SCRIPT)
    await eventually(lambda: read(tmp_path / "pid"))
    running.agent.stop()
    running.agent.stop()
    await asyncio.wait_for(running.task, DEADLINE)
    assert not alive(int(read(tmp_path / "pid")))
    assert job not in server.finished
    assert server.left == [1]


async def test_the_folder_of_an_errand_is_gone_with_it_and_the_agents_with_the_agent(server, hire, tmp_path):
    server.tasks["s"] = script("mkdir -p a/b; chmod 0 a/b a; pwd; touch /dev/null")
    running = await hire()
    job = await server.submit("s", needs=SCRIPT)
    await server.done(job)
    folder = Path(server.text(job).strip())
    assert folder.is_relative_to(tmp_path / "state")
    assert not folder.exists()
    running.agent.stop()
    await asyncio.wait_for(running.task, DEADLINE)
    assert list((tmp_path / "state" / "agents").iterdir()) == []


# Slots.


async def test_errands_and_functions_share_the_slots(server, hire, tmp_path):
    """Never more than four at once of both together, wide ones counted wide, and all of them run."""
    diary = tmp_path / "diary"
    server.tasks["s"] = script(f'echo "+s$PARAMS" >> {diary}; sleep 0.02; echo "-s$PARAMS" >> {diary}')
    await hire(HEAVY, slots=4, **PATIENT)
    await get_known(server, tmp_path)
    diary.unlink()
    width = {f"f{number}": number % 4 or 1 for number in range(30)}
    width |= {f's{{"name":{number}}}': number % 4 or 1 for number in range(30)}
    for name, slots in sorted(width.items(), key=lambda _: random.random()):
        if name[0] == "s":
            await server.submit("s", needs=SCRIPT | {"slots": slots}, name=int(re.sub(r"\D", "", name)))
        else:
            await server.submit("stay", path=str(diary), name=name, seconds=0.01, needs={"slots": slots})
    await server.until(lambda: len(server.finished) == 62)
    taken = most = 0
    for line in read(diary).splitlines():
        taken += width[line[1:]] if line[0] == "+" else -width[line[1:]]
        most = max(most, taken)
    assert (most, taken) == (4, 0)
    assert all(done.end is End.SUCCEEDED for done in server.finished.values())


async def get_known(server, tmp_path):
    """One of each, so that the worker knows how long they take and holds more than it has slots for."""
    await server.run("stay", path=str(tmp_path / "d"), name="known")
    await server.done(await server.submit("s", needs=SCRIPT, name=99))


async def test_functions_do_not_overtake_an_errand_that_came_before_them(server, hire, tmp_path):
    """Children that are never idle because functions keep coming must make room."""
    server.tasks["s"] = script("true")
    await hire(HEAVY, slots=2, **PATIENT)
    await get_known(server, tmp_path)
    functions = [{"path": str(tmp_path / "d"), "name": "n", "seconds": 0.002}] * 100
    first = await server.submit_many("stay", functions)
    job = await server.submit("s", needs=SCRIPT | {"slots": 2})
    last = await server.submit_many("stay", functions)
    await server.done(job, *first, *last)
    assert max(map(server.order.index, first)) < server.order.index(job) < min(map(server.order.index, last))


async def test_a_memory_hog_among_errands_waits_for_one_among_functions(server, hire, tmp_path):
    diary, gate = tmp_path / "diary", tmp_path / "gate"
    server.tasks["s"] = script(f"echo +errand >> {diary}")
    await hire(HEAVY, slots=4, memory=1000, **PATIENT)
    await server.submit("stay", path=str(diary), name="f", gate=str(gate), needs={"memory": 600})
    await eventually(lambda: read(diary) == "+f\n")
    job = await server.submit("s", needs=SCRIPT | {"memory": 600})
    await server.until(lambda: any((beat.running, beat.queued) == (1, 1) for beat in server.beats))
    assert read(diary) == "+f\n"
    gate.touch()
    await server.done(job)
    assert read(diary).split() == ["+f", "-f", "+errand"]


async def test_calls_run_side_by_side_in_the_slots_of_coroutines(server, hire, tmp_path):
    diary, gate = tmp_path / "diary", tmp_path / "gate"
    server.tasks["h"] = call(f"echo + >> {diary}; until [ -e {gate} ]; do sleep 0.02; done")
    jobs = [await server.submit("h", needs=HTTP) for _ in range(7)]
    await hire(kinds=["http"], async_slots=5)
    await eventually(lambda: len(read(diary).split()) == 5)
    await server.until(lambda: any(beat.running == 5 for beat in server.beats))
    assert len(server.ready) == 2, "more than it can start it does not take"
    assert server.joins[0].slots == 5
    gate.touch()
    await server.done(*jobs)


async def test_a_worker_asks_for_no_more_errands_than_it_has_slots_for(server, hire, tmp_path):
    server.tasks["s"] = script(f"echo up; until [ -e {tmp_path}/gate ]; do sleep 0.02; done")
    jobs = [await server.submit("s", needs=SCRIPT) for _ in range(5)]
    await hire(slots=2)
    await server.until(lambda: any(beat.running == 2 for beat in server.beats))
    seen = len(server.beats)
    await server.until(lambda: len(server.beats) > seen + 2)
    assert len(server.ready) == 3
    (tmp_path / "gate").touch()
    await server.done(*jobs)


async def test_a_drained_worker_gives_back_the_errands_that_wait(server, hire, tmp_path):
    gate = tmp_path / "gate"
    server.tasks["s"] = script("true")
    await hire()
    await server.done(await server.submit("s", needs=SCRIPT))
    server.tasks["s"] = script(f"until [ -e {gate} ]; do sleep 0.02; done")
    jobs = [await server.submit("s", needs=SCRIPT) for _ in range(4)]
    await server.until(lambda: any(beat.running == 1 and beat.queued for beat in server.beats))
    server.drain = True
    await server.until(lambda: any(beat.running == 1 and not beat.queued for beat in server.beats[-2:]))
    gate.touch()
    await server.until(lambda: not server.leased)
    (done,) = server.finished.keys() & jobs
    assert server.finished[done].end is End.SUCCEEDED
    assert set(server.handed_back) - {done}


async def test_an_errand_behind_one_that_takes_too_long_goes_back(server, hire, tmp_path):
    server.tasks["s"] = script("true")
    await hire()
    await server.done(await server.submit("s", needs=SCRIPT))
    server.tasks["s"] = script(f"until [ -e {tmp_path}/gate ]; do sleep 0.02; done")
    jobs = [await server.submit("s", needs=SCRIPT) for _ in range(2)]
    await server.until(lambda: server.handed_back)
    assert not server.finished.keys() & jobs
    (tmp_path / "gate").touch()


# Which kinds.


async def test_a_named_kind_that_is_not_ready_stops_the_worker_with_the_reason(server, hire):
    class Unready(ShellRunner):
        async def prepare(self):
            return Readiness(False, reason="there is no bwrap: apt install bubblewrap")

    running = await hire(make_runner=Unready)
    with pytest.raises(SetupError, match="kind script: there is no bwrap: apt install bubblewrap"):
        await asyncio.wait_for(running.task, DEADLINE)
    assert not server.joins


async def test_runners_that_were_ready_are_closed_when_the_worker_cannot_start(server, hire):
    made = []

    class Half(ShellRunner):
        async def prepare(self):
            made.append(self)
            return Readiness(self.kind is Kind.SCRIPT, reason="no engine")

    running = await hire(make_runner=Half, kinds=["script", "container"])
    with pytest.raises(SetupError, match="no engine"):
        await asyncio.wait_for(running.task, DEADLINE)
    assert [runner.closed for runner in made] == [True, True]


async def test_a_worker_that_is_stopped_while_it_gets_ready_closes_its_runners(server, hire):
    made, preparing = [], asyncio.Event()

    class Slow(ShellRunner):
        async def prepare(self):
            made.append(self)
            preparing.set()
            await asyncio.Event().wait()

    running = await hire(make_runner=Slow)
    await asyncio.wait_for(preparing.wait(), DEADLINE)
    running.agent.stop()
    await asyncio.wait_for(running.task, DEADLINE)
    assert [runner.closed for runner in made] == [True]


async def test_of_all_kinds_those_that_are_ready_are_offered(server, hire):
    class Choosy(ShellRunner):
        async def prepare(self):
            return Readiness(self.kind is not Kind.CONTAINER, reason="no engine")

    await hire(make_runner=Choosy, kinds=["all"], slots=3, async_slots=50)
    await server.until(lambda: server.joins)
    join = server.joins[0]
    assert (join.kinds, join.slots, join.widest) == (["script", "http"], 53, 3)


async def test_a_worker_with_nothing_to_run_does_not_start(hire):
    class Unready(ShellRunner):
        async def prepare(self):
            return Readiness(False, reason="no")

    running = await hire(make_runner=Unready, kinds=["all"])
    with pytest.raises(SetupError, match="nothing that this worker could run"):
        await asyncio.wait_for(running.task, DEADLINE)


async def test_an_app_and_kinds_go_together(server, hire, tmp_path):
    server.tasks["s"] = script("true")
    await hire(HEAVY, kinds=["script"])
    function = await server.submit("stay", path=str(tmp_path / "d"), name="n")
    done = await server.done(function, await server.submit("s", needs=SCRIPT))
    assert [one.end for one in done] == [End.SUCCEEDED] * 2
    assert server.joins[0].kinds == ["function", "script"]
