"""Which engine is taken, and what is said when none can be."""

import asyncio
import secrets
import shutil

import msgspec
import pytest

from horae.worker.containers.finding import find_engine
from horae.worker.containers.profile import make_profile
from horae.worker.containers.settings import ContainerSettings

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.usefixtures("root")]
PODMAN = shutil.which("podman")


@pytest.fixture
def find(tmp_path, monkeypatch):
    profile = tmp_path / "profile"
    profile.write_bytes(msgspec.json.encode(make_profile()))

    async def find(program=None, **settings):
        """With this text as the host's podman, and no docker."""
        if program is not None:
            folder = tmp_path / "bin"
            folder.mkdir(exist_ok=True)
            (folder / "podman").write_text(f"#!/bin/sh\n{program}\n")
            (folder / "podman").chmod(0o755)
            monkeypatch.setattr(shutil, "which", lambda name: str(folder / name) if name == "podman" else None)
        return await find_engine(ContainerSettings(**settings), tmp_path, profile, secrets.token_hex(4))

    return find


async def test_a_way_is_found_by_trying_and_remembered(find, tmp_path):
    """As on a host whose default runtime cannot run anything."""
    case = f'*"--runtime=runc run "*|*info*) exec {PODMAN} "$@";;'
    program = f'echo "$@" >> {tmp_path}/calls; case "$*" in {case} esac; exit 126'
    found = await find(program)
    assert found.engine is not None, found.reason
    assert "--runtime=runc" in found.engine.options
    assert found.engine.isolation == "podman+runc+seccomp+cgroup"
    assert (tmp_path / "calls").read_text().count(" run ") > 1
    (tmp_path / "calls").unlink()
    again = (await find(program)).engine
    assert again is not None
    assert (again.options, again.isolation) == (found.engine.options, found.engine.isolation)
    assert (tmp_path / "calls").read_text().count(" run ") == 1


async def test_what_to_install_is_said(find, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    found = await find()
    assert found.engine is None
    assert found.reason.startswith("podman is not installed; docker is not installed; install podman")


async def test_an_engine_without_seccomp_or_groups_is_refused(find):
    info = {"host": {"cgroupControllers": ["memory"], "security": {"seccompEnabled": True}}}
    found = await find(f"echo '{msgspec.json.encode(info).decode()}'")
    assert "it has no control groups for cpu, pids" in found.reason
    info["host"] |= {"cgroupControllers": ["memory", "cpu", "pids"], "security": {"seccompEnabled": False}}
    found = await find(f"echo '{msgspec.json.encode(info).decode()}'")
    assert "it was built without seccomp" in found.reason


async def test_a_runtime_that_is_not_there_is_said(find):
    found = await find(f'exec {PODMAN} "$@"', runtime="no-such-runtime")
    assert found.engine is None
    assert "no-such-runtime" in found.reason


async def test_an_engine_that_never_answers_is_given_up(find, monkeypatch):
    monkeypatch.setattr("horae.worker.containers.finding._PATIENCE", 0.2)
    found = await asyncio.wait_for(find("exec sleep 60"), 50)
    assert "did not answer within 0.2 s" in found.reason
