"""Failpoints: what their settings mean, what processes do at them, and that the list of names tells the truth."""

import ast
import os
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import pytest

import horae
from horae import failpoints
from horae.model.errors import SetupError
from horae.model.kinds import HttpCall
from horae.model.roles import Role
from horae.model.task import TaskDefinition
from horae.testing.stack import running_stack
from horae.worker import tree

SOURCE = Path(horae.__file__).parent
PASS_BY = """
import os, sys
from horae import failpoints
failpoints.arm(os.environ)
for name in sys.argv[1:]:
    failpoints.reach(name)
    print(name, flush=True)
"""


def process(
    setting: str, *names: str, reached: Path | None = None, folder: Path | None = None
) -> subprocess.Popen[str]:
    """A program with these failpoints armed, that comes by these names."""
    environ = os.environ | {failpoints.VARIABLE: setting}
    if folder is not None:
        environ[failpoints.FOLDER_VARIABLE] = str(folder)
    if reached is not None:
        environ[failpoints.REACHED_VARIABLE] = str(reached)
    command = [sys.executable, "-c", PASS_BY, *names]
    return subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def passed(program: subprocess.Popen[str]) -> list[str]:
    """The names that it came past."""
    return [line for line in program.communicate()[0].splitlines() if line in failpoints.NAMES]


# The names.


def reaches() -> Iterator[tuple[str, str]]:
    """(name, module) of each call in the source."""
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        if "failpoints.reach" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "failpoints.reach":
                yield ast.literal_eval(node.args[0]), path.relative_to(SOURCE).as_posix()


def test_every_name_is_reached_in_one_place_and_there_where_the_list_says() -> None:
    found = defaultdict(list)
    for name, module in reaches():
        found[name].append(module)
    assert found == {name: [moment.module] for name, moment in failpoints.NAMES.items()}


def test_each_name_has_a_part_and_a_moment() -> None:
    for name, moment in failpoints.NAMES.items():
        part, _, instant = name.partition(".")
        assert part.islower(), name
        assert instant.split("_")[0] in {"before", "after"}, name
        assert moment.truth


# The setting.


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ("submit.never=kill", "no failpoint 'submit.never'"),
        ("submit.after_commit=explode", "is none of kill, raise, drop, stop:SECONDS, delay:TIME"),
        ("submit.after_commit=kill:3", "is none of"),
        ("submit.after_commit=kill@0", "1 or more"),
        ("submit.after_commit=kill@soon", "1 or more"),
        ("submit.after_commit=delay:long", "not a duration"),
        ("submit.after_commit=drop", "only at *.before_answer"),
        ("submit.after_commit", "is none of"),
    ],
)
def test_a_setting_that_will_not_do_is_refused_and_says_why(setting: str, complaint: str) -> None:
    with pytest.raises(SetupError, match=r"HORAE_FAILPOINTS: ") as refusal:
        failpoints.read(setting)
    assert complaint in refusal.value.detail


def test_several_are_read_and_those_without_a_number_act_every_time() -> None:
    actions = failpoints.read(" submit.after_commit=kill@3 ; submit.before_answer=drop;worker.before_start=stop:2; ")
    assert {name: action.at for name, action in actions.items()} == {
        "submit.after_commit": 3, "submit.before_answer": None, "worker.before_start": None,
    }  # fmt: skip


# What is done.


def test_an_unarmed_process_passes_by() -> None:
    failpoints.reach("submit.after_commit")


def test_raise_breaks_off_at_the_time_it_was_told_and_at_no_other() -> None:
    armed = failpoints.Armed(failpoints.read("claim.after_commit=raise@2"), None)
    armed.reach("claim.after_commit")
    armed.reach("claim.before_commit")
    with pytest.raises(ConnectionResetError, match=r"claim\.after_commit"):
        armed.reach("claim.after_commit")
    armed.reach("claim.after_commit")


def test_kill_ends_the_process_at_its_third_time() -> None:
    program = process("claim.after_commit=kill@3", *["claim.after_commit"] * 5)
    assert passed(program) == ["claim.after_commit"] * 2
    assert program.returncode == -signal.SIGKILL


def test_stop_freezes_the_process_and_no_other_process_is_needed_to_wake_it() -> None:
    """An agent ends what its children leave behind: a process that was to wake one of them was ended, too."""
    program = process("claim.after_commit=stop:300ms@1", "claim.after_commit")
    assert os.waitid(os.P_PID, program.pid, os.WSTOPPED | os.WNOWAIT).si_status == signal.SIGSTOP
    assert tree.children_of(program.pid) == []
    assert passed(program) == ["claim.after_commit"]
    assert program.returncode == 0


def test_delay_holds_the_process_up() -> None:
    waits: list[float] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(failpoints._TIMED, "delay", waits.append)
        armed = failpoints.Armed(failpoints.read("claim.after_commit=delay:200ms"), None)
    armed.reach("claim.after_commit")
    armed.reach("claim.after_commit")
    assert waits == [0.2, 0.2]


def test_what_is_laid_while_a_process_runs_is_done_once_by_whoever_comes_first(tmp_path: Path) -> None:
    laid = tmp_path / "claim.after_commit"
    armed = [failpoints.Armed({}, None, failpoints.Ambush(tmp_path)) for _ in range(2)]
    for process in armed:
        process.reach("claim.after_commit")
    laid.write_text("raise@2")
    for process in armed:
        process.reach("claim.after_commit")
        process.reach("claim.before_commit")
    with pytest.raises(ConnectionResetError):
        armed[1].reach("claim.after_commit")
    assert not laid.exists()
    for process in armed:
        process.reach("claim.after_commit")


def test_a_file_in_the_folder_makes_a_program_act(tmp_path: Path) -> None:
    (tmp_path / "claim.after_commit").write_text("kill@2")
    program = process("", *["claim.after_commit"] * 3, folder=tmp_path)
    assert passed(program) == ["claim.after_commit"]
    assert program.returncode == -signal.SIGKILL


def test_each_process_notes_a_name_once_before_it_acts(tmp_path: Path) -> None:
    reached = tmp_path / "reached"
    one = process("", "claim.before_commit", "claim.before_commit", "claim.after_commit", reached=reached)
    passed(one)
    other = process("claim.before_commit=kill", "claim.before_commit", reached=reached)
    passed(other)
    assert other.returncode == -signal.SIGKILL
    assert reached.read_text().split() == ["claim.before_commit", "claim.after_commit", "claim.before_commit"]


async def test_a_server_drops_an_answer_and_says_from_the_start_that_it_will(database: str, tmp_path: Path) -> None:
    async with running_stack(database, tmp_path) as stack:
        program = await stack.server(HORAE_FAILPOINTS="submit.before_answer=drop@1")
        assert "failpoints_armed" in program.last_words()
        headers = {"Authorization": f"Bearer {stack.keys[Role.ADMIN]}", "Idempotency-Key": "once"}
        with stack.client() as client:
            client.tasks.put(TaskDefinition(name="ping", http=HttpCall(url="https://service.test/")))
        async with aiohttp.ClientSession(stack.url, headers=headers) as session:
            with pytest.raises(aiohttp.ServerDisconnectedError):
                await session.post("/v1/jobs", json={"task": "ping"})
            async with session.post("/v1/jobs", json={"task": "ping"}) as again:
                assert again.status == 200
                assert (await again.json())["existing"]
