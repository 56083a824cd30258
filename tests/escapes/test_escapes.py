"""Every attempt is refused in a sandbox, of scripts and of containers, and gets through on the bare host."""

import asyncio
import os
import secrets
import socket
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from horae.model.kinds import Limits
from horae.worker.sandbox.syscalls import REFUSED
from worker.containers.conftest import python_root, root
from worker.containers.house import House as Containers
from worker.scripts.house import Done
from worker.scripts.house import House as Scripts

from .attempts import ATTEMPTS, CALLS, Attempt

__all__ = ["python_root", "root"]

asynchronous = pytest.mark.asyncio(loop_scope="session")
KILLED = {"oom", "limit"}
GENEROUS = Limits(memory="4GiB", processes=2000, open_files=4000, disk="4GiB")
PYTHON = f"/python/bin/python{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture(scope="session")
def bait(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Things of the host that a job should like to have."""
    folder, token = tmp_path_factory.mktemp("bait"), secrets.token_hex(16)
    (folder / "file").write_text(token)
    (folder / "other").mkdir()
    (folder / "other" / "file").write_text("another job's")
    with ExitStack() as stack:
        opened = stack.enter_context((folder / "file").open())
        os.set_inheritable(opened.fileno(), True)
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        for address in (str(folder / "socket"), "\0" + token):
            unix = stack.enter_context(socket.socket(socket.AF_UNIX))
            unix.bind(address)
            unix.listen()
        os.environ["HORAE_BAIT"] = token
        victim = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()", token])
        yield {
            "token": token,
            "file": str(folder / "file"),
            "folder": str(folder),
            "other": str(folder / "other"),
            "socket": str(folder / "socket"),
            "port": listening.getsockname()[1],
            "agent": os.getpid(),
            "victim": victim.pid,
        }
        del os.environ["HORAE_BAIT"]
        victim.kill()
        victim.wait()


async def opened(house: Any) -> Any:
    readiness = await house.runner.prepare()
    assert readiness.ready, readiness.reason
    return house


async def closed(house: Any) -> None:
    await house.runner.close()
    await house.quarters.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shut_in(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scripts]:
    house = await opened(Scripts(tmp_path_factory.mktemp("shut-in") / "state"))
    yield house
    await closed(house)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def at_large(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scripts]:
    house = await opened(Scripts(tmp_path_factory.mktemp("at-large") / "state", sandboxed=False))
    yield house
    await closed(house)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def containers(tmp_path_factory: pytest.TempPathFactory, python_root: Path) -> AsyncIterator[Containers]:
    house = await opened(Containers(tmp_path_factory.mktemp("containers") / "state", "none", roots=[str(python_root)]))
    yield house
    await closed(house)


def refused(done: Done) -> bool:
    """It has to say that it was, or to have been ended by a limit: one that fell over proves nothing."""
    assert "ESCAPED" not in done.errand.text, done.errand.text
    ended = done.error is not None and done.error.kind in KILLED
    return ended or done.errand.text.startswith("refused")


@asynchronous
@pytest.mark.parametrize("name", ATTEMPTS)
async def test_a_script_does_not_get_out(shut_in: Scripts, bait: dict[str, Any], name: str):
    done = await shut_in.run(source(ATTEMPTS[name]), "python3", bait)
    assert refused(done), (done.errand.text, done.errand.errors, done.error)


@asynchronous
@pytest.mark.parametrize("name", [name for name, attempt in ATTEMPTS.items() if attempt.containers])
async def test_a_container_does_not_get_out(containers: Containers, bait: dict[str, Any], python_root: Path, name: str):
    words = (PYTHON, "-I", "-S", "-c", source(ATTEMPTS[name]))
    done = await containers.run(*words, params=bait, image=f"rootfs:{python_root}")
    assert refused(done), (done.errand.text, done.errand.errors, done.error)


@asynchronous
@pytest.mark.skipif(os.getuid() != 0, reason="the bare host refuses much of it to users other than root")
@pytest.mark.parametrize("name", ATTEMPTS)
async def test_without_a_sandbox_the_same_attempt_succeeds(at_large: Scripts, bait: dict[str, Any], name: str):
    done = await at_large.run(source(ATTEMPTS[name]), "python3", bait, limits=GENEROUS)
    assert "ESCAPED" in done.errand.text, (done.errand.text, done.errand.errors, done.error)


def source(attempt: Attempt) -> str:
    return attempt._replace(body=textwrap.dedent(attempt.body)).source


@asynchronous
async def test_all_at_once_they_get_no_further(shut_in: Scripts, bait: dict[str, Any]):
    names = [name for name in ATTEMPTS if "bomb" not in name]
    done = await asyncio.gather(*(shut_in.run(source(ATTEMPTS[name]), "python3", bait) for name in names[:24]))
    assert all(refused(one) for one in done)


def test_the_numbers_are_those_of_the_filter():
    """A wrong one would call something else, on the bare host too."""
    known = {name: REFUSED[name] for name in CALLS if name in REFUSED}
    assert len(known) > 20
    assert {name: CALLS[name] for name in known} == known


def test_the_page_on_security_lists_them_all():
    page = (Path(__file__).parents[2] / "docs" / "security.md").read_text()
    rows = [line for line in page.splitlines() if line.endswith((" refused |", " – |"))]
    expected = [
        f"| {name} | {attempt.aim} | refused | {'refused' if attempt.containers else '–'} |"
        for name, attempt in ATTEMPTS.items()
    ]
    assert rows == expected
    count, of_containers = len(ATTEMPTS), sum(attempt.containers for attempt in ATTEMPTS.values())
    assert f"{count} attempts by scripts, {of_containers} of them by containers" in page
