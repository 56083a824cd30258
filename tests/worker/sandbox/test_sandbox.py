"""What the sandbox shows, what it refuses, and what it falls back to. The large suite of escapes is elsewhere."""

import asyncio
import ctypes
import marshal
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest

from horae.model.errors import SetupError
from horae.model.states import End
from horae.worker import tree
from horae.worker.errands.quarters import MARK
from horae.worker.sandbox import hierarchy as hierarchies
from horae.worker.sandbox import launcher
from horae.worker.sandbox.bubblewrap import Cell, shows
from horae.worker.sandbox.hierarchy import Found
from horae.worker.sandbox.limits import Bounds
from horae.worker.sandbox.sandbox import Sandbox
from horae.worker.sandbox.trial import try_out
from worker.conftest import eventually

from .box import AGENT, Watcher, python, run

CALL = textwrap.dedent("""
    import ctypes, errno, os
    libc = ctypes.CDLL(None, use_errno=True)
    def call(number, *arguments):
        ctypes.set_errno(0)
        got = libc.syscall(number, *arguments)
        return errno.errorcode[ctypes.get_errno()] if got == -1 else "ok"
""")


def landlock_version() -> int:
    return ctypes.CDLL(None).syscall(444, None, 0, 1)


@pytest.fixture
async def sandbox():
    sandbox = Sandbox(secrets.token_hex(6))
    sandbox.find_tools()
    yield sandbox
    await sandbox.close()


async def test_the_trial_passes_here(sandbox):
    await try_out(sandbox, AGENT)
    assert sandbox.isolation == "bubblewrap+seccomp+cgroup"
    assert sandbox.remarks == []


async def test_a_trial_that_finds_no_filter_fails(sandbox):
    sandbox._filter = b""
    with pytest.raises(SetupError, match="does not"):
        await try_out(sandbox, AGENT)


