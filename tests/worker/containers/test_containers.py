"""Containers from their image to their end, on a real engine."""

import asyncio
import os
from pathlib import Path

import pytest

from horae.model.kinds import ResultFrom, SecretUse
from horae.model.states import End

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_container_prints_and_gives_its_last_line_as_result(house):
    done = await house.shell("echo hello; echo '{\"a\": 1}'; echo oops >&2")
    assert (done.end, done.result) == (End.SUCCEEDED, {"a": 1}), done.error
    assert (done.errand.text, done.errand.errors) == ('hello\n{"a": 1}\n', "oops\n")
    assert done.outcome.usage.isolation == "podman+runc+seccomp+cgroup"
    assert house.left_of(done.errand) == []


async def test_the_image_says_what_runs_unless_the_task_does(house):
    assert (await house.run()).errand.text == "from the image\n"
    done = await house.run("b", entrypoint=["echo", "a"])
    assert done.errand.text == "a b\n", done.error
    assert (await house.run("pwd", entrypoint=["sh", "-c"], workdir="/home")).errand.text == "/home\n"


async def test_placeholders_are_one_word_whatever_is_in_them(house):
    done = await house.run("echo", "${{ params.a }}", "--rm", params={"a": "x; id $HOME --privileged"})
    assert done.errand.text == "x; id $HOME --privileged --rm\n"


async def test_params_come_as_a_file_and_as_variables(house):
    script = (
        "cat $HORAE_PARAMS; echo; echo $HORAE_PARAM_NAME $HORAE_PARAM_SIZE $HORAE_JOB_ID $HORAE_ATTEMPT $HORAE_TASK"
    )
    done = await house.shell(script, params={"name": "Ada", "size": 3, "text": "two\nlines"}, attempt=4)
    assert done.errand.text.splitlines() == [
        '{"name":"Ada","size":3,"text":"two\\nlines"}',
        f"Ada 3 {done.errand.grant.id} 4 t",
    ]


async def test_it_reads_what_it_is_given_whatever_the_agents_umask_is(house):
    before = os.umask(0o077)
    try:
        done = await house.shell(
            "cat $HORAE_PARAMS $S; echo 1 > $HORAE_RESULT; echo > /tmp/x; echo > /dev/shm/x",
            secrets=[SecretUse(name="S", file=True)], given_secrets={"S": "sh"},
        )  # fmt: skip
    finally:
        os.umask(before)
    assert (done.result, done.errand.text) == (1, "{}sh"), done.error


async def test_variables_of_the_task_arrive_as_they_are(house):
    value = "  'a' \"b\" #c \\d $HOME ${{x "
    env = {"ODD": value.replace("${{", "$${{"), "WHO": "${{ params.w }}"}
    done = await house.shell('printf "[%s]" "$ODD" "$WHO"', env=env, params={"w": "me"})
    assert done.errand.text == f"[{value}][me]", done.error


async def test_variables_of_a_task_do_not_reach_the_engine(house, tmp_path):
    trap = tmp_path / "trap"
    done = await house.shell(
        "echo $LD_PRELOAD $PATH", env={"LD_PRELOAD": str(trap), "CONTAINERS_CONF": str(trap), "PATH": "/bin"}
    )
    assert done.errand.text == f"{trap} /bin\n", done.error
    assert "trap" not in done.errand.errors


async def test_a_result_file_goes_before_the_last_line(house):
    done = await house.shell("echo '[1]'; echo '{\"from\": \"file\"}' > $HORAE_RESULT; echo x > $HORAE_OUTPUT/other")
    assert (done.result, done.output) == ({"from": "file"}, {"other": b"x\n"})
    assert (await house.shell("echo plain", result=ResultFrom.LAST_LINE)).result == "plain"
    assert (await house.shell("echo 1", result=ResultFrom.FILE)).result is None


