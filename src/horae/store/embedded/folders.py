"""Where the embedded database lives, and that nobody else uses it.

A data folder holds `horae.lock` (held while it is in use), `postgresql/` (PostgreSQL's own files), the configuration
written anew at each start, the log, and `sockets/`. Only `postgresql/` and `sockets/` belong to the account of the
database: if the folder itself did, that account could make root write through its symbolic links.

A socket's path may have 107 bytes at most. When the data folder's path is too long for that, the socket goes to a short
private folder that is named after it.
"""

import errno
import fcntl
import hashlib
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from horae.model.errors import SetupError
from horae.store.embedded.account import Account, account_name

LOCK = "horae.lock"
PGDATA = "postgresql"
SOCKET_FOLDER = re.compile(r"[\w./-]{1,80}", re.ASCII)
"""Short enough for any socket's name, and nothing that would need quoting in a setting or a DSN."""


def default_data_dir(environ: Mapping[str, str], uid: int) -> Path:
    if uid == 0:
        return Path("/var/lib/horae")
    configured = environ.get("XDG_DATA_HOME", "")
    # The XDG specification says that a relative path is to be ignored.
    base = Path(configured) if configured.startswith("/") else Path(environ.get("HOME") or Path.home(), ".local/share")
    return base / "horae"


@contextmanager
def explained(data: Path) -> Iterator[None]:
    """Turn what the operating system refuses into what the operator can do about it."""
    try:
        yield
    except OSError as error:
        raise SetupError(_explanation(data, error)) from error


def _explanation(data: Path, error: OSError) -> str:
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return disk_full(data)
        case errno.EACCES | errno.EPERM | errno.EROFS:
            who = account_name(os.geteuid())
            return f"User '{who}' may not write to {error.filename or data}: change its owner, or choose another --data"
        case errno.ENOTDIR | errno.EEXIST:
            return f"{error.filename or data} is not a folder: choose another --data"
        case _:
            return f"The data folder {data} cannot be used: {error}; choose another --data"


def disk_full(data: Path) -> str:
    return f"The disk that holds {data} is full: free some space, or choose another --data"


def prepare_data_folder(data: Path, account: Account) -> None:
    """Make the folder, or make sure that it is ours and that PostgreSQL can reach it."""
    if not data.exists():
        data.mkdir(parents=True)
        # The account of the database has to pass through, not to look round.
        data.chmod(0o711 if account.switch else 0o700)
    entries = {entry.name for entry in data.iterdir()} - {"lost+found"}
    if "PG_VERSION" in entries:
        raise SetupError(f"{data} is the folder of another PostgreSQL server: choose another --data")
    if entries and not entries & {LOCK, PGDATA}:
        raise SetupError(f"{data} is not empty and not a data folder of Horae: choose an empty one with --data")
    if not account.can_enter(data):
        raise SetupError(
            f"PostgreSQL runs as user '{account.name}', who cannot enter {data}: "
            "choose a --data outside of private folders, such as /var/lib/horae"
        )


def check_pgdata(pgdata: Path, account: Account, major: int) -> None:
    """Refuse what an existing database folder cannot be served with."""
    owner = pgdata.stat().st_uid
    if owner != account.uid:
        raise SetupError(
            f"{pgdata} belongs to user '{account_name(owner)}', but PostgreSQL would run as '{account.name}': "
            f"start Horae as the user who made it, or chown -R {account.uid} it, or choose another --data"
        )
    made_by = (pgdata / "PG_VERSION").read_text().strip()
    if made_by != str(major):
        raise SetupError(
            f"{pgdata} was made by PostgreSQL {made_by}, and this Horae carries PostgreSQL {major}: "
            "move the data with pg_dump and pg_restore, or choose another --data"
        )


BURIAL_SECONDS: Final = 2.0


class DataLock:
    """Held as long as the data folder is in use; the kernel lets go of it when the process ends, however it ends."""

    def __init__(self, data: Path) -> None:
        self._file = os.open(data / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            self._take(data)
        except BaseException:
            self.release()
            raise

    def _take(self, data: Path) -> None:
        """Waits a moment: a process that was killed just now holds its lock until the kernel has buried it."""
        deadline = time.monotonic() + BURIAL_SECONDS
        while not self._try():
            if time.monotonic() < deadline:
                time.sleep(0.05)
                continue
            holder = os.read(self._file, 20).decode().strip() or "unknown"
            raise SetupError(f"{data} is already used by horae (pid {holder}); stop it or choose another --data")
        os.ftruncate(self._file, 0)
        os.write(self._file, f"{os.getpid()}\n".encode())

    def _try(self) -> bool:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def release(self) -> None:
        os.close(self._file)


def socket_folder(data: Path, account: Account, environ: Mapping[str, str]) -> Path:
    """Where the socket goes: into the data folder, or if its path is too long or too odd for that, to a short place."""
    name = f"horae-{hashlib.sha256(bytes(data)).hexdigest()[:16]}"
    private = [] if account.switch else [environ.get("XDG_RUNTIME_DIR", "")]
    bases = [base for base in (*private, tempfile.gettempdir(), "/tmp") if base]  # noqa: S108 see make_private
    for folder in (data / "sockets", *(Path(base, name) for base in bases)):
        if SOCKET_FOLDER.fullmatch(str(folder)) and account.can_enter(folder.parent):
            return folder
    raise SetupError(f"User '{account.name}' can enter no folder for temporary files: set TMPDIR to one that is short")


def make_private(folder: Path, account: Account) -> None:
    """Only the database's account (and root) can enter it: being let in is being authenticated."""
    try:
        folder.mkdir(mode=0o700)
        account.own(folder)
    except FileExistsError:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != account.uid or found.st_mode & 0o077:
            raise SetupError(
                f"{folder} is not a private folder of user '{account.name}': somebody else made it; remove it"
            ) from None
