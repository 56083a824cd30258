"""What a container cannot do, tried from inside."""

import json
import os
import platform
import secrets
import socket
import sys
from pathlib import Path

import pytest

from horae.model.kinds import Limits
from horae.model.states import End
from horae.worker.sandbox import syscalls

from .house import House

pytestmark = pytest.mark.asyncio(loop_scope="session")
ATTEMPTS = Path(__file__).with_name("attempts.py")
COLUMN = syscalls.ARCHITECTURES[platform.machine()].column
CALLS = {name: numbers[COLUMN] for name, numbers in syscalls.REFUSED.items() if numbers[COLUMN] is not None}
HARMLESS = ("unshare", "name_to_handle_at", "process_vm_readv")
"""Without arguments they change nothing."""
PLACES = "/x /bin/x /etc/x /home/x /run/x /dev/x /given/x /run/secrets /given/params.json /sys/fs/cgroup/x"


async def test_it_is_nobody_without_capabilities_behind_a_filter(house):
    script = "id -u; id -g; grep -E '^(Cap|NoNew|Seccomp:)' /proc/self/status; hostname; ulimit -c; ulimit -n"
    done = await house.shell(script, limits=Limits(open_files=77))
    assert done.errand.text.split() == [
        *("65534", "65534"),
        *(word for name in ("Inh", "Prm", "Eff", "Bnd", "Amb") for word in (f"Cap{name}:", "0000000000000000")),
        *("NoNewPrivs:", "1", "Seccomp:", "2", "job", "0", "77"),
    ]


@pytest.mark.parametrize("path", [*PLACES.split(), "/proc/sys/kernel/hostname"])
async def test_it_writes_nowhere_but_where_it_may(house, path):
    done = await house.shell(f"echo > {path}")
    assert done.end is End.ERROR
    assert done.errand.errors


async def test_where_it_may_write_nothing_can_be_executed(house):
    script = "for f in /tmp /output /dev/shm; do cp /bin/busybox $f/echo && $f/echo ran; done; true"
    done = await house.shell(script)
    assert (done.end, done.errand.text) == (End.SUCCEEDED, "")
    assert done.errand.errors.count("Permission denied") == 3


async def test_it_has_no_network_unless_it_was_granted(house):
    assert "eth" not in (await house.shell("ip -o addr")).errand.text
    with socket.create_server(("127.0.0.1", 0)) as server:
        done = await house.shell(f"nc -w 1 127.0.0.1 {server.getsockname()[1]} </dev/null && echo reached")
        assert (done.end, done.errand.text) == (End.ERROR, "")
    assert "inet 10." in (await house.shell("ip -o addr", network=True)).errand.text


async def test_it_sees_no_process_file_or_variable_of_the_host(house, monkeypatch, tmp_path):
    monkeypatch.setenv("HORAE_KEY", token := secrets.token_hex(8))
    (tmp_path / "file").write_text(token)
    script = (
        f"cat {tmp_path}/file; ps; env; cat /proc/*/environ; ls {house.quarters.folder}; kill -0 {os.getpid()}; true"
    )
    done = await house.shell(script)
    assert done.end is End.SUCCEEDED
    assert token not in done.errand.text
    assert sum("sh -c" in line for line in done.errand.text.splitlines()) <= 4
    assert done.errand.errors.count("No such file") == 2
    assert "No such process" in done.errand.errors


async def test_it_has_no_names_of_the_hosts_network(house):
    assert (await house.shell("cat /etc/hosts")).errand.text == "127.0.0.1 localhost job\n::1 localhost\n"


async def test_it_cannot_plant_devices_or_change_owners(house):
    done = await house.shell(
        "mknod /output/d c 1 3; mknod /tmp/d b 8 0; chown 0 /output; mount -t tmpfs x /tmp; chroot / id; true"
    )
    assert done.output == {}
    assert done.errand.errors.count("not permitted") == 4


async def test_calls_that_let_programs_out_are_refused(house, python_root):
    found = await _attempt(house, python_root)
    assert len(found) > len(CALLS) > 60
    assert (found.pop("AF_INET"), found.pop("route"), found.pop("TIOCGWINSZ")) == ("done", "done", "ENOTTY")
    # A call that the engine's library does not know yet is not there at all.
    assert {name: what for name, what in found.items() if what not in ("EPERM", "ENOSYS")} == {}


async def test_such_calls_get_through_without_the_sandbox(python_root, tmp_path):
    """Else the test before proves nothing. Only those that do no harm."""
    house = House(tmp_path / "state", "none", sandboxed=False, roots=[str(python_root)])
    assert (await house.runner.prepare()).isolation == "none"
    found = await _attempt(house, python_root, {name: CALLS[name] for name in HARMLESS})
    await house.runner.close()
    await house.quarters.close()
    through = {name for name, what in found.items() if what not in ("EPERM", "ENOSYS")}
    assert through >= {*HARMLESS, "TIOCSTI", "TIOCSTI with more bits", "AF_ALG"}


async def _attempt(house, root, calls=CALLS):
    python = f"/python/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    words = python, "-I", "-S", "-c", ATTEMPTS.read_text(), json.dumps(calls)
    done = await house.run(*words, image=f"rootfs:{root}")
    assert done.result is not None, (done.error, done.errand.errors)
    return done.result