async def test_files_in_the_output_folder_are_kept_and_links_are_not(house):
    script = "cd /output; mkdir -p a/b; echo 1 > a/b/c; ln -s /etc/passwd link; mkfifo pipe; ln a/b/c hard"
    done = await house.shell(script)
    assert done.output == {"a/b/c": b"1\n", "hard": b"1\n"}
    assert "2 entries of the output folder were not taken" in done.errand.streams["system"].decode()


async def test_what_it_says_while_it_runs_is_heard(house):
    script = """cat $HORAE_CHECKPOINT; for line in '{"progress": [1, 4, "one"]}' '{"checkpoint": {"at": 2}}' \\
      '{"partial": [7]}' 'nonsense'; do echo "$line" >> $HORAE_EVENTS; done"""
    done = await house.shell(script, checkpoint={"at": 1})
    assert done.errand.text == '{"at":1}'
    assert sorted(done.errand.heard) == [("checkpoint", {"at": 2}), ("partial", [7]), ("progress", (1.0, 4.0, "one"))]
    assert b"nonsense" in done.errand.streams["system"]


async def test_secrets_come_as_variable_or_file_and_never_on_a_command_line(house):
    uses = [SecretUse(name="TOKEN"), SecretUse(name="CERT", env="CERT_FILE", file=True)]
    secrets = {"TOKEN": "hush-hush", "CERT": "line one\nline two"}
    script = 'echo $TOKEN; cat $CERT_FILE; echo " $CERT_FILE"; echo ready; read -t 5 x < $HORAE_EVENTS'
    errand = house.errand("sh", "-c", script, secrets=uses, given_secrets=secrets)
    running = asyncio.create_task(house.runner.run(errand))
    await errand.said("ready")
    lines = b"".join(file.read_bytes() for file in Path("/proc").glob("[0-9]*/cmdline") if file.exists())
    with (errand.folder / "given/events").open("w") as events:
        events.write("\n")
    await running
    assert errand.text == "hush-hush\nline one\nline two /run/secrets/CERT\nready\n"
    assert b"hush" not in lines


async def test_a_secret_of_several_lines_wants_to_be_a_file(house):
    done = await house.shell("true", secrets=[SecretUse(name="CERT")], given_secrets={"CERT": "a\nb"})
    assert (done.end, done.error.kind) == (End.ERROR, "invalid")
    assert "CERT has more than one line" in done.error.message
    assert "file: true" in done.error.message
    assert house.left_of(done.errand) == []


async def test_much_output_arrives_whole(house):
    done = await house.shell("seq 1 200000; echo '\"end\"'")
    assert done.result == "end"
    assert done.errand.text.endswith('199999\n200000\n"end"\n')


async def test_many_containers_run_at_once(house):
    runs = await asyncio.gather(*(house.shell(f"echo {number}") for number in range(6)))
    assert [run.result for run in runs] == list(range(6))


async def test_a_root_file_system_of_the_operator_runs_and_stays_as_it_is(house, root):
    before = sorted(path.name for path in root.rglob("*"))
    done = await house.shell("echo from $(ls /bin/busybox); touch /bin/x", image=f"rootfs:{root}")
    assert (done.end, done.errand.text) == (End.ERROR, "from /bin/busybox\n")
    assert "Read-only" in done.errand.errors
    assert sorted(path.name for path in root.rglob("*")) == before


@pytest.mark.parametrize("folder", ["/", "/etc", "{root}/..", "{root}/../link", "{root}/../nothing"])
async def test_a_root_file_system_elsewhere_is_refused(house, root, folder):
    link = root.parent / "link"
    if not link.is_symlink():
        link.symlink_to("/usr")
    allowed = root.parent if folder == "{root}/.." else None
    done = await house.shell("id", image=f"rootfs:{folder.format(root=root)}" if not allowed else "rootfs:/usr")
    assert (done.end, done.error.kind, done.errand.text) == (End.ERROR, "invalid", "")
