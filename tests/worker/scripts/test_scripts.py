"""Scripts from their source to their end, in the real sandbox."""

import asyncio
import gc
import os
import signal
from pathlib import Path

import pytest

from horae.model.kinds import Limits, ResultFrom, SecretUse
from horae.model.states import End
from horae.worker import tree
from horae.worker.errands.errand import StopOrder

from .house import House

FOREVER = "echo up; while :; do sleep 0.1; done"


async def test_a_script_prints_and_gives_its_last_line_as_result(house):
    done = await house.run("echo hello\necho '{\"a\": 1}'")
    assert (done.end, done.result, done.errand.text) == (End.SUCCEEDED, {"a": 1}, 'hello\n{"a": 1}\n')
    assert done.outcome.usage.isolation == "bubblewrap+seccomp+cgroup"
    assert done.outcome.usage.cpu > 0
    assert done.outcome.usage.peak_memory > 100_000


async def test_a_strict_umask_of_the_agent_makes_no_difference(tmp_path):
    before = os.umask(0o077)
    try:
        house = House(tmp_path / "state")
        assert (await house.runner.prepare()).ready
        done = await house.run("cat $HORAE_PARAMS; echo 1 > file", checkpoint=1)
        await house.runner.close()
        await house.quarters.close()
    finally:
        os.umask(before)
    assert (done.end, done.errand.text, done.error) == (End.SUCCEEDED, "{}", None)


@pytest.mark.parametrize(
    ("source", "result", "value"),
    [
        ("echo 1 > $HORAE_RESULT; echo 2", ResultFrom.AUTO, 1),
        ("echo 1 > $HORAE_RESULT; echo 2", ResultFrom.LAST_LINE, 2),
        ("echo 2", ResultFrom.FILE, None),
        ("echo plain words", ResultFrom.AUTO, None),
        ("echo plain words", ResultFrom.LAST_LINE, "plain words"),
        ("", ResultFrom.AUTO, None),
    ],
)
async def test_where_the_result_is_taken_from(house, source, result, value):
    done = await house.run(source, result=result)
    assert (done.end, done.result) == (End.SUCCEEDED, value)
    assert done.output == {}


@pytest.mark.parametrize(
    ("interpreter", "source"),
    [
        ("python", "import json, os; print(json.load(open(os.environ['HORAE_PARAMS']))['n'] + 1)"),
        ("sh", "echo $((HORAE_PARAM_N + 1))"),
        ("bash", "echo $((HORAE_PARAM_N + 1))"),
        ("node", "console.log(JSON.parse(require('fs').readFileSync(process.env.HORAE_PARAMS)).n + 1)"),
        ("/usr/bin/perl", "print $ENV{HORAE_PARAM_N} + 1, qq(\\n)"),
        (None, "#!/bin/sh\necho $((HORAE_PARAM_N + 1))"),
        (None, "#!/usr/bin/env python3\nimport os; print(int(os.environ['HORAE_PARAM_N']) + 1)"),
        (None, "#!/usr/bin/env -S python3 -u\nimport os; print(int(os.environ['HORAE_PARAM_N']) + 1)"),
    ],
)
async def test_any_interpreter_gets_the_params(house, interpreter, source):
    done = await house.run(source, interpreter, {"n": 41}, limits=Limits(memory="1GiB"))
    assert (done.end, done.result, done.error) == (End.SUCCEEDED, 42, None)


@pytest.mark.parametrize(
    ("interpreter", "source", "words"),
    [
        ("cobol", "", "no interpreter 'cobol'"),
        ("/opt/none", "", "no interpreter /opt/none"),
        (None, "echo 1", "names no interpreter"),
        (None, "#!/usr/bin/ruby9\n", "no interpreter /usr/bin/ruby9"),
    ],
)
async def test_a_missing_interpreter_is_told_by_name(house, interpreter, source, words):
    done = await house.run(source, interpreter)
    assert done.end is End.ERROR
    assert words in done.error.message


async def test_a_program_that_the_sandbox_does_not_show_is_refused(house, tmp_path):
    (tmp_path / "mine").write_text("#!/bin/sh\n")
    (tmp_path / "mine").chmod(0o755)
    done = await house.run("", str(tmp_path / "mine"))
    assert "does not show" in done.error.message


async def test_arguments_are_filled_in_as_data(house):
    done = await house.run(
        'printf "%s|" "$@"', args=["${{ params.name }}", "x ${{ params.n }}"], params={"name": "$(id); é 日", "n": 3}
    )
    assert done.errand.text == "$(id); é 日|x 3|"


