"""The command line of bubblewrap: what a job sees, and nothing else.

Of the host it sees programs and libraries, read-only, and the few files of /etc that these need; no home, no /var, no
/run, no socket. It writes only to the box (see `launcher`), which appears as /tmp, /output and /dev/shm; everything
else is read-only, the root and /dev included, which bubblewrap itself leaves writable.
"""

import functools
import os
from pathlib import Path
from typing import Final

import msgspec

from horae.worker.sandbox.launcher import STAGE
from horae.worker.sandbox.limits import Bounds

USER: Final = 1000
"""Inside. Outside it is a user that owns nothing."""
OUTPUT: Final = "/output"
PATH: Final = "/usr/local/bin:/usr/bin:/bin"
BOX_FOLDERS: Final = ("tmp", "output", "shm")
_PROGRAMS: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_SETTINGS: Final = (
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/localtime",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/ca-trust/extracted",
    "/etc/ca-certificates",
    "/etc/mime.types",
)
_NETWORK_SETTINGS: Final = ("/etc/resolv.conf", "/etc/hosts", "/etc/gai.conf", "/etc/services", "/etc/protocols")
_SYNTHETIC: Final = {
    "passwd": b"job:x:1000:1000:job:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    "group": b"job:x:1000:\nnogroup:x:65534:\n",
    "nsswitch.conf": b"passwd: files\ngroup: files\nhosts: files dns\n",
}


class Cell(msgspec.Struct, kw_only=True, frozen=True):
    """What one job is shut in with."""

    command: list[str]
    environment: dict[str, str]
    bounds: Bounds
    shown: dict[str, Path] = {}
    """Path in the sandbox → file or folder of the host, read-only."""
    files: dict[str, bytes] = {}
    """Path in the sandbox → content; in memory only, for the job's user only."""
    network: bool = False
    executable: bool = False
    """Programs may be run from what the job has written."""
    output: str = OUTPUT


class Staged(msgspec.Struct, frozen=True):
    """The options, and what the launcher must have put on the stage for them."""

    options: list[str]
    shown: list[tuple[str, str]]
    files: dict[str, bytes]


def stage(cell: Cell, marks: dict[str, str], *, can_disable_userns: bool) -> Staged:
    options = list(_host(cell.network, can_disable_userns))
    shown = []
    files = {f"etc-{name}": content for name, content in _SYNTHETIC.items()}
    for number, (inside, source) in enumerate(cell.shown.items()):
        shown.append((str(source), f"shown{number}"))
        options += ["--ro-bind", f"{STAGE}/shown{number}", inside]
    for number, (inside, content) in enumerate(cell.files.items()):
        files[f"file{number}"] = content
        options += ["--ro-bind", f"{STAGE}/files/file{number}", inside]
    options += ["--bind", f"{STAGE}/box/output", cell.output, "--chdir", cell.output]
    options += ["--remount-ro", "/dev", "--remount-ro", "/"]
    for name, value in (cell.environment | marks).items():
        options += ["--setenv", name, value]
    return Staged(options, shown, files)


@functools.cache
def _host(network: bool, can_disable_userns: bool) -> tuple[str, ...]:  # noqa: FBT001 - the keys of a cache
    """What is the same for every job."""
    options = ["--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--clearenv"]
    options += ["--cap-drop", "ALL", "--uid", str(USER), "--gid", str(USER), "--hostname", "job"]
    options += ["--disable-userns"] if can_disable_userns else []
    options += ["--share-net"] if network else []
    for path in _PROGRAMS:
        options += _as_on_host(path)
    for path in (*_SETTINGS, *(_NETWORK_SETTINGS if network else ())):
        options += ["--ro-bind-try", path, path]
    for name in _SYNTHETIC:
        options += ["--ro-bind", f"{STAGE}/files/etc-{name}", f"/etc/{name}"]
    options += ["--proc", "/proc", "--dev", "/dev"]
    options += ["--bind", f"{STAGE}/box/shm", "/dev/shm", "--bind", f"{STAGE}/box/tmp", "/tmp"]  # noqa: S108
    return tuple(options)


def shows(program: str) -> bool:
    """Whether a program of the host can be run in the sandbox too, at the same path."""
    places = (Path(program), Path(program).resolve())
    return all(any(place.is_relative_to(folder) for folder in _PROGRAMS) for place in places)


def _as_on_host(path: str) -> list[str]:
    if os.path.islink(path):  # noqa: PTH114
        return ["--symlink", os.readlink(path), path]  # noqa: PTH115
    return ["--ro-bind", path, path] if os.path.isdir(path) else []  # noqa: PTH112
