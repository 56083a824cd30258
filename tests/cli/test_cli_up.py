"""`horae up` and the commands against it, end to end: real processes, real PostgreSQL, the example app."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from horae.testing.database import temporary_folder

from .conftest import program
from .installation import ROOT, Installation, gone, installation, until, words

APP = ("--app", "examples/demo.py:app", "--slots", "2")


@pytest.fixture(scope="module")
def up() -> Iterator[Installation]:
    with temporary_folder(quick=True) as folder, installation(folder, *APP) as it:
        it.wait_for_worker()
        yield it


def test_a_job_runs_and_its_result_and_logs_are_printed(up: Installation) -> None:
    done = up.run("submit", "add", "--param", "a=1", "--param", "b=2", "--wait")
    assert (done.returncode, done.stdout) == (0, "3\n"), done.stderr
    done = up.run("submit", "chatter", "--param", "lines=1", "--logs")
    assert done.returncode == 0, done.stderr
    assert "plain print, line 0" in done.stdout


def test_a_failed_job_is_shown_and_can_be_retried(up: Installation) -> None:
    done = up.run("submit", "refuse", "--param", "reason=because", "--wait")
    assert done.returncode == 1
    assert "Fatal: because" in done.stderr
    job_id = done.stderr.split()[1]
    assert "because" in up.run("job", job_id).stdout
    listed = up.run("jobs", "--status", "failed", "--json").stdout.splitlines()
    assert job_id in [msgspec.json.decode(line)["id"] for line in listed]
    assert up.run("retry", job_id).returncode == 0


def test_a_scheduled_job_is_changed_and_cancelled_and_not_twice(up: Installation) -> None:
    job_id = up.run("submit", "add", "--json-params", '{"a": 1, "b": 1}', "--delay", "1h").stdout.strip()
    assert msgspec.json.decode(up.run("change", job_id, "--priority", "9", "--json").stdout)["priority"] == 9
    assert up.run("cancel", "-", input=job_id).stdout == f"{job_id} cancelled\n"
    assert up.run("cancel", job_id).returncode == 5
    assert up.run("job", "01980000-0000-7000-8000-000000000000").returncode == 3


def test_many_jobs_come_from_a_file(up: Installation, tmp_path: Path) -> None:
    file = tmp_path / "jobs.ndjson"
    file.write_text('{"task":"add","params":{"a":1,"b":2}}\n' * 20 + '{"task":"nosuch"}\n')
    done = up.run("submit", "--bulk", str(file))
    assert len(done.stdout.splitlines()) == 20
    assert "line 21" in done.stderr
    assert done.returncode == 1


def test_a_healthy_installation_passes_the_doctor(up: Installation) -> None:
    done = up.run("doctor", "--data", str(up.data), "--json")
    marks = {found["check"]: found["mark"] for found in map(msgspec.json.decode, done.stdout.splitlines())}
    # How busy the machine is and how full its disk are not in our hands.
    assert marks.pop("workers") in {"ok", "warn"}
    assert marks.pop("disk") in {"ok", "warn"}
    assert set(marks.values()) == {"ok"}, done.stdout
    assert {"server", "key", "database", "migrations", "durability", "partitions", "transactions"} <= marks.keys()
    assert done.returncode == 0


def test_keys_are_private_and_in_no_command_line(up: Installation) -> None:
    secrets = msgspec.json.decode((up.data / "keys.json").read_bytes(), type=dict[str, str]).values()
    assert len(secrets) == 2
    for path in (up.data / "keys.json", up.data / "worker.key", up.local_file):
        assert path.stat().st_mode & 0o077 == 0
    for process in up.processes():
        assert not any(secret in " ".join(words(process)) for secret in secrets)


def test_a_second_worker_finds_the_server_and_its_key_by_itself(up: Installation) -> None:
    command = [sys.executable, "-m", "horae.cli", "worker", "--app", "examples/demo.py:app", "--name", "second"]
    worker = subprocess.Popen(command, cwd=ROOT, env=up.environ)
    try:
        until(lambda: "second" in up.run("workers").stdout)
    finally:
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(60) == 0


def test_a_worker_that_is_killed_is_started_again(up: Installation) -> None:
    (worker,) = up.workers()
    worker.kill()
    until(lambda: [p.pid for p in up.workers()] not in ([], [worker.pid]))
    done = up.run("submit", "add", "--param", "a=2", "--param", "b=2", "--wait")
    assert done.stdout == "4\n", done.stderr


def test_a_database_that_is_killed_is_started_again(up: Installation) -> None:
    pid_file = up.data / "postgresql/postmaster.pid"
    killed = int(pid_file.read_text().split()[0])
    os.kill(killed, signal.SIGKILL)
    until(lambda: pid_file.exists() and pid_file.read_text().split()[:1] != [str(killed)])
    until(lambda: up.run("submit", "add", "--param", "a=3", "--param", "b=3", "--wait").stdout == "6\n")


def test_a_data_folder_in_use_is_refused_in_words(up: Installation, home: Path) -> None:
    done = program("up", "--data", str(up.data), "--port", "0")
    assert done.returncode == 1
    assert "already used by horae" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_refused_in_words(reachable_path: Path, home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = program("up", "--data", str(reachable_path / "data"), "--port", str(port))
    assert done.returncode == 1
    assert f"port {port}" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unsafe_database_is_refused_in_words(database: str, tmp_path: Path, home: Path) -> None:
    environ = {**os.environ, "HORAE_DATABASE": database}
    for command in (("up", "--data", str(tmp_path / "data"), "--port", "0"), ("server", "--port", "0")):
        done = program(*command, env=environ)
        assert done.returncode == 1
        assert "fsync = off" in done.stderr
        assert "Traceback" not in done.stderr


def test_it_stops_cleanly_and_starts_again_with_the_same_keys(reachable_path: Path) -> None:
    companion, told = reachable_path / "companion.py", reachable_path / "told"
    companion.write_text(f"import os, time\nopen({str(told)!r}, 'w').write(os.environ['HORAE_URL'])\ntime.sleep(600)\n")
    with installation(reachable_path, *APP, "--with", str(companion)) as it:
        it.wait_for_worker()
        until(lambda: told.exists() and told.read_text() == it.url)
        processes = it.processes()
        keys = (it.data / "keys.json").read_bytes()
        job_id = it.run("submit", "add", "--param", "a=1", "--param", "b=1", "--delay", "1h").stdout.strip()
        assert it.stop(signal.SIGINT) == 0
        assert gone(processes)
        assert not it.local_file.exists()
        assert not (it.data / "postgresql/postmaster.pid").exists()
        it.start()
        assert (it.data / "keys.json").read_bytes() == keys
        assert it.run("job", job_id, "--json").returncode == 0


def test_nothing_outlives_an_up_that_is_killed(reachable_path: Path) -> None:
    with installation(reachable_path, *APP) as it:
        it.wait_for_worker()
        processes = it.processes()
        it.stop(signal.SIGKILL)
        assert gone(processes)


def test_a_second_signal_hurries(reachable_path: Path) -> None:
    with installation(reachable_path, *APP) as it:
        it.wait_for_worker()
        job_id = it.run("submit", "report", "--param", "pages=1000").stdout.strip()
        until(lambda: "running" in it.run("job", job_id).stdout)
        processes = it.processes()
        assert it.process is not None
        it.process.send_signal(signal.SIGTERM)
        it.expect("stopping")
        assert it.stop(signal.SIGTERM) == 0
        assert gone(processes)


def test_a_server_on_a_database_of_ones_own_gets_its_first_key_there(database: str, home: Path) -> None:
    environ = {**os.environ, "HORAE_DATABASE": database, "HORAE_ALLOW_UNSAFE": "true"}
    secret = program("key", "create", "first", "--role", "admin", "--database", database).stdout.strip()
    command = [sys.executable, "-m", "horae.cli", "server", "--port", "0", "--objects", str(home / "objects")]
    server = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url = server.stdout.readline().split()[-1]
        assert "first" in program("whoami", "--url", url, "--key", secret).stdout
    finally:
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0


def test_a_server_refuses_a_database_that_is_not_migrated(empty_database: str, home: Path) -> None:
    done = program("server", "--port", "0", "--database", empty_database)
    assert done.returncode == 1
    assert "horae migrate" in done.stderr
    assert "Traceback" not in done.stderr