async def test_an_argument_that_no_command_line_can_hold_is_refused(house):
    done = await house.run("", args=["${{ params.name }}"], params={"name": "a\0b"})
    assert "null character" in done.error.message


async def test_what_the_environment_holds(house):
    params = {"who": "you", "deep": {"a": 1}, "yes": True}
    done = await house.run("env", env={"GREETING": "hello ${{ params.who }}"}, params=params, attempt=3)
    found = dict(line.split("=", 1) for line in done.errand.text.splitlines())
    assert found.pop("HORAE_JOB_ID") == done.errand.grant.id
    assert found.pop("HORAE_ERRAND") == done.errand.mark
    assert found == {
        "GREETING": "hello you",
        "HOME": "/tmp",
        "TMPDIR": "/tmp",
        "LANG": "C.UTF-8",
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "PWD": "/output",
        "PYTHONUNBUFFERED": "1",
        "HORAE_ATTEMPT": "3",
        "HORAE_TASK": "t",
        "HORAE_PARAMS": "/given/params.json",
        "HORAE_CHECKPOINT": "/given/checkpoint.json",
        "HORAE_EVENTS": "/given/events",
        "HORAE_OUTPUT": "/output",
        "HORAE_RESULT": "/output/.result",
        "HORAE_PARAM_WHO": "you",
        "HORAE_PARAM_YES": "true",
    }


async def test_secrets_come_by_environment_or_by_file_and_never_by_command_line(house):
    source = 'echo $A; cat $B; ls -l $B; echo; tr "\\0" " " < /proc/self/cmdline; cat /proc/1/cmdline'
    done = await house.run(
        source,
        secrets=[SecretUse(name="A"), SecretUse(name="B", file=True)],
        given_secrets={"A": "alpha-secret", "B": "beta-secret"},
    )
    lines = done.errand.text.splitlines()
    assert lines[0] == "alpha-secret"
    assert lines[1].startswith("beta-secret-r--------")
    assert "secret" not in "".join(lines[2:])
    assert not any(b"beta-secret" in path.read_bytes() for path in house.quarters.folder.rglob("*") if path.is_file())


async def test_events_are_heard_while_it_runs(house):
    done = await house.run(
        """
        echo '{"progress": [1, 4, "first"]}' > $HORAE_EVENTS
        echo '{"checkpoint": {"page": 2}}' > $HORAE_EVENTS
        echo '{"partial": [1, 2]}' >> $HORAE_EVENTS
        """
    )
    assert sorted(done.errand.heard) == [
        ("checkpoint", {"page": 2}),
        ("partial", [1, 2]),
        ("progress", (1.0, 4.0, "first")),
    ]


@pytest.mark.parametrize(
    ("interpreter", "source"),
    [
        ("python", 'import os; print(\'{"progress": [1]}\', file=open(os.environ["HORAE_EVENTS"], "w"))'),
        ("node", "require('fs').appendFileSync(process.env.HORAE_EVENTS, JSON.stringify({progress: [1]}) + '\\n')"),
    ],
)
async def test_an_event_is_one_line_in_other_languages_too(house, interpreter, source):
    done = await house.run(source, interpreter, limits=Limits(memory="1GiB"))
    assert (done.errand.heard, done.error) == ([("progress", (1.0, None, None))], None)


async def test_a_checkpoint_of_an_earlier_attempt_is_there_to_read(house):
    done = await house.run("cat $HORAE_CHECKPOINT", checkpoint={"page": 7}, attempt=2)
    assert done.result == {"page": 7}


async def test_files_of_the_output_folder_are_taken_and_nothing_else(house):
    done = await house.run(
        "mkdir -p a/b c; echo 1 > a/b/file; ln -s /etc/passwd link; mkfifo pipe; ln a/b/file hard; echo x > /tmp/y"
    )
    assert done.output == {"a/b/file": b"1\n", "hard": b"1\n"}
    assert not (done.errand.folder / "output/link").is_symlink()
    assert b"2 entries" in done.errand.streams["system"]


async def test_what_seems_larger_than_the_disk_is_not_taken(house):
    done = await house.run("truncate -s 900K a; truncate -s 900K b; echo", limits=Limits(disk="1MiB"))
    assert sorted(len(content) for content in done.output.values()) == [900 * 1024]


async def test_files_are_taken_when_it_fails_too(house):
    done = await house.run("echo 1 > file; echo 1 > $HORAE_RESULT; echo why >&2; exit 3")
    assert (done.end, done.error.kind, done.error.message) == (End.ERROR, "exit", "exit status 3: why")
    assert done.output == {"file": b"1\n"}


