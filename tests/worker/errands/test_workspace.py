"""The folder of an errand: what the job is given, and how what it made is taken."""

import os
from types import SimpleNamespace

import msgspec
import pytest

from horae.model.errors import InvalidInput
from horae.model.job import MAX_RESULT_BYTES
from horae.model.kinds import ResultFrom, Script, SecretUse
from horae.model.task import TaskDefinition
from horae.model.work import Grant
from horae.wire.briefs import Brief
from horae.worker.errands.workspace import RESULT, Workspace


@pytest.fixture
def make(tmp_path):
    def make(params=None, given_secrets=None, **task):
        grant = Grant(id="j", lane=1, attempt=2, task="t", params=msgspec.Raw(msgspec.json.encode(params or {})))
        definition = TaskDefinition(name="t", script=Script(source=""), **task)
        brief = Brief(id="j", attempt=2, tenant="x", task=definition, secrets=given_secrets or {})
        return Workspace(SimpleNamespace(grant=grant, brief=brief, folder=tmp_path))

    return make


def environment(workspace):
    return workspace.environment("/g", "/o", "/s")


def test_scalar_params_become_variables(make):
    params = {"name": "Ada", "n-o": 1.5, "yes": True, "none": None, "list": [1], "long": "x" * 40_000, "nul": "a\0"}
    found = environment(make(params))
    assert {name: value for name, value in found.items() if "PARAM_" in name} == {
        "HORAE_PARAM_NAME": "Ada", "HORAE_PARAM_N_O": "1.5", "HORAE_PARAM_YES": "true",
    }  # fmt: skip


def test_horaes_own_variables_cannot_be_replaced(make):
    found = environment(make({"job_id": "x"}, env={"HORAE_JOB_ID": "forged", "A": "${{ params.job_id }}"}))
    assert (found["HORAE_JOB_ID"], found["A"], found["HORAE_RESULT"]) == ("j", "x", f"/o/{RESULT}")


def test_secrets_are_variables_or_files(make):
    uses = [SecretUse(name="A"), SecretUse(name="B", env="B_FILE", file=True)]
    workspace = make(given_secrets={"A": "a", "B": "b"}, secrets=uses)
    found = environment(workspace)
    assert (found["A"], found["B_FILE"], workspace.secret_files()) == ("a", "/s/B", {"B": b"b"})


def test_a_null_character_in_a_variable_is_refused(make):
    with pytest.raises(InvalidInput, match="A has a null character"):
        environment(make(env={"A": "x\0"}))


def test_the_checkpoint_is_a_file_only_if_there_is_one(make, tmp_path):
    make()
    assert sorted(path.name for path in (tmp_path / "given").iterdir()) == ["events", "params.json"]


@pytest.mark.parametrize(
    ("source", "file", "last", "result"),
    [
        (ResultFrom.AUTO, b'{"a": 1}', b"2", b'{"a": 1}'),
        (ResultFrom.AUTO, b"plain", b"2", b'"plain"'),
        (ResultFrom.AUTO, None, b"2", b"2"),
        (ResultFrom.AUTO, None, b"plain", None),
        (ResultFrom.AUTO, None, None, None),
        (ResultFrom.FILE, None, b"2", None),
        (ResultFrom.LAST_LINE, b"1", b"plain", b'"plain"'),
        (ResultFrom.LAST_LINE, None, b"\xff", b'"\xef\xbf\xbd"'),
        (ResultFrom.LAST_LINE, None, b"[" * 5000, msgspec.json.encode("[" * 5000)),
    ],
)
def test_where_the_result_comes_from(make, source, file, last, result):
    workspace = make()
    if file is not None:
        (workspace.output / RESULT).write_bytes(file)
    assert workspace.result(source, last) == result


@pytest.mark.parametrize("source", ResultFrom)
def test_the_result_file_is_taken_away(make, source):
    workspace = make()
    (workspace.output / RESULT).write_text("1")
    assert workspace.result(source, b"2") == (b"2" if source is ResultFrom.LAST_LINE else b"1")
    assert list(workspace.output.iterdir()) == []


@pytest.mark.parametrize("plant", [lambda path: path.symlink_to("/etc/passwd"), os.mkfifo, os.mkdir])
def test_only_a_regular_file_is_a_result(make, plant):
    workspace = make()
    plant(workspace.output / RESULT)
    assert workspace.result(ResultFrom.AUTO, b"1") == b"1"


def test_a_result_that_is_too_large_is_refused(make):
    workspace = make()
    with (workspace.output / RESULT).open("wb") as file:
        file.truncate(MAX_RESULT_BYTES + 1)
    with pytest.raises(InvalidInput, match="write it to HORAE_OUTPUT as a file instead"):
        workspace.result(ResultFrom.AUTO, None)


def test_what_the_output_folder_holds_is_counted_without_following_links(make, tmp_path):
    workspace = make()
    (tmp_path / "large").write_bytes(b"x" * 1_000_000)
    (workspace.output / "link").symlink_to(tmp_path / "large")
    (workspace.output / "loop").symlink_to(workspace.output)
    assert not workspace.exceeds(100_000)
    (workspace.output / "a/b").mkdir(parents=True)
    (workspace.output / "a/b/file").write_bytes(b"x" * 200_000)
    assert workspace.exceeds(100_000)


def test_empty_files_and_endless_folders_count_too(make):
    workspace = make()
    for number in range(200):
        (workspace.output / str(number)).touch()
    assert workspace.exceeds(100_000)
    assert not workspace.exceeds(1_000_000)
    (workspace.output / "/".join("d" * 100)).mkdir(parents=True)
    assert workspace.exceeds(100_000_000)
