"""From how a process ended to how its attempt did.

What the agent did to it comes first, then what the kernel did, then what the process itself says by its exit status:

    0    success
    65   trying again is useless (EX_DATAERR)
    75   try again (EX_TEMPFAIL), after the seconds that an event `{"retry_after": …}` has named
    any other   an error: its task's retry policy decides
"""

import signal
from typing import Final, NamedTuple

from horae.model.sizes import format_size
from horae.model.states import End
from horae.model.work import JobError
from horae.worker.child.verdict import clean
from horae.worker.errands.errand import Outcome
from horae.worker.sandbox.cgroups import Reading
from horae.worker.sandbox.limits import Bounds
from horae.worker.sandbox.supervisor import LAST_WORDS, Ended

FATAL_STATUS: Final = 65
RETRY_STATUS: Final = 75
_SIGNAL_BASE: Final = 128
_LINES: Final = 20
_MESSAGE_CHARACTERS: Final = 2000


class Facts(NamedTuple):
    """What the kernel tells of a job, while it runs or after its end."""

    bounds: Bounds
    reading: Reading
    disk_full: bool = False
    files: int = 0
    """Bytes of its files that count as memory."""


def judge(ended: Ended, status: int | None, facts: Facts, retry_after: float | None = None) -> Outcome:
    """`status`: the job's own, with 128 added to a signal; None when it was never started."""
    if ended.order is not None:
        return Outcome(end=ended.order.end, error=JobError(ended.order.end.value, clean(ended.order.text)))
    if status == 0 and ended.breach is None:
        return Outcome()
    error = ended.breach or reached_limit(facts, wrote_too_much=status == _SIGNAL_BASE + signal.SIGXFSZ)
    if error is not None:
        return Outcome(end=End.CRASHED if error.kind == "oom" else End.ERROR, error=error)
    if status is None and ended.status >= 0:
        return Outcome(end=End.CRASHED, error=JobError("sandbox", "the job could not be started", _words(ended)))
    if status is None or status > _SIGNAL_BASE:
        number = -ended.status if status is None else status - _SIGNAL_BASE
        return Outcome(end=End.CRASHED, error=JobError("crash", f"it was ended by {_signal(number)}", _words(ended)))
    return _by_status(status, ended, retry_after)


def _by_status(status: int, ended: Ended, retry_after: float | None) -> Outcome:
    words = _words(ended)
    message = f"exit status {status}: {words}" if words else f"exit status {status}"
    error = JobError("exit", message[:_MESSAGE_CHARACTERS])
    end = End.FATAL if status == FATAL_STATUS else End.ERROR
    return Outcome(end=end, error=error, retry_after=retry_after if status == RETRY_STATUS else None)


def reached_limit(facts: Facts, *, wrote_too_much: bool = False) -> JobError | None:
    bounds, reading = facts.bounds, facts.reading
    if reading.ooms:
        hint = f" ({format_size(facts.files)} of it are its files in /output and /tmp)" if facts.files else ""
        return JobError("oom", f"it used all of its {format_size(bounds.memory)} of memory{hint}: raise limits.memory")
    if reading.refused:
        return JobError("limit", f"it reached its limit of {bounds.processes} processes: raise limits.processes")
    if facts.disk_full or wrote_too_much:
        return JobError("limit", f"it filled its {format_size(bounds.disk)} of disk: raise limits.disk")
    return None


def _signal(number: int) -> str:
    return signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"


def _words(ended: Ended) -> str:
    """The last lines of what it wrote to stderr."""
    words = ended.last_words
    if len(words) >= LAST_WORDS:
        words = words.partition(b"\n")[2]  # They begin in the middle of a line, perhaps of a secret.
    lines = words.decode(errors="replace").strip().splitlines()[-_LINES:]
    return clean("\n".join(lines))
