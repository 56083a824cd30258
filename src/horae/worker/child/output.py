"""stdout and stderr of the child, marked so that the agent knows which job wrote what.

Jobs run in batches and the agent reads their output later, so the stream itself must say whose it is: before the first
bytes of a job goes a marker, `\\x1e NONCE : SEQ \\x1e`, and after its last ones a marker with 0. A job that writes
nothing costs nothing. Processes write to the same pipes without our wrapper; an audit hook marks them just before
one is started. Bytes outside any marks (C code) the agent gives to the job that the board shows.
"""

import contextlib
import io
import os
import sys
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final

from horae.worker.board import CURRENT, SPAWNED, Board

_SPAWNING: Final = frozenset({"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system"})
task_seq: ContextVar[int] = ContextVar("horae_seq", default=0)
"""The job of the running coroutine, in a concurrent child."""


class MarkedWriter(io.BufferedWriter):
    """Buffers lines of one job; puts a marker before the bytes of another."""

    def __init__(self, fd: int, nonce: str, owner: Callable[[], int]) -> None:
        # A private duplicate, so that a task that closes descriptor 1 and opens a file does not get our bytes in it.
        super().__init__(io.FileIO(os.dup(fd), "wb"), 1 << 16)
        self._standard_fd = fd
        self._nonce = nonce.encode()
        self._owner = owner
        self.marked = 0

    def fileno(self) -> int:
        return self._standard_fd

    def write(self, data: Any) -> int:
        owner = self._owner()
        if owner != self.marked:
            self.mark(owner)
        return super().write(data)

    def mark(self, seq: int) -> None:
        self.flush()
        self.marked = seq
        # Short enough to reach the pipe whole, whatever other processes write at the same time.
        self.raw.write(b"\x1e%s:%d\x1e" % (self._nonce, seq))


class Output:
    def __init__(self, nonce: str, board: Board) -> None:
        self._nonce = nonce
        self._cells = board.cells
        self.concurrent = False
        self._kept = {fd: os.dup(fd) for fd in (1, 2)}
        """The pipes to the agent, for when a job has closed or exchanged descriptor 1 or 2."""
        self._writers = [self._replace("stdout", 1), self._replace("stderr", 2)]
        sys.addaudithook(self._audit)

    def _replace(self, name: str, fd: int) -> MarkedWriter:
        writer = MarkedWriter(fd, self._nonce, self._owner)
        # Write-through: nothing waits in the text layer, where it could be taken for another job's.
        text = io.TextIOWrapper(writer, "utf-8", "backslashreplace", line_buffering=True, write_through=True)
        setattr(sys, name, text)
        setattr(sys, f"__{name}__", text)
        return writer

    def _owner(self) -> int:
        return task_seq.get() if self.concurrent else self._cells[CURRENT]

    def job_ended(self, seq: int) -> None:
        """Everything the job wrote is in the pipe when this returns."""
        for index, writer in enumerate(self._writers):
            if writer.closed:
                self._reopen(index)
            elif writer.marked == seq:
                with contextlib.suppress(OSError):
                    writer.mark(0)
                writer.marked = 0

    def flush(self) -> None:
        for writer in self._writers:
            with contextlib.suppress(OSError, ValueError):
                writer.flush()

    def _reopen(self, index: int) -> None:
        """The task closed sys.stdout. The next job gets a new one."""
        self.restore()
        marked = self._writers[index].marked
        self._writers[index] = self._replace(("stdout", "stderr")[index], index + 1)
        if marked:
            with contextlib.suppress(OSError):
                self._writers[index].mark(0)

    def restore(self) -> None:
        """Descriptors 1 and 2 lead to the agent again, whatever a job did to them."""
        for fd, kept in self._kept.items():
            if not _same(fd, kept):
                with contextlib.suppress(OSError):
                    os.dup2(kept, fd)

    def _audit(self, event: str, args: tuple[Any, ...]) -> None:
        if event not in _SPAWNING:
            return
        self._cells[SPAWNED] = 1
        owner = self._owner()
        for writer in self._writers:
            if writer.marked != owner:
                with contextlib.suppress(OSError, ValueError):
                    writer.mark(owner)


def _same(fd: int, kept: int) -> bool:
    try:
        return os.path.sameopenfile(fd, kept)
    except OSError:
        return False
