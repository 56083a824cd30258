"""Failpoints: moments in the life of a process at which a test can make it die, freeze, break or wait.

A crash is dangerous between two steps that belong together: the rows are durable and nobody has been told, the answer
has come and nothing was started. Such moments last microseconds, and chance seldom strikes them. So each has a name
here and one call, `reach(name)`, where it happens; a process that was started with HORAE_FAILPOINTS acts there.

    HORAE_FAILPOINTS="complete.after_commit=kill@3;submit.before_commit=delay:200ms"

An action is done at the n-th time of `@n`, or every time. `raise` breaks off as a lost connection would; `delay` holds
up the whole process; `drop` ends the connection of a request without an answer, so it is for `*.before_answer` only.
With HORAE_FAILPOINTS_FOLDER=FOLDER actions can be laid while the process runs: a file there by the name of a failpoint
holds one. Whoever does it takes the file away, so that of all processes with that folder one acts, once. With
HORAE_FAILPOINTS_REACHED=FILE a process appends each name there when it first comes by: what no run reached, no run has
tested.

What is armed belongs to the process, as signal handlers do, and is the one thing here that is global: handing it to all
that commits or answers would cost every constructor a parameter that production never uses. Nothing but the programs'
start arms it, and unarmed a moment costs one look at a variable.
"""

import ctypes
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import ClassVar, Final, NamedTuple

from horae.model.durations import parse_duration
from horae.model.errors import InvalidInput, SetupError

VARIABLE: Final = "HORAE_FAILPOINTS"
FOLDER_VARIABLE: Final = "HORAE_FAILPOINTS_FOLDER"
REACHED_VARIABLE: Final = "HORAE_FAILPOINTS_REACHED"
BEFORE_ANSWER: Final = ".before_answer"


class Moment(NamedTuple):
    module: str
    """Where it is, below src/horae."""
    truth: str
    """What is true at that moment."""


