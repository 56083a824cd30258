"""The agent's handle of one child: its process, its socket, its output and its board.

Sockets and pipes are read with plain non-blocking calls, not through transports, because when the child has died the
agent must read what is left in them now, even if a stray process still holds the other end open.
"""

import contextlib
import fcntl
import math
import os
import secrets
import signal
import socket
import subprocess
import sys
from asyncio import AbstractEventLoop, Event
from typing import Final, Protocol

import msgspec

from horae.worker.board import UNTIL, Board
from horae.worker.ends import Ending
from horae.worker.logs import JobLog, Splitter
from horae.worker.masking import Masker
from horae.worker.messages import HEADER_BYTES, FromChild, Order, ToChild, encode

PIPE_BYTES: Final = 1024 * 1024
_READ_BYTES: Final = 128 * 1024
_LAST_WORDS: Final = 2048
_BUFFER: Final = memoryview(bytearray(2 * _READ_BYTES))
"""What any child sends is read into it, and taken out at once: a fresh block for each read is dear."""


class ChildEvents(Protocol):
    def heard(self, child: "Child", message: FromChild) -> None: ...
    def wrote(self, child: "Child", seq: int, stream: str, data: bytes) -> None: ...
    def exited(self, child: "Child") -> None: ...


class Child:
    def __init__(self, spec: str, mark: str, events: ChildEvents, loop: AbstractEventLoop) -> None:
        self._events = events
        self._loop = loop
        self._decoder = msgspec.json.Decoder(FromChild)
        self._inbox = bytearray()
        self._unsent = bytearray()
        self._start(spec, mark)
        self.ready = False
        self.own: frozenset[int] = frozenset()
        """Processes that the import of the app started: they are the app's, not left behind by a job."""
        self.concurrent = False
        self.retiring = False
        """Gets no more jobs; a fresh child takes its place."""
        self.quitting = False
        self.discarded = False
        """Its jobs are no longer ours: nothing is reported."""
        self.jobs: dict[int, Order] = {}
        self.logs: dict[int, JobLog] = {}
        self.endings: dict[int, Ending] = {}
        self.masker = Masker({})
        """Of the secrets that its jobs were told."""
        self.jobs_sent = 0
        self.expected = 0.0
        """Seconds that the jobs it holds should take together."""
        self.slow = False
        """Its current job takes longer than a batch should: nothing is queued behind it."""
        self.revoking = False
        self.last_words = b""
        self.buried = Event()
        """The process, and all it had started, is gone and accounted for."""

    def _start(self, spec: str, mark: str) -> None:
        nonce = secrets.token_hex(8)
        self._socket, theirs = socket.socketpair()
        os.set_blocking(self._socket.fileno(), False)
        board = Board.create()
        name, _, value = mark.partition("=")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "horae.worker.child", spec, str(theirs.fileno()), str(board), nonce],
            pass_fds=(theirs.fileno(), board),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, name: value},
            bufsize=0,
        )
        self.pid = self._process.pid
        self.board = Board(board)
        theirs.close()
        os.close(board)
        self._pidfd = os.pidfd_open(self.pid)
        self._pipes = self._open_pipes()
        self._splitters = {stream: Splitter(nonce) for stream in self._pipes}
        self._loop.add_reader(self._pidfd, self._exited)
        self._loop.add_reader(self._socket, self._readable)

    def _open_pipes(self) -> dict[str, int]:
        pipes = {}
        for stream, pipe in (("stdout", self._process.stdout), ("stderr", self._process.stderr)):
            assert pipe is not None  # noqa: S101 - Popen was asked for pipes
            pipes[stream] = fd = pipe.fileno()
            os.set_blocking(fd, False)
            with contextlib.suppress(OSError):
                fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
            self._loop.add_reader(fd, self._read_pipe, stream)
        return pipes

    def extend(self, until: float) -> None:
        """Until then its jobs may begin; for ever, while there is no lease that could end."""
        self.board.cells[UNTIL] = 0 if math.isinf(until) else int(until * 1e9)

    @property
    def usable(self) -> bool:
        """It may be given jobs."""
        return self.ready and not self.retiring and (self.concurrent or not self.endings)

    # Messages.

    def send(self, message: ToChild) -> None:
        waiting = bool(self._unsent)
        self._unsent += encode(message)
        if not waiting:
            self._write()

    def _write(self) -> None:
        try:
            del self._unsent[: self._socket.send(self._unsent)]
        except BlockingIOError:
            pass
        except OSError:
            self._unsent.clear()  # It is dying; `_exited` will hear of it.
        if self._unsent:
            self._loop.add_writer(self._socket, self._write)
        else:
            self._loop.remove_writer(self._socket)

    def _readable(self) -> bool:
        """Reads once; False when nothing was there."""
        try:
            size = self._socket.recv_into(_BUFFER)
        except BlockingIOError:
            return False
        except OSError:
            size = 0
        if not size:
            self._loop.remove_reader(self._socket)
            return False
        self._inbox += _BUFFER[:size]
        self._parse()
        return True

    def _parse(self) -> None:
        inbox, at = self._inbox, 0
        while len(inbox) - at >= HEADER_BYTES:
            end = at + HEADER_BYTES + int.from_bytes(inbox[at : at + HEADER_BYTES], "big")
            if end > len(inbox):
                break
            # A copy, because `Raw` parts of the message keep referring to it.
            message = self._decoder.decode(bytes(memoryview(inbox)[at + HEADER_BYTES : end]))
            at = end
            self._events.heard(self, message)
        if at:
            del inbox[:at]

    # Output.

    def read_output(self) -> None:
        """Reads what a job that has just reported its end had written: no more than the pipes can hold."""
        for stream in list(self._pipes):
            left = PIPE_BYTES
            while left > 0 and (size := self._read_pipe(stream)):
                left -= size

    def _read_pipe(self, stream: str) -> int:
        try:
            data = bytes(_BUFFER[: os.readv(self._pipes[stream], [_BUFFER[:_READ_BYTES]])])
        except BlockingIOError:
            return 0
        if not data:
            self._loop.remove_reader(self._pipes.pop(stream))
            return 0
        if stream == "stderr":
            self.last_words = (self.last_words + data)[-_LAST_WORDS:]
        for seq, text in self._splitters[stream].feed(data):
            self._events.wrote(self, seq or self._current_seq(), stream, text)
        return len(data)

    def _current_seq(self) -> int:
        running = self.board.running()
        return running.seq if running else 0

    # The end.

    def signal_group(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def _exited(self) -> None:
        self._loop.remove_reader(self._pidfd)
        while self._readable():
            pass
        self.read_output()
        self._loop.remove_reader(self._socket)
        self._loop.remove_writer(self._socket)
        for fd in self._pipes.values():
            self._loop.remove_reader(fd)
        self._events.exited(self)

    def reap(self) -> int:
        """The exit status; negative for a signal. The pid may belong to somebody else afterwards."""
        return self._process.wait()

    def close(self) -> None:
        self._socket.close()
        os.close(self._pidfd)
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        self.board.close()
