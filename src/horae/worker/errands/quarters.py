"""Where an agent keeps what its errands need, and how the next one finds what a dead one left.

Every life of an agent has a folder of its own under the state folder, named by a token that is never used again, and
holds a lock on it as long as it lives. The kernel lets go of the lock whatever the agent dies of; so a folder whose
lock can be had belongs to a dead agent, and whoever has the lock is the only one who cleans up after it. The folder
goes last: until it is gone, the next start tries again.
"""

import asyncio
import contextlib
import fcntl
import os
import secrets
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import structlog

from horae.model.errors import SetupError
from horae.model.kinds import Kind
from horae.worker import tree
from horae.worker.config import AgentConfig
from horae.worker.sandbox.groups import sweep_everywhere
from horae.worker.sandbox.mounts import unmount_below

log = structlog.get_logger()
MARK: Final = "HORAE_ERRAND"
_LIVES: Final = "agents"
_LOCK: Final = "lock"


class Quarters:
    def __init__(self, state: Path, unsandboxed: Iterable[Kind] = (), grace: float = 5.0) -> None:
        self.agent = secrets.token_hex(6)
        """The token of this life. It is in the mark of everything that it starts."""
        self.unsandboxed = frozenset(unsandboxed)
        """Kinds that the operator lets run without a sandbox."""
        self.grace = grace
        """Seconds between asking a job to stop and killing it."""
        self.cache = _folder(state / "cache")
        """Kept between lives and shared with the other agents of this state folder."""
        self._lives = _folder(state / _LIVES)
        self.folder = self._lives / self.agent
        """This life's own; gone when it ends."""
        # One at a time: a folder that was made a moment ago and is not locked yet must not pass for a dead agent's.
        with os.fdopen(_lock(state, wait=True)):
            self._dead = self._find_dead()
            self._lock = _lock(_folder(self.folder))

    @property
    def dead(self) -> tuple[str, ...]:
        """Tokens of agents that died and left something. Nobody else cleans up after them now."""
        return tuple(self._dead)

    @property
    def mark_of_all(self) -> str:
        """What the environment of everything that this life starts begins with, in the words of `tree`."""
        return f"{MARK}={self.agent}/"

    def mark(self, job: str, attempt: int) -> str:
        return f"{self.agent}/{job}/{attempt}"

    def errand_folder(self, job: str, attempt: int) -> Path:
        folder = self.folder / f"{job}.{attempt}"
        folder.mkdir(mode=0o700)
        return folder

    # After the dead.

    def _find_dead(self) -> dict[str, int]:
        locks = {}
        for folder in self._lives.iterdir():
            with contextlib.suppress(OSError):
                locks[folder.name] = _lock(folder)
        return locks

    async def end_dead_processes(self) -> None:
        """First of all: what still runs would go on writing to what is to be removed."""
        for token in self._dead:
            await asyncio.to_thread(tree.end_marked, f"{MARK}={token}/")

    async def remove_dead(self) -> None:
        """Last of all, when each runner has removed what it knows of. Whatever kinds of tasks this host runs now."""
        for token, lock in self._dead.items():
            log.info("cleaned_up_after_dead_agent", agent=token)
            await asyncio.to_thread(self._remove_life, token)
            os.close(lock)
        self._dead = {}

    def _remove_life(self, token: str) -> None:
        unmount_below(self._lives / token)
        sweep_everywhere(token)
        remove_folder(self._lives / token)

    async def close(self) -> None:
        await asyncio.to_thread(remove_folder, self.folder)
        for lock in (self._lock, *self._dead.values()):
            os.close(lock)


def open_quarters(config: AgentConfig) -> Quarters | None:
    """None for a worker that runs functions only, which leaves nothing that its keeper does not end, and finds nothing
    that another has left."""
    state = Path(config.state).expanduser() if config.state else default_state(os.environ, os.geteuid())
    if not config.kinds and not _has_lives(state):
        return None
    return Quarters(state.absolute(), [Kind(kind) for kind in config.unsandboxed], config.grace)


def _has_lives(state: Path) -> bool:
    try:
        return any((state / _LIVES).iterdir())
    except OSError:
        return False


def default_state(environ: Mapping[str, str], user: int) -> Path:
    """As the system's services have it for root; else in the user's state folder."""
    if user == 0:
        return Path("/var/lib/horae-worker")
    base = environ.get("XDG_STATE_HOME")
    if base or "HOME" in environ:
        return (Path(base) if base else Path(environ["HOME"]) / ".local/state") / "horae/worker"
    return Path(tempfile.gettempdir()) / f"horae-worker-{user}"


def remove_folder(folder: Path) -> None:
    """Whatever a job has made of it. No link is followed."""
    with contextlib.suppress(OSError, RecursionError):
        shutil.rmtree(folder)
    if os.path.lexists(folder):
        # It has folders without rights, or nested deeper than Python can go.
        for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
            subprocess.run([*command, "--", str(folder)], stderr=subprocess.DEVNULL, check=False)
    if os.path.lexists(folder):
        log.error("folder_not_removed", folder=str(folder))


def _folder(path: Path) -> Path:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.lstat()
    except OSError as error:
        raise SetupError(f"{path} cannot be used: {error.strerror}; choose another --state") from error
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise SetupError(f"{path} must be a folder that only this user can write; choose another --state")
    return path


def _lock(folder: Path, *, wait: bool = False) -> int:
    """Raises BlockingIOError when somebody has it, unless told to wait."""
    lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise
    return lock
