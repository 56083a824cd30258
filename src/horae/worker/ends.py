"""Ends of attempts that the agent words, because the child could not."""

import signal
from asyncio import Event

import msgspec

from horae.model.states import End
from horae.model.work import Finished, Grant, JobError
from horae.worker.child.verdict import clean
from horae.worker.clock import now
from horae.worker.messages import Order


class Ending(msgspec.Struct):
    """A running job that was told to stop: why, and what it said when it stopped."""

    end: End
    text: str
    started: float
    settled: Event
    finished: Finished | None = None

    def verdict(self, order: Order) -> Finished:
        """A job that was through before the signal reached it keeps its own outcome."""
        if self.finished is None:
            return stopped(order, self.end, self.text, self.started)
        if self.finished.end is End.CANCELLED:
            self.finished.end, self.finished.error = self.end, JobError(self.end.value, clean(self.text))
        return self.finished


def ended(grant: Grant, end: End, error: JobError | None = None) -> Finished:
    return Finished(id=grant.id, lane=grant.lane, attempt=grant.attempt, end=end, error=error)


def undelivered(order: Order) -> Finished:
    return ended(order.grant, End.UNDELIVERED)


def cancelled(order: Order, reason: str) -> Finished:
    return ended(order.grant, End.CANCELLED, JobError("cancelled", clean(reason) or "the job was cancelled"))


def moved(order: Order, reason: str) -> Finished:
    return ended(order.grant, End.MOVED, JobError("moved", clean(reason) or "the job was moved"))


def stopped(order: Order, end: End, text: str, started: float) -> Finished:
    finished = ended(order.grant, end, JobError(end.value, clean(text)))
    return timed(finished, order, started)


def crashed(order: Order, status: int, last_words: bytes, started: float) -> Finished:
    error = JobError(
        "exit" if status >= 0 else "crash", describe_exit(status), clean(last_words.decode(errors="replace"))
    )
    return timed(ended(order.grant, End.CRASHED, error), order, started)


def timed(finished: Finished, order: Order, started: float) -> Finished:
    finished.waited = max(0.0, started - order.received)
    finished.took = max(0.0, now() - started)
    return finished


def describe_exit(status: int) -> str:
    if status >= 0:
        return f"the process exited with status {status} while it ran the job"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    hint = "; perhaps the host ran out of memory" if -status == signal.SIGKILL else ""
    return f"the process was ended by {name} while it ran the job{hint}"