async def test_a_host_without_bubblewrap_is_told_what_to_install(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(SetupError, match="install the package bubblewrap"):
        Sandbox(secrets.token_hex(6)).find_tools()


async def test_only_programs_and_what_they_need_can_be_seen(sandbox):
    seen = await run(sandbox, "/bin/ls", "-a", "/", "/etc")
    root, etc = seen.text.split("\n\n")
    programs = {"bin", "lib", "lib32", "lib64", "libx32", "sbin", "usr"}
    assert set(root.split()[3:]) <= programs | {"dev", "etc", "output", "proc", "tmp"}
    assert not {"shadow", "hosts", "resolv.conf", "hostname", "ssh"} & set(etc.split())


async def test_with_the_network_names_can_be_resolved(sandbox):
    seen = await run(sandbox, "/bin/cat", "/etc/hosts", network=True)
    assert seen.text == Path("/etc/hosts").read_text()


@pytest.mark.skipif(landlock_version() < 6, reason="this kernel cannot keep abstract sockets apart")
async def test_with_the_network_it_reaches_ports_but_no_socket_of_the_hosts_programs(sandbox):
    name = f"horae-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as abstract, socket.create_server(("127.0.0.1", 0)) as port:
        abstract.bind(f"\0{name}")
        abstract.listen()
        source = f"""
import socket
socket.create_connection(("127.0.0.1", {port.getsockname()[1]})).close()
print("port")
socket.socket(socket.AF_UNIX).connect("\\0{name}")
"""
        seen = await python(sandbox, source, network=True)
    assert seen.text == "port\n"
    assert "Operation not permitted" in seen.errors


async def test_without_the_network_there_is_only_a_loopback_of_its_own(sandbox):
    seen = await python(sandbox, "import socket; print([name for _, name in socket.if_nameindex()])")
    assert seen.text == "['lo']\n"


async def test_nothing_can_be_written_but_the_box(sandbox):
    source = """
import os
for place in ("/", "/dev", "/usr", "/etc", "/proc", "/proc/sys/kernel", "/sys", "/output", "/tmp", "/dev/shm"):
    try: open(place + "/x", "w").write("x"); print(place)
    except OSError: pass
"""
    assert (await python(sandbox, source)).text.split() == ["/output", "/tmp", "/dev/shm"]


async def test_nothing_that_it_writes_can_be_executed(sandbox):
    source = """
import os, shutil
for place in ("/output", "/tmp", "/dev/shm"):
    shutil.copy("/bin/true", place + "/true")
    try: os.spawnv(os.P_WAIT, place + "/true", ["true"]) == 0 and print("ran", place)
    except OSError: pass
"""
    assert (await python(sandbox, source)).text == ""


async def test_files_that_only_root_of_the_host_may_read_stay_so(sandbox, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    secret.chmod(0o600)
    seen = await run(sandbox, "/bin/cat", "/shown", shown={"/shown": secret})
    assert (seen.text, "Permission denied" in seen.errors) == ("", True)


async def test_it_is_another_user_outside(sandbox):
    running = asyncio.ensure_future(run(sandbox, "/bin/sleep", "600", mark=f"{AGENT}/user/1"))
    (user,) = await eventually(lambda: users_of("sleep", f"{AGENT}/user/1"))
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert 1_900_000_000 <= user < 2_000_000_000


def users_of(program: str, mark: str) -> set[int]:
    marked = [Path(f"/proc/{pid}") for pid in tree.marked(f"{MARK}={mark}")]
    return {folder.stat().st_uid for folder in marked if (folder / "comm").read_text().strip() == program}


async def test_calls_that_the_kernel_refuses(sandbox):
    source = CALL + textwrap.dedent("""
        import signal
        print(call(165, 0, 0, 0, 0, 0), call(272, 0x10000000), call(101, 0, 0, 0, 0), call(250, 0, 0), call(321, 0, 0),
              call(425, 1, 0), call(298, 0, 0, 0, 0, 0), call(323, 0), call(435, 0, 0), call(135, 0x40000),
              call(56, 0x10000000 | 17, 0, 0, 0, 0), call(41, 40, 1, 0), call(41, 16, 3, 9), call(41, 16, 3, 0))
    """)
    seen = await python(sandbox, source)
    assert seen.text.split() == ["EPERM"] * 8 + ["ENOSYS"] + ["EPERM"] * 4 + ["ok"]


async def test_a_call_of_the_x32_kind_kills_it(sandbox):
    seen = await python(sandbox, CALL + "call(0x40000000 + 39)")
    assert (seen.outcome.end, seen.outcome.error.message) == (End.CRASHED, "it was ended by SIGSYS")


async def test_it_inherits_no_descriptor_and_no_environment(sandbox):
    seen = await python(sandbox, "import os; print(sorted(os.listdir('/proc/self/fd'))[:3], sorted(os.environ))")
    assert seen.text == "['0', '1', '2'] ['HORAE_ERRAND', 'LC_CTYPE', 'PATH', 'PWD']\n"


async def test_threads_and_processes_work_in_it(sandbox):
    source = """
import concurrent.futures, subprocess
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    print(sum(pool.map(lambda n: int(subprocess.check_output(["echo", str(n)])), range(5))))
"""
    assert (await python(sandbox, source)).text == "10\n"


async def test_jobs_at_once_are_users_of_their_own_and_do_not_meet(sandbox):
    source = "import os; print(os.listdir('/tmp')); open('/tmp/x', 'w'); print(os.listdir('/tmp'), flush=True)"
    staying = Watcher()
    first = asyncio.ensure_future(
        python(sandbox, f"{source}; import signal; signal.pause()", mark=f"{AGENT}/1/1", watcher=staying)
    )
    await eventually(lambda: staying.text == "[]\n['x']\n")
    second = await python(sandbox, source, mark=f"{AGENT}/2/1")
    assert second.text == "[]\n['x']\n"
    assert len(sandbox._users) == 1
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    assert sandbox._users == set()


async def test_a_command_that_cannot_be_started_is_told(sandbox):
    seen = await run(sandbox, "/usr/bin/none")
    assert seen.outcome.end is not End.SUCCEEDED
    assert "/usr/bin/none" in seen.outcome.error.message + (seen.outcome.error.traceback or "")


async def test_what_cannot_be_shown_fails_the_job_and_not_the_agent(sandbox, tmp_path):
    seen = await run(sandbox, "/bin/true", shown={"/x": tmp_path / "none"})
    assert (seen.outcome.end, seen.outcome.error.kind) == (End.CRASHED, "sandbox")
    assert "No such file" in seen.outcome.error.traceback


async def test_a_launcher_that_has_died_is_replaced(sandbox):
    sandbox._prepare_next()
    os.kill(sandbox._spare.process.pid, signal.SIGKILL)
    await sandbox._spare.process.exited
    assert (await run(sandbox, "/bin/true")).outcome.end is End.SUCCEEDED


async def test_without_control_groups_rlimits_stand_in_and_the_level_says_so(monkeypatch):
    monkeypatch.setattr("horae.worker.sandbox.sandbox.find_hierarchy", lambda: Found(None, "not allowed"))
    sandbox = Sandbox(secrets.token_hex(6))
    sandbox.find_tools()
    await try_out(sandbox, AGENT)
    assert (sandbox.isolation, sandbox.remarks) == ("bubblewrap+seccomp+rlimits", ["not allowed"])
    hog = await python(sandbox, "bytearray(300_000_000)", bounds=Bounds(memory=200 * 2**20))
    assert "MemoryError" in hog.outcome.error.message
    forks = "import os\nfor _ in range(30):\n  if not os.fork(): __import__('signal').pause()"
    many = await python(sandbox, forks, bounds=Bounds(processes=20))
    assert "BlockingIOError" in many.outcome.error.message
    assert tree.marked(f"{MARK}={AGENT}/job/1") == []
    assert many.outcome.usage.cpu > 0
    await sandbox.close()


def test_programs_of_the_host_that_can_be_run():
    assert shows("/usr/bin/python3")
    assert shows("/bin/sh")
    assert not shows("/opt/x")
    assert not shows(sys.executable) or sys.executable.startswith("/usr")


# Others that start it.


@pytest.fixture
def public_folder():
    """pytest's own are for root alone, and each of its sessions that begins makes them so again."""
    with tempfile.TemporaryDirectory(prefix="horae-test-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


async def test_an_agent_that_is_not_root_has_the_same_sandbox(public_folder):
    """The launcher alone, as the user nobody, with the system's Python: the tests' own may be out of its reach."""
    copy = public_folder / "launcher.py"
    copy.write_bytes(Path(launcher.__file__).read_bytes())
    (public_folder / "drive.py").write_text(DRIVE)
    sandbox = Sandbox(secrets.token_hex(6))
    sandbox.find_tools()
    source = (
        "id -u; cat /proc/self/status | grep -E 'Seccomp:|CapEff'; touch /output/x /usr/x; cp /bin/true /tmp; /tmp/true"
    )
    order = sandbox._order(Cell(command=["/bin/sh", "-c", source], environment={}, bounds=Bounds()), None, None, "m")
    (public_folder / "order").write_bytes(marshal.dumps(order))
    for file in public_folder.iterdir():
        file.chmod(0o644)
    done = subprocess.run(
        [*AS_NOBODY, "/usr/bin/python3", str(public_folder / "drive.py")],
        capture_output=True,
        text=True,
        cwd="/",
        check=False,
    )
    assert done.stdout.split("\n")[:3] == ["1000", "CapEff:\t0000000000000000", "Seccomp:\t2"], done.stderr
    assert "/usr/x" in done.stderr
    assert "/tmp/true: Permission denied" in done.stderr
    assert done.stdout.endswith("box: ['x']\n")


AS_NOBODY = ("/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
DRIVE = """
import os, socket, subprocess, sys
here = os.path.dirname(os.path.abspath(__file__))
ours, theirs = socket.socketpair()
read, write = os.pipe()
command = ["/usr/bin/python3", "-I", "-S", here + "/launcher.py", str(theirs.fileno()), str(write)]
process = subprocess.Popen(command, pass_fds=(theirs.fileno(), write))
socket.send_fds(ours, [b"o"], [os.open(here + "/order", os.O_RDONLY)])
box = socket.recv_fds(ours, 1, 1)[1][0]
process.wait()
print("box:", os.listdir(os.open("output", os.O_RDONLY, dir_fd=box)))
"""


async def test_when_the_agent_is_killed_the_job_is_too(tmp_path):
    script = tmp_path / "agent.py"
    script.write_text(
        textwrap.dedent("""
            import asyncio, sys
            sys.path.insert(0, sys.argv[1])
            from worker.sandbox.box import run
            from horae.worker.sandbox.sandbox import Sandbox
            async def main():
                sandbox = Sandbox("doomed")
                sandbox.find_tools()
                print("go", flush=True)
                await run(sandbox, "/bin/sh", "-c", "setsid sleep 600 & sleep 600", mark=sys.argv[2])
            asyncio.run(main())
        """)
    )
    mark = f"doomed/{os.getpid()}/1"
    tests = str(Path(__file__).parents[2])
    agent = subprocess.Popen([sys.executable, str(script), tests, mark], stdout=subprocess.PIPE)
    await eventually(lambda: len(tree.marked(f"{MARK}={mark}")) >= 4)
    agent.kill()
    agent.wait()
    await eventually(lambda: not tree.marked(f"{MARK}={mark}"))
    groups = hierarchies.find_hierarchy().hierarchy
    assert any("doomed" in name for name in groups.names())
    Sandbox(secrets.token_hex(6)).find_tools(["doomed"])
    assert not any("doomed" in name for name in groups.names())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_agents_of_one_host_do_not_share_the_users_of_their_jobs():
    """The kernel counts processes by user: jobs of one agent would use up what those of another may have."""
    users = set()
    for agent in range(5):
        with Sandbox(str(agent))._user() as user:
            users.add(user)
    assert len(users) > 1