NAMES: Final[dict[str, Moment]] = {
    "submit.before_commit": Moment("store/jobs.py", "a batch of submits is about to be stored; nothing of it is"),
    "submit.after_commit": Moment("store/jobs.py", "the batch is durable; nobody has been told or woken"),
    "submit.before_answer": Moment("server/jobs.py", "the job is durable and may run; its client has no answer"),
    "bulk.before_commit": Moment("engine/submit.py", "the jobs of a bulk submit are made; none is stored"),
    "bulk.after_commit": Moment("engine/submit.py", "they are durable; nobody has been told or woken"),
    "bulk.before_answer": Moment("server/jobs.py", "all of a bulk submit is durable; its client has no answer"),
    "once.after_commit": Moment(
        "engine/submit.py", "a job and its idempotency key are durable; nobody has been told or woken"
    ),
    "unique.after_commit": Moment(
        "engine/unique.py", "a unique job is settled for good; nobody has been told or woken"
    ),
    "claim.before_commit": Moment("engine/dispatch.py", "lanes are chosen for a worker; nothing is leased"),
    "claim.after_commit": Moment(
        "engine/dispatch.py", "jobs are leased; neither the worker nor this server has noted it"
    ),
    "exchange.before_answer": Moment("server/work.py", "ends are taken and grants leased; the worker has no answer"),
    "join.before_answer": Moment("server/work.py", "a worker is registered and does not know its number"),
    "heartbeat.before_commit": Moment("engine/fleet.py", "a heartbeat has come; the lease is not renewed"),
    "heartbeat.before_answer": Moment("server/work.py", "the lease is renewed; the worker does not know"),
    "succeed.before_commit": Moment("engine/complete.py", "successes are reported; their leases stand"),
    "succeed.after_commit": Moment("engine/complete.py", "their outcomes are durable; nobody has been told"),
    "complete.before_commit": Moment("engine/complete.py", "other final ends are judged; their leases stand"),
    "complete.after_commit": Moment("engine/complete.py", "their outcomes are durable; nobody has been told"),
    "reschedule.before_commit": Moment("engine/complete.py", "attempts are to be tried again; their leases stand"),
    "reschedule.after_commit": Moment("engine/complete.py", "their jobs wait again; nobody has been told"),
    "park.after_commit": Moment(
        "engine/parking.py", "an attempt that waits for its callback is the servers'; its worker does not know"
    ),
    "cancel.after_commit": Moment("engine/steer.py", "a waiting job is cancelled; nobody has been told"),
    "cancel.after_request": Moment(
        "engine/steer.py", "the cancellation of a running job is durable; its worker does not know"
    ),
    "cancel.before_answer": Moment("server/steering.py", "a cancellation is durable; who asked for it has no answer"),
    "timers.after_commit": Moment("engine/duties/timers.py", "jobs that fell due are ready; nobody has been woken"),
    "ticks.before_commit": Moment(
        "store/schedules.py", "jobs of ticks are made and the cursors moved, in a transaction that is still open"
    ),
    "ticks.after_commit": Moment("engine/duties/ticks.py", "schedules have been planned; nobody has been woken"),
    "reclaim.after_lose": Moment("engine/duties/reclaim.py", "a worker is declared lost; its leases stand"),
    "reclaim.after_commit": Moment(
        "engine/duties/reclaim.py", "a batch of a lost worker's jobs is given away; nobody has been told"
    ),
    "action.before_commit": Moment(
        "engine/actionwork.py", "a batch of a bulk action is done, in a transaction that is still open"
    ),
    "action.after_commit": Moment(
        "engine/duties/actions.py", "the batch, its counts and its cursor are durable; nobody has been told"
    ),
    "gate.after_commit": Moment(
        "engine/gates.py", "a gate is shut, changed or opened for good; no server has noted it"
    ),
    "callback.after_commit": Moment(
        "engine/callbacks.py", "a service has called back and that is durable; the attempt goes on"
    ),
    "callback.before_settle": Moment("engine/callbacks.py", "the attempt has ended; its callback counts as open"),
    "callback.before_answer": Moment("server/callbacks.py", "all of it is durable; the service has no answer"),
    "object.before_put": Moment("engine/output.py", "a large result is noted; object storage does not have it"),
    "object.after_put": Moment(
        "engine/output.py", "object storage has it; the worker does not know and the attempt goes on"
    ),
    "result.before_answer": Moment(
        "server/work.py", "a large result and its sink are written; the worker has no answer"
    ),
    "partition.before_commit": Moment(
        "store/upkeep.py", "a day is detached and what lives carried over, in a transaction that is still open"
    ),
    "partition.after_detach": Moment("store/upkeep.py", "the day is detached for good; its tables are there"),
    "partition.after_drop": Moment(
        "engine/duties/partitions.py", "the day is dropped, and the objects of its results are gone"
    ),
    "duty.after_lock": Moment(
        "engine/duties/alone.py", "the lock of a duty for one server alone was asked for; nothing of it is done"
    ),
    "migrate.before_commit": Moment("store/migrate.py", "a migration is applied, in a transaction that is still open"),
    "migrate.after_commit": Moment("store/migrate.py", "a migration is applied for good; others may follow"),
    "statement.before": Moment("store/database.py", "any single statement is about to be sent"),
    "statement.after": Moment("store/database.py", "it took effect for good; its caller does not know"),
    "transaction.before_commit": Moment("store/database.py", "all of any transaction is done but its commit"),
    "transaction.after_commit": Moment("store/database.py", "it is durable; its caller does not know"),
    "copy.before_commit": Moment("store/database.py", "the rows of a large bulk submit are sent; the commit is not"),
    "copy.after_commit": Moment("store/database.py", "they are durable; the caller does not know"),
    "worker.after_join": Moment(
        "worker/agent.py", "the agent is registered; it has not begun to work or to renew its lease"
    ),
    "worker.before_exchange": Moment(
        "worker/courier.py", "ends are to be reported or jobs wanted; the server has not heard"
    ),
    "worker.after_exchange": Moment("worker/courier.py", "the answer has come; nothing of it is noted here"),
    "worker.before_start": Moment("worker/agent.py", "jobs are granted and here; none has been given to a child"),
    "worker.before_heartbeat": Moment("worker/heart.py", "a heartbeat is about to be sent"),
    "worker.after_heartbeat": Moment("worker/heart.py", "it was answered; the agent still counts from the one before"),
    "web.after_call": Moment("worker/web/runner.py", "a service was called; nothing of it is noted"),
    "child.before_run": Moment("worker/child/desk.py", "a child has its jobs; none has started"),
    "child.after_run": Moment(
        "worker/child/desk.py", "jobs have run and are in the journal; the agent has not been told"
    ),
    "child.after_report": Moment(
        "worker/child/desk.py", "the agent has been told; the journal still holds the same ends"
    ),
}


class Dropped(Exception):
    """The connection of this request shall end without an answer."""


class Action(NamedTuple):
    do: Callable[[str], None]
    at: int | None
    """Which time; None: every time."""


