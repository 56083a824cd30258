"""The child's end of the line to the agent.

One thread reads, always, so that the agent can take jobs back while one runs, and so that the child notices when the
agent is gone: then it ends all that it started, and itself. The main thread journals ended jobs and sends many at once.
"""

import itertools
import os
import signal
import socket
import threading
import traceback
from collections.abc import Callable
from typing import Final, Protocol

import msgspec

from horae import failpoints
from horae.client.outcomes import NoSecret
from horae.model.errors import WrongState
from horae.model.work import Finished
from horae.worker import tree
from horae.worker.board import JOURNAL_BYTES, JOURNALED, Board
from horae.worker.messages import (
    HEADER_BYTES,
    Ask,
    Begin,
    Cancel,
    Ended,
    FromChild,
    Noted,
    Order,
    Quit,
    Returned,
    Revoke,
    Run,
    Save,
    Saved,
    ToChild,
    Told,
    done_frame,
    encode,
)

_NOTE_INTERVAL: Final = 0.2


class Runner(Protocol):
    """What the reading thread hands on to."""

    def take(self, orders: list[Order]) -> None: ...
    def give_back(self) -> list[int]: ...
    def cancel(self, seq: int, *, move: bool) -> None: ...
    def quit(self) -> None: ...


class Desk:
    def __init__(self, sock: socket.socket, board: Board) -> None:
        self.board = board
        self.pid = os.getpid()
        self._socket = sock
        self._file = sock.makefile("rb", 1 << 18)
        self._decoder = msgspec.json.Decoder(ToChild)
        self._entry_encoder = msgspec.json.Encoder()
        self._sending = threading.Lock()
        self._is_copy = False
        self._used = 0
        self._tickets = itertools.count(1)
        self._asked: dict[int, _Question] = {}
        self._notes: dict[int, Noted] = {}
        self._note_timer: threading.Timer | None = None
        os.register_at_fork(after_in_child=self._forked)

    def _forked(self) -> None:
        # Two processes on one stream would tear each other's frames apart.
        self._is_copy = True

    def begin(self) -> Begin:
        message = self._read()
        if not isinstance(message, Begin):
            raise SystemExit(1)
        return message

    def serve(self, runner: Runner) -> None:
        threading.Thread(target=self._listen, args=(runner,), name="horae-desk", daemon=True).start()

    def send(self, message: FromChild) -> None:
        if self._is_copy:
            raise WrongState("a process forked by the task cannot speak for the job: tell its parent instead")
        data = encode(message)
        with self._sending:
            self._socket.sendall(data)

    # Ends of jobs: main thread only.

    def journal(self, seq: int, finished: Finished) -> None:
        entry = self._entry_encoder.encode(Ended(seq, finished)) + b","
        end = self._used + len(entry)
        if end > JOURNAL_BYTES:
            self.flush()
            end = len(entry)
        if end > JOURNAL_BYTES:
            self._send_entries(entry)
            return
        self.board.journal[self._used : end] = entry
        self.board.cells[JOURNALED] = self._used = end

    def flush(self) -> None:
        if self._used:
            failpoints.reach("child.after_run")
            self._send_entries(bytes(self.board.journal[: self._used]))
            failpoints.reach("child.after_report")
            self.board.cells[JOURNALED] = self._used = 0

    def _send_entries(self, entries: bytes) -> None:
        data = done_frame(entries)
        with self._sending:
            self._socket.sendall(data)

    # What a running task says, from any thread.

    def note(self, noted: Noted) -> None:
        """Progress: at most five times a second goes out, and never is the latest lost."""
        self._notes[noted.seq] = noted
        if self._note_timer is None:
            self._send_notes()
            self._note_timer = threading.Timer(_NOTE_INTERVAL, self._notes_due)
            self._note_timer.daemon = True
            self._note_timer.start()

    def _notes_due(self) -> None:
        self._note_timer = None
        self._send_notes()

    def _send_notes(self) -> None:
        while self._notes:
            self.send(self._notes.popitem()[1])

    def save(self, seq: int, data: bytes) -> None:
        """Returns once the checkpoint is durable."""
        answer = self._answer(lambda ticket: Save(seq, ticket, msgspec.Raw(data)))
        if answer.error is not None:
            raise WrongState(answer.error)

    def secrets(self, seq: int) -> dict[str, str]:
        """Those that the job's task names, in clear."""
        answer = self._answer(lambda ticket: Ask(seq, ticket))
        if isinstance(answer, Saved) or answer.error is not None:
            raise NoSecret(answer.error)
        return answer.secrets

    def _answer(self, ask: Callable[[int], FromChild]) -> Saved | Told:
        ticket, question = next(self._tickets), _Question()
        self._asked[ticket] = question
        self.send(ask(ticket))
        question.answered.wait()
        return question.answer

    # The reading thread.

    def _listen(self, runner: Runner) -> None:
        try:
            self._obey(runner)
        except Exception:
            traceback.print_exc()
            self._orphaned()
            raise

    def _obey(self, runner: Runner) -> None:
        while (message := self._read()) is not None:
            match message:
                case Run(orders):
                    failpoints.reach("child.before_run")
                    runner.take(orders)
                case Revoke():
                    self.send(Returned(runner.give_back()))
                case Cancel(seq, move):
                    runner.cancel(seq, move=move)
                case Saved(ticket) | Told(ticket):
                    self._asked.pop(ticket).close(message)
                case Quit():
                    runner.quit()
                    return
        self._orphaned()

    def _read(self) -> ToChild | None:
        try:
            header = self._file.read(HEADER_BYTES)
            body = self._file.read(int.from_bytes(header, "big"))
        except OSError:
            return None
        return self._decoder.decode(body) if body else None

    def _orphaned(self) -> None:
        tree.end_descendants(self.pid)
        os.kill(self.pid, signal.SIGKILL)


class _Question:
    """What a job waits to hear from the agent."""

    answer: Saved | Told

    def __init__(self) -> None:
        self.answered = threading.Event()

    def close(self, answer: Saved | Told) -> None:
        self.answer = answer
        self.answered.set()