async def test_exit_statuses_that_say_whether_to_try_again(house):
    useless = await house.run("exit 65")
    later = await house.run("echo '{\"retry_after\": 30}' > $HORAE_EVENTS; exit 75")
    assert (useless.end, useless.outcome.retry_after) == (End.FATAL, None)
    assert (later.end, later.outcome.retry_after) == (End.ERROR, 30)


async def test_a_signal_is_a_crash(house):
    done = await house.run("kill -SEGV $$")
    assert (done.end, done.error.kind, done.error.message) == (End.CRASHED, "crash", "it was ended by SIGSEGV")


# Stopping.


async def test_a_job_that_is_to_stop_is_asked_first(house):
    errand = house.errand("trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.05; done")
    running = asyncio.ensure_future(house.runner.run(errand))
    await errand.said("up")
    errand.stop.set_result(StopOrder(End.CANCELLED, "not needed", 20))
    outcome = await running
    assert (outcome.end, outcome.error.message, errand.text) == (End.CANCELLED, "not needed", "up\nbye\n")


async def test_a_job_that_does_not_listen_is_killed_with_all_it_started(house):
    errand = house.errand("trap '' TERM; (setsid sh -c 'trap \"\" TERM; sleep 600') & echo up; sleep 600")
    running = asyncio.ensure_future(house.runner.run(errand))
    await errand.said("up")
    errand.stop.set_result(StopOrder(End.TIMEOUT, "out of time", 0.2))
    outcome = await running
    assert (outcome.end, outcome.error.kind, errand.processes) == (End.TIMEOUT, "timeout", [])
    assert errand.guarded == set()


async def test_a_job_that_is_to_stop_before_it_has_begun_does_not_wait_for_the_grace(house):
    errand = house.errand(FOREVER)
    errand.stop.set_result(StopOrder(End.CANCELLED, "never mind", 600))
    outcome = await asyncio.wait_for(house.runner.run(errand), 20)
    assert (outcome.end, errand.text) == (End.CANCELLED, "")


async def test_a_sandbox_that_is_killed_from_outside_is_a_crash(house):
    errand = house.errand(FOREVER)
    running = asyncio.ensure_future(house.runner.run(errand))
    await errand.said("up")
    for pid in errand.guarded:
        os.kill(pid, signal.SIGKILL)
    outcome = await running
    assert (outcome.end, outcome.error.message, errand.processes) == (End.CRASHED, "it was ended by SIGKILL", [])


async def test_a_run_that_is_given_up_leaves_nothing(house):
    errand = house.errand(FOREVER)
    running = asyncio.ensure_future(house.runner.run(errand))
    await errand.said("up")
    assert errand.processes
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (errand.processes, errand.guarded) == ([], set())


async def test_a_daemon_does_not_outlive_its_job(house):
    done = await house.run("setsid sleep 600 > /dev/null 2>&1 & echo up")
    assert (done.end, done.errand.processes) == (End.SUCCEEDED, [])


async def test_nothing_is_left_of_the_runner(tmp_path):
    tree.become_subreaper()  # As an agent is.
    before = children()
    house = House(tmp_path / "state")
    assert (await house.runner.prepare()).ready
    open_before, runs = descriptors(), 5
    for number in range(runs):
        await house.run(f"echo {number}; echo x > file")
    assert descriptors() < open_before + runs
    assert str(tmp_path) not in Path("/proc/self/mountinfo").read_text()
    await house.runner.close()
    assert groups(house) == []
    assert children() - before == set(), "besides what other tests have left"
    await house.quarters.close()


def groups(house: House) -> list[Path]:
    return list(Path("/sys/fs/cgroup").glob(f"**/horae-{house.quarters.agent}-*"))


def descriptors() -> int:
    """How many are open, besides what earlier tests have left to the collector."""
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))


def children() -> set[str]:
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


# A worker that the operator has named unsandboxed.


async def test_without_a_sandbox_the_same_script_runs_on_the_host(tmp_path):
    house = House(tmp_path / "state", sandboxed=False)
    readiness = await house.runner.prepare()
    done = await house.run(
        'cat $B; echo; pwd; echo 1 > file; echo "[$HORAE_PARAM_N]" > $HORAE_RESULT',
        params={"n": 5},
        secrets=[SecretUse(name="B", file=True)],
        given_secrets={"B": "beta"},
    )
    assert (readiness.isolation, done.outcome.usage.isolation) == ("none", "none")
    assert (done.end, done.error, done.result, done.output) == (End.SUCCEEDED, None, [5], {"file": b"1\n"})
    assert done.errand.text.splitlines() == ["beta", str(done.errand.folder / "output")]
    failed = await house.run("exit 3")
    assert failed.error.message == "exit status 3"
    await house.runner.close()
    await house.quarters.close()
