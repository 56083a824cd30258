"""Runs as a process of its own and becomes the sandbox: what must be done before bubblewrap, or can only be done by us.

A launcher is started before there is a job for it: starting Python and joining control groups takes longer than all the
rest. So it imports little, and nothing but the standard library. Then it waits for one message with an order (a file in
memory), sets the job's limits, and makes a mount namespace, which ends with the job. In it goes what bubblewrap cannot
make:

    STAGE/box       a tmpfs of limited size, not executable, with the job's /tmp, /output and /dev/shm: all it can write
    STAGE/NAME      what the agent shows of the host, opened while we still have its rights
    STAGE/files/…   small files that shall never be on a disk

The agent gets an open descriptor of the box, which it can read when the job and the mount are gone. Then we become the
job's user, if we were root, and bubblewrap takes over.
"""

# Importing typing, signal or pathlib takes longer than all of this to run.
# ruff: noqa: PTH102, PTH112, PTH123

from __future__ import annotations

import _socket
import ctypes
import marshal
import os
import resource
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

STAGE: Final = "/tmp"  # noqa: S108 - in a mount namespace of our own, where we cover it first
_NEWNS: Final = 0x00020000
_NEWUSER: Final = 0x10000000
_NOSUID, _NODEV, _NOEXEC = 2, 4, 8
_BIND: Final = 0x1000
_REC: Final = 0x4000
_PRIVATE: Final = 0x40000
_SIGKILL: Final = 9
_PR_SET_PDEATHSIG: Final = 1
_PR_SET_NO_NEW_PRIVS: Final = 38
_LANDLOCK_CREATE_RULESET: Final = 444
_LANDLOCK_RESTRICT_SELF: Final = 446
_SCOPE_ABSTRACT_SOCKETS: Final = 1
_OOM_SCORE: Final = 500
"""When the host itself runs out of memory, jobs go before the agent and its neighbours."""
_FAILED: Final = 125

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    agent = _socket.socket(fileno=int(sys.argv[1]))
    os.set_inheritable(agent.fileno(), False)  # noqa: FBT003
    os.umask(0o022)  # Whatever the agent's is: the job's user must be able to read what we make.
    parent = os.getppid()
    try:
        for entrance in sys.argv[3:]:
            _write(entrance, str(os.getpid()))
        order = _receive(agent)
        if order is None:
            return
        _die_with(parent)
        _limit(order["rlimits"])
        if order["box"] is not None:
            _stage(order, agent)
        os.chdir(order["folder"])
        _become(order["user"])
        _die_with(parent)
        if order["shares_network"]:
            _leave_abstract_sockets()
        _execute(order)
    except (OSError, ValueError) as error:
        os.write(2, f"horae: the job cannot be started: {error}\n".encode())
        os._exit(_FAILED)


def _receive(agent: _socket.socket) -> dict[str, Any] | None:
    """None when the agent has no use for us any more."""
    data, extra, _, _ = agent.recvmsg(1, _socket.CMSG_SPACE(4))
    if not data:
        return None
    with os.fdopen(int.from_bytes(extra[0][2], sys.byteorder), "rb") as file:
        file.seek(0)
        order: dict[str, Any] = marshal.load(file)  # noqa: S302 - from the agent, written a moment ago
        return order


def _die_with(parent: int) -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(_FAILED)


def _limit(limits: list[tuple[int, int]]) -> None:
    for which, wanted in limits:
        hard = resource.getrlimit(which)[1]
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(which, (most, most))
    with open("/proc/self/oom_score_adj", "r+") as score:
        # To lower it would take a right that we may not have.
        if int(score.read()) < _OOM_SCORE:
            score.write(str(_OOM_SCORE))


# The stage.