class Ambush:
    """Actions in files, one by the name of each failpoint, which may come at any time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen: dict[str, tuple[int, int]] = {}
        """By name: when the file was laid, and how often we have come by since."""

    def reach(self, name: str) -> None:
        action = self._taken(name)
        if action is not None:
            action.do(name)

    def _taken(self, name: str) -> Action | None:
        file = self._folder / name
        with suppress(FileNotFoundError):
            laid_at = file.stat().st_mtime_ns
            before, times = self._seen.get(name, (laid_at, 0))
            times = times + 1 if before == laid_at else 1
            self._seen[name] = (laid_at, times)
            _, action = _read_one(f"{name}={file.read_text()}")
            if action.at in (None, times):
                file.unlink()
                return action
        return None


class Armed:
    def __init__(self, actions: Mapping[str, Action], reached: str | None, ambush: Ambush | None = None) -> None:
        self.actions = actions
        self._reached = reached
        self._ambush = ambush
        self._times: Counter[str] = Counter()

    def reach(self, name: str) -> None:
        self._times[name] += 1
        if self._reached is not None and self._times[name] == 1:
            _append(self._reached, name)
        action = self.actions.get(name)
        if action is not None and action.at in (None, self._times[name]):
            action.do(name)
        if self._ambush is not None:
            self._ambush.reach(name)


_armed: Armed | None = None


def reach(name: str) -> None:
    """Says that this moment has come."""
    if _armed is not None:
        _armed.reach(name)


def arm(environ: Mapping[str, str]) -> None:
    """To be called once, by the start of a program."""
    global _armed  # noqa: PLW0603 - see above
    text, folder, reached = (environ.get(name) for name in (VARIABLE, FOLDER_VARIABLE, REACHED_VARIABLE))
    if not (text or folder or reached):
        return
    import structlog  # which no child of a worker needs otherwise: it would double what they load

    _armed = Armed(read(text or ""), reached or None, Ambush(Path(folder)) if folder else None)
    structlog.get_logger().warning("failpoints_armed", failpoints=text or None, folder=folder, reached=reached or None)


def read(text: str) -> dict[str, Action]:
    """The actions of `name=action;name=action`."""
    return dict(_read_one(part.strip()) for part in text.split(";") if part.strip())


def _read_one(text: str) -> tuple[str, Action]:
    name, _, rest = text.partition("=")
    if name not in NAMES:
        raise SetupError(f"{VARIABLE}: there is no failpoint {name!r}; horae.failpoints.NAMES has them all")
    action, counted, at = rest.partition("@")
    if counted and not (at.isdecimal() and int(at) > 0):
        raise SetupError(f"{VARIABLE}: {text!r}: after @ comes which time it is, 1 or more")
    return name, Action(_read_action(name, action), int(at) if counted else None)


def _read_action(name: str, text: str) -> Callable[[str], None]:
    kind, _, amount = text.partition(":")
    if kind == "drop" and not name.endswith(BEFORE_ANSWER):
        raise SetupError(f"{VARIABLE}: {name}=drop: only at *{BEFORE_ANSWER} is there an answer to drop")
    if kind in _PLAIN and not amount:
        return _PLAIN[kind]
    if kind in _TIMED:
        do, seconds = _TIMED[kind], _seconds(name, amount)
        return lambda _: do(seconds)
    raise SetupError(f"{VARIABLE}: {name}={text!r} is none of {', '.join(_PLAIN)}, stop:SECONDS, delay:TIME")


def _seconds(name: str, text: str) -> float:
    try:
        return float(text) if text.isdecimal() else parse_duration(text).total_seconds()
    except InvalidInput as error:
        raise SetupError(f"{VARIABLE}: {name}: {error.detail}") from error


def _append(path: str, name: str) -> None:
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(file, f"{name}\n".encode())
    finally:
        os.close(file)


# What is done at a failpoint.


def _kill(name: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _break(name: str) -> None:
    raise ConnectionResetError(f"failpoint {name}")


def _drop(name: str) -> None:
    raise Dropped(name)


class _Event(ctypes.Structure):
    """What the kernel does when a timer is over: it sends this signal."""

    _fields_: ClassVar = [
        ("value", ctypes.c_void_p), ("signal", ctypes.c_int), ("notify", ctypes.c_int), ("rest", ctypes.c_byte * 48),
    ]  # fmt: skip


class _Setting(ctypes.Structure):
    """When a timer is over, the only time."""

    _fields_: ClassVar = [
        ("every", ctypes.c_long * 2), ("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long),
    ]  # fmt: skip


def _stop(seconds: float) -> None:
    """Freezes this process; the kernel wakes it, for it cannot do that itself. Another process could, but an agent ends
    what a child has started between its jobs."""
    timer, libc = ctypes.c_void_p(), ctypes.CDLL(None, use_errno=True)
    if libc.timer_create(time.CLOCK_MONOTONIC, ctypes.byref(_Event(signal=signal.SIGCONT)), ctypes.byref(timer)):
        raise OSError(ctypes.get_errno(), "timer_create")
    whole, rest = divmod(seconds, 1)
    libc.timer_settime(timer, 0, ctypes.byref(_Setting(seconds=int(whole), nanoseconds=max(1, int(rest * 1e9)))), None)
    os.kill(os.getpid(), signal.SIGSTOP)
    libc.timer_delete(timer)


_PLAIN: Final[dict[str, Callable[[str], None]]] = {"kill": _kill, "raise": _break, "drop": _drop}
_TIMED: Final[dict[str, Callable[[float], None]]] = {"stop": _stop, "delay": time.sleep}
