"""The folder of a script or container: what it is given, where it puts what it makes, and how that is taken.

`given/` can only be read: the parameters, the last checkpoint, and the FIFO for events (opening a FIFO to write works
on a read-only mount). `output/` is where what the job has made is looked for. Nothing in it is trusted: it is walked
and read through file descriptors, no link is followed, and only regular files are read.
"""

import contextlib
import os
import re
import stat
from pathlib import Path
from typing import Any, Final

import msgspec

from horae.model.errors import InvalidInput
from horae.model.job import MAX_RESULT_BYTES
from horae.model.kinds import ResultFrom
from horae.model.template import fill_all
from horae.worker.errands.errand import Errand
from horae.worker.errands.events import make_fifo

RESULT: Final = ".result"
_LONGEST_VARIABLE: Final = 32 * 1024
_ENTRY_BYTES: Final = 1024
"""What a file counts at least: a million empty ones fill a disk too."""
_DEEPEST: Final = 64
_NOT_IN_NAMES: Final = re.compile(r"\W", re.ASCII)


class Workspace:
    def __init__(self, errand: Errand, *, owner: int | None = None) -> None:
        """`owner`: the user that the job runs as, if that is another one than the agent's."""
        self._errand = errand
        self.given = errand.folder / "given"
        self.output = errand.folder / "output"
        self.events = self.given / "events"
        self._make(owner)

    def _make(self, owner: int | None) -> None:
        self.given.mkdir()
        self.given.chmod(0o755)  # The job's user must see it, whatever the umask is.
        self.output.mkdir(mode=0o700, exist_ok=True)
        if owner is not None:
            os.chown(self.output, owner, owner)
        make_fifo(self.events)
        grant = self._errand.grant
        write_readable(self.given / "params.json", bytes(grant.params))
        if grant.checkpoint is not msgspec.UNSET:
            write_readable(self.given / "checkpoint.json", bytes(grant.checkpoint))

    # What the job gets.

    @property
    def params(self) -> dict[str, Any]:
        params = msgspec.json.decode(self._errand.grant.params)
        return params if isinstance(params, dict) else {}

    def environment(self, given: str, output: str, secret_files: str) -> dict[str, str]:
        """All variables of the job, with the folders as it sees them. Horae's own go over the task's."""
        task, secrets, params = self._errand.brief.task, self._errand.brief.secrets, self.params
        env = task.env or {}
        variables = dict(zip(env, fill_all(env.values(), params, secrets), strict=True))
        variables |= self._secrets(secret_files) | _parameters(params) | self._own(given, output)
        for name, value in variables.items():
            if "\0" in value:
                raise InvalidInput(f"the variable {name} has a null character, which no environment can hold")
        return variables

    def _own(self, given: str, output: str) -> dict[str, str]:
        grant = self._errand.grant
        return {
            "HORAE_JOB_ID": grant.id,
            "HORAE_ATTEMPT": str(grant.attempt),
            "HORAE_TASK": grant.task,
            "HORAE_PARAMS": f"{given}/params.json",
            "HORAE_CHECKPOINT": f"{given}/checkpoint.json",
            "HORAE_EVENTS": f"{given}/events",
            "HORAE_OUTPUT": output,
            "HORAE_RESULT": f"{output}/{RESULT}",
        }

    def _secrets(self, folder: str) -> dict[str, str]:
        given = self._errand.brief.secrets
        return {
            use.env or use.name: f"{folder}/{use.name}" if use.file else given[use.name]
            for use in self._errand.brief.task.secrets or ()
        }

    def secret_files(self) -> dict[str, bytes]:
        """Those that the task wants in files, by the name of the file."""
        given = self._errand.brief.secrets
        return {use.name: given[use.name].encode() for use in self._errand.brief.task.secrets or () if use.file}

    # What the job made.

    def result(self, source: ResultFrom, last_line: bytes | None) -> bytes | None:
        """JSON. The result file is taken away, so that it is not collected as one of the files."""
        data = self._take_result()
        if data is not None and source is not ResultFrom.LAST_LINE:
            return _as_json(data)
        if last_line is None or source is ResultFrom.FILE:
            return None
        return last_line if _is_json(last_line) else None if source is ResultFrom.AUTO else _as_json(last_line)

    def _take_result(self) -> bytes | None:
        folder = os.open(self.output, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            return _read_regular(RESULT, folder)
        finally:
            os.close(folder)
            self.discard_result()

    def discard_result(self) -> None:
        """Of a job that has failed: nobody wants it."""
        with contextlib.suppress(OSError):
            (self.output / RESULT).unlink()

    def exceeds(self, most: int) -> bool:
        """Whether the output folder holds more bytes than that. May be called while the job writes to it."""
        return _weigh(os.open(self.output, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW), most) < 0


def write_readable(path: Path, data: bytes) -> None:
    """By every user who gets to its folder."""
    path.write_bytes(data)
    path.chmod(0o444)


def _parameters(params: dict[str, Any]) -> dict[str, str]:
    """Each of them that is text, a number or a truth value: HORAE_PARAM_NAME."""
    variables = {}
    for name, value in params.items():
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        if isinstance(value, str | int | float) and len(text) <= _LONGEST_VARIABLE and "\0" not in text:
            variables["HORAE_PARAM_" + _NOT_IN_NAMES.sub("_", name).upper()] = text
    return variables


def _read_regular(name: str, folder: int) -> bytes | None:
    try:
        # Without waiting for the writer of a FIFO that was planted there.
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError:
        return None
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode):
        os.close(file)
        return None
    with os.fdopen(file, "rb") as opened:
        if status.st_size > MAX_RESULT_BYTES:
            text = f"the result has {status.st_size:,} bytes, more than {MAX_RESULT_BYTES:,}"
            raise InvalidInput(f"{text}: write it to HORAE_OUTPUT as a file instead")
        return opened.read(MAX_RESULT_BYTES)


def _weigh(folder: int, left: int, depth: int = 0) -> int:
    """What is left of so many bytes; negative once it is exceeded. Closes the folder."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                left -= _size(entry.name, folder)
                if left >= 0 and entry.is_dir(follow_symlinks=False):
                    left = _weigh_below(entry.name, folder, left, depth)
                if left < 0:
                    break
    finally:
        os.close(folder)
    return left


def _weigh_below(name: str, folder: int, left: int, depth: int) -> int:
    if depth >= _DEEPEST:
        return -1
    try:
        below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
    except OSError:
        return left  # The job has removed it, or put something else in its place.
    return _weigh(below, left, depth + 1)


def _size(name: str, folder: int) -> int:
    try:
        return max(_ENTRY_BYTES, os.lstat(name, dir_fd=folder).st_blocks * 512)
    except OSError:
        return 0


def _is_json(data: bytes) -> bool:
    try:
        msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _as_json(data: bytes) -> bytes:
    """JSON as it is; anything else as a text."""
    return data if _is_json(data) else msgspec.json.encode(data.decode(errors="replace"))