def _stage(order: dict[str, Any], agent: _socket.socket) -> None:
    user, box = order["user"], order["box"]
    _leave_host()
    shown = [(os.open(source, os.O_PATH | os.O_CLOEXEC), name) for source, name in order["shown"]]
    _mount("tmpfs", STAGE, "tmpfs", _NOSUID | _NODEV | _NOEXEC, f"mode=0755,size={order['stage_bytes']}")
    for source, name in shown:
        _show(source, f"{STAGE}/{name}")
    _put_files(order["files"], user)
    os.mkdir(f"{STAGE}/box")
    options = f"mode=0755,size={box['bytes']},nr_inodes={box['files']}"
    _mount("tmpfs", f"{STAGE}/box", "tmpfs", _NOSUID | _NODEV | (0 if box["executable"] else _NOEXEC), options)
    for name in box["folders"]:
        os.mkdir(f"{STAGE}/box/{name}", 0o700)
        if user is not None:
            os.chown(f"{STAGE}/box/{name}", user, user)
    descriptor = os.open(f"{STAGE}/box", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    agent.sendmsg([b"b"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, descriptor.to_bytes(4, sys.byteorder))])
    os.close(descriptor)


def _leave_host() -> None:
    """What we mount from here on nobody else sees, and it is gone when we are."""
    user, group = os.geteuid(), os.getegid()
    _call("unshare", _NEWNS if user == 0 else _NEWNS | _NEWUSER)
    if user != 0:
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")
    _mount("none", "/", "", _REC | _PRIVATE)


def _show(source: int, target: str) -> None:
    if os.path.isdir(f"/proc/self/fd/{source}"):
        os.mkdir(target)
    else:
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o400))
    _mount(f"/proc/self/fd/{source}", target, "", _BIND | _REC)


def _put_files(files: dict[str, bytes], user: int | None) -> None:
    os.mkdir(f"{STAGE}/files")
    for name, content in files.items():
        file = os.open(f"{STAGE}/files/{name}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o400)
        os.write(file, content)
        if user is not None:
            os.fchown(file, user, user)
        os.close(file)


# The end of us.


def _become(user: int | None) -> None:
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)


def _leave_abstract_sockets() -> None:
    """Sockets without a file belong to the network, and with it a job would reach those of the host's programs.
    Landlock keeps it away from them, on kernels that can (6.12 and newer)."""
    rules = (ctypes.c_uint64 * 3)(0, 0, _SCOPE_ABSTRACT_SOCKETS)
    ruleset = _libc.syscall(_LANDLOCK_CREATE_RULESET, ctypes.byref(rules), ctypes.sizeof(rules), 0)
    if ruleset >= 0:
        _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        _libc.syscall(_LANDLOCK_RESTRICT_SELF, ruleset, 0)
        os.close(ruleset)


def _execute(order: dict[str, Any]) -> None:
    """Options go through a descriptor: secrets are among them, and a command line is for everybody to read."""
    status, command = int(sys.argv[2]), order["command"]
    shut_in = order["box"] is not None
    os.set_inheritable(status, shut_in)
    if shut_in:
        options = ["--json-status-fd", str(status), "--seccomp", _hand(order["filter"])]
        options += ["--args", _hand(order["options"]), "--"]
        command = [order["bubblewrap"], *options, *command]
    os.execve(command[0], command, order["environment"])  # noqa: S606


def _hand(content: bytes) -> str:
    """Bubblewrap reads the descriptor to its end and closes it."""
    file = os.memfd_create("handed", 0)
    os.write(file, content)
    os.lseek(file, 0, os.SEEK_SET)
    return str(file)


def _write(path: str, text: str) -> None:
    file = os.open(path, os.O_WRONLY)
    try:
        os.write(file, text.encode())
    finally:
        os.close(file)


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    _call("mount", source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode())


def _call(name: str, *arguments: Any) -> None:
    if getattr(_libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        where = f" {arguments[1].decode()}" if name == "mount" else ""
        raise OSError(number, f"{name}{where}: {os.strerror(number)}")


if __name__ == "__main__":
    main()
