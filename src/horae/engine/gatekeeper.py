"""The gatekeeper: which of a lane's jobs a gate is for, and what becomes of those that a claim took all the same.

A gate for some jobs of a lane (a condition, a percentage) cannot close the lane: each job must be looked at, when it is
submitted and again before it starts. A job found then is leased already, but no worker knows of it: it goes behind the
gate, or ends as dropped, in one statement, and the attempt never was.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import asyncpg
import msgspec
import structlog

from horae.engine import overtaken
from horae.engine.conditions import Answer, condition
from horae.engine.grants import Held
from horae.engine.rows import error_text
from horae.engine.signals import Signals
from horae.engine.tally import Tally
from horae.engine.watch import Ended, Watch
from horae.model.errors import GateClosed, InvalidInput
from horae.model.gates import Action, Gate, chosen
from horae.model.job import read_options
from horae.model.states import State
from horae.model.work import JobError
from horae.store.gates import Gates

log = structlog.get_logger()

MAX_NOTES: Final = 1000


class Gatekeeper:
    def __init__(self, gates: Gates, watch: Watch, signals: Signals, tally: Tally) -> None:
        self._gates = gates
        self._watch = watch
        self._signals = signals
        self._tally = tally
        self._notes: dict[int, str] = {}

    def verdict(self, gates: Sequence[Gate], job_id: str, params: str, options: str | None) -> Gate | None:
        """The first of the gates that is for this job."""
        return next((gate for gate in gates if self._is_for(gate, job_id, params, options)), None)

    def check_admission(self, gates: Sequence[Gate], job_id: str, params: str, options: str | None) -> None:
        """Refuses a new job that one of the rejecting gates is for."""
        gate = self.verdict(gates, job_id, params, options)
        if gate is not None:
            raise closed(gate)

    def take_notes(self) -> dict[int, str]:
        """What conditions could not be applied to since the last time: gate → what."""
        taken, self._notes = self._notes, {}
        return taken

    def _is_for(self, gate: Gate, job_id: str, params: str, options: str | None) -> bool:
        if not chosen(gate, job_id):
            return False
        if gate.condition is None:
            return True
        answer = answer_of(gate.condition, params, options)
        if answer.fault is not None and len(self._notes) < MAX_NOTES:
            self._notes[gate.id] = f"does not apply to job {job_id}, which counts as no match: {answer.fault}"
        return answer.matched

    async def put_back(self, worker_id: int, held: Sequence[Held]) -> None:
        """Takes jobs that were just leased to a worker that has not been told out of their lease again."""
        blocked = [job for job in held if job.gate.action is Action.HOLD]
        dropped = [job for job in held if job.gate.action is Action.DROP]
        if blocked:
            rows = [(job.lane_id, job.id, job.attempt, job.tenant_id, job.rank, job.gate.id) for job in blocked]
            moved, cancelled = await self._gates.gate_block_leased(worker_id, rows)
            self._free(moved)
            self._count(blocked, moved, State.BLOCKED)
            overtaken.tell(cancelled, self._watch, self._tally, ran=False)
        if dropped:
            await self._drop(worker_id, dropped)

    async def _drop(self, worker_id: int, dropped: Sequence[Held]) -> None:
        errors = {job.gate.id: drop_error(job.gate) for job in dropped}
        rows = [(job.lane_id, job.id, job.attempt, job.tenant_id, job.gate.id, errors[job.gate.id]) for job in dropped]
        done = await self._gates.gate_drop_leased(worker_id, rows)
        self._free(done)
        for job in self._count(dropped, done, State.DROPPED):
            self._watch.ended(job.id, Ended(State.DROPPED, None, errors[job.gate.id], None, job.attempt - 1))

    def _count(self, held: Sequence[Held], moved: Sequence[asyncpg.Record], state: State) -> list[Held]:
        """Those that really went; the claim had counted them as started."""
        ids = {row["id"] for row in moved}
        gone = [job for job in held if job.id in ids]
        for job in gone:
            self._tally.lost(job.lane_id, state)
        return gone

    def _free(self, rows: Sequence[asyncpg.Record]) -> None:
        freed = Counter(group_id for row in rows for group_id in row["slots"] or ())
        if freed:
            self._signals.freed(freed)


def closed(gate: Gate) -> GateClosed:
    until = f" until {gate.expires_at:%Y-%m-%d %H:%M:%SZ}" if gate.expires_at is not None else ""
    return GateClosed(
        f"gate {gate.id} of {gate.owner} refuses such jobs{until}: {gate.reason}",
        gate=gate.id, reason=gate.reason, owner=gate.owner, expires=gate.expires_at,
    )  # fmt: skip


def drop_error(gate: Gate) -> str:
    return error_text(JobError("dropped", f"gate {gate.id} of {gate.owner}: {gate.reason}")) or ""


def answer_of(text: str, params: str, options: str | None) -> Answer:
    """Whether a condition holds for a stored job."""
    try:
        compiled = condition(text)
        labels = None if options is None else read_options(options).labels
        return compiled.answer(compiled.visible(params), labels)
    except (InvalidInput, msgspec.MsgspecError) as error:
        # Written past us by SQL, or by a version that allowed more.
        return Answer(matched=False, fault=str(error)[:200])
