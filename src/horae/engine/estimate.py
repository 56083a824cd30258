"""Estimates: when a job that waits will start, or a running one end, as far as that can be told.

The latest of all it waits for: its time, its gates' ends, room in its limits, a free worker. Each is reckoned from what
runs and waits before it now and from how long such jobs took. Who comes later and goes first is not foreseen, nor is
more than one number known of a task; the range says so.
"""

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import asyncpg

from horae.engine.crew import Run
from horae.engine.durations import Durations
from horae.engine.facts import Facts, GroupFacts
from horae.engine.policy import Policy
from horae.engine.rivals import Rival
from horae.model.explanation import Code, Estimate, Reason
from horae.model.gates import Action
from horae.model.queueing import Line, remaining, starts_in
from horae.store.explain import ExplainRows

NEVER: Final = {
    Code.NO_WORKER_FOR_TASK, Code.NO_WORKER_FOR_QUEUE, Code.NO_WORKER_MATCHES, Code.GATE_PROBE
}  # fmt: skip
TINY_SECONDS: Final = 0.02
"""Jobs shorter than this are handed out slower than they run: the rate of starts tells more."""
ROUGH: Final = 0.3
WIDTH: Final = 1.3
"""Standard deviations to either side: four times out of five it lies between."""


class Bound(NamedTuple):
    """It cannot start before so many seconds from now."""

    seconds: float
    basis: str
    unsure: float = 0.0
    """Seconds to either side."""


class Unknown(Exception):
    """There is no estimate, and why."""


class Estimator:
    def __init__(self, rows: ExplainRows, durations: Durations, policy: Policy) -> None:
        self._rows = rows
        self._durations = durations
        self._policy = policy

    async def start(self, facts: Facts, reasons: Sequence[Reason]) -> Estimate | str:
        """The estimate, or why there is none."""
        try:
            bounds = [*self._fixed(facts, reasons), *await self._queues(facts)]
        except Unknown as unknown:
            return str(unknown)
        latest = max(bounds, key=lambda bound: bound.seconds)
        least = max((bound.seconds for bound in bounds if not bound.unsure), default=0.0)
        return _estimate(facts.now, latest, least)

    def end(self, row: asyncpg.Record, now: datetime) -> Estimate | str:
        """When a running job will end: by its own progress, or by how long such jobs took."""
        elapsed = max((now - row["granted_at"]).total_seconds(), 0.0)
        if row["done"] and row["total"] and row["progress_at"] is not None:
            taken = max((row["progress_at"] - row["granted_at"]).total_seconds(), 0.0)
            left = max(taken * (row["total"] / row["done"] - 1) - (elapsed - taken), 0.0)
            return _estimate(now, Bound(left, "its own progress", ROUGH * left), 0.0)
        expected = self._durations.expected(row["tenant_id"], row["task"])
        if expected is None:
            return f"no job of the task {row['task']!r} has ended yet, so nobody knows how long one takes"
        spread = self._durations.spread(row["tenant_id"], row["task"]) or 0.0
        left = remaining(elapsed, expected, spread)
        return _estimate(now, Bound(left, f"such jobs take {expected:.3g} s", WIDTH * spread), 0.0)

    # What has a known end.

    def _fixed(self, facts: Facts, reasons: Sequence[Reason]) -> list[Bound]:
        bounds = [Bound(0.0, "nothing holds it")]
        if facts.due is not None:
            bounds.append(Bound(_until(facts.now, facts.due), "it is due then"))
        for gate in [*facts.closing, *facts.partial]:
            if gate.action is Action.DROP:
                raise Unknown(f"gate {gate.id} drops it")
            if gate.expires_at is None:
                raise Unknown(f"gate {gate.id} is closed until somebody releases it")
            bounds.append(Bound(_until(facts.now, gate.expires_at), f"gate {gate.id} expires then"))
        for reason in reasons:
            if reason.code in NEVER:
                raise Unknown(reason.summary)
        if facts.row["is_blocked"] and not facts.partial:
            raise Unknown("its turn behind the open gate has not come")
        return bounds

    # What others must do first.

    async def _queues(self, facts: Facts) -> list[Bound]:
        if facts.due is not None:
            return []
        bounds = [bound for group in facts.full for bound in await self._group(facts, group)]
        if not facts.crew.working:
            ends = [hand.row["steer_until"] for hand in facts.crew.hands if hand.row["steer_until"] is not None]
            if not ends:
                raise Unknown("every worker that could run it is draining")
            return [*bounds, Bound(_until(facts.now, min(ends)), "a worker's maintenance ends then")]
        if not facts.crowded:
            return bounds
        rivals = [rival for rival in facts.rivals.all if rival.for_workers]
        slots = [at for hand in facts.crew.working for at in self._slots(facts, hand.row["slots"], hand.runs)]
        # Only the idlest of very many workers were looked at; the others are taken to be like them.
        slots *= round(facts.crew.fitting / len(facts.crew.hands))
        return [*bounds, await self._in_line(facts, slots, rivals, f"{len(slots)} slots and what goes before it")]

    def _slots(self, facts: Facts, slots: int, runs: Sequence[Run]) -> list[float]:
        """When each slot of a worker will be free."""
        ends = [at for run in runs for at in [self._left(facts.now, run)] * run.slots]
        return (ends + [0.0] * slots)[:slots]

    def _left(self, now: datetime, run: Run) -> float:
        expected, spread = (f(run.tenant_id, run.task) for f in (self._durations.expected, self._durations.spread))
        return remaining(max((now - run.since).total_seconds(), 0.0), expected, spread)

    async def _group(self, facts: Facts, group: GroupFacts) -> list[Bound]:
        """When a limit will have room for this job."""
        rivals = [rival for rival in facts.rivals.all if group.group.id in rival.for_groups]
        bounds = []
        if group.no_token and group.group.rate:
            ahead = _own_ahead(facts, rivals) + sum(r.jobs for r in rivals if r.key.tenant_id != facts.key.tenant_id)
            seconds = (ahead + 1 - group.tokens) / group.group.rate
            bounds.append(Bound(seconds, f"{group.group.rate:g} may start a second", ROUGH * seconds * (ahead > 0)))
        if group.no_slot:
            if group.group.max_running == 0:
                raise Unknown("a limit lets nothing run")
            held = [Run(h["tenant_id"], h["task"], h["granted_at"], 1) for h in group.holders]
            # Of very many holders only some were read; the others are taken to be like them.
            slots = [self._left(facts.now, run) for run in held] * max(1, round(group.taken / max(len(held), 1)))
            # A limit that was lowered below what runs has room when enough of it has ended.
            slots = sorted(slots)[-group.group.max_running :] if group.group.max_running else slots
            bounds.append(await self._in_line(facts, slots, rivals, "the jobs in the slots of a limit"))
        return bounds

    async def _in_line(self, facts: Facts, slots: Sequence[float], rivals: Sequence[Rival], basis: str) -> Bound:
        key = facts.key
        own = [(facts.before, key.task)]
        own += [(r.jobs, r.key.task) for r in rivals if r.key.tenant_id == key.tenant_id]
        others: dict[int, list[tuple[int, str]]] = {}
        for rival in rivals:
            if rival.key.tenant_id != key.tenant_id:
                others.setdefault(rival.key.tenant_id, []).append((rival.jobs, rival.key.task))
        usual = self._durations.expected(key.tenant_id, key.task)
        line = self._line(key.tenant_id, own, usual)
        if line.jobs and line.seconds < TINY_SECONDS:
            return await self._by_rate(facts, line.jobs)
        lines = [self._line(tenant_id, jobs, usual or line.seconds) for tenant_id, jobs in others.items()]
        seconds = starts_in(slots, line, lines)
        mean = line.seconds or usual or seconds
        rounds = max(seconds / mean, 1.0) if mean > 0 else 1.0
        spread = self._durations.spread(key.tenant_id, key.task) or 0.0
        return Bound(seconds, basis, max(ROUGH * seconds, WIDTH * spread * math.sqrt(rounds)))

    def _line(self, tenant_id: int, jobs: Sequence[tuple[int, str]], usual: float | None) -> Line:
        """A tenant's waiting jobs; of tasks that never ran, as long as the job asked about, if that is known."""
        count, seconds = sum(number for number, _ in jobs), 0.0
        for number, task in jobs:
            expected = self._durations.expected(tenant_id, task)
            if number and expected is None and usual is None:
                raise Unknown(f"no job of the task {task!r} has ended yet, so nobody knows how long one takes")
            seconds += number * (usual or 0.0 if expected is None else expected)
        return Line(count, seconds / count if count else 0.0, self._policy.weight(tenant_id))

    async def _by_rate(self, facts: Facts, ahead: int) -> Bound:
        rate = await self._rows.explain_rate(facts.key)
        if rate <= 0:
            raise Unknown("such jobs are too short to reckon with, and none has started in the last half minute")
        seconds = ahead / rate
        return Bound(seconds, f"{rate:.3g} of the tenant's jobs start a second", ROUGH * seconds)


def _own_ahead(facts: Facts, rivals: Sequence[Rival]) -> int:
    return facts.before + sum(r.jobs for r in rivals if r.key.tenant_id == facts.key.tenant_id)


def _until(now: datetime, then: datetime) -> float:
    return max((then - now).total_seconds(), 0.0)


def _estimate(now: datetime, bound: Bound, least: float) -> Estimate:
    early = max(bound.seconds - bound.unsure, least, 0.0)
    at, earliest, latest = (
        now + timedelta(seconds=min(s, 1e9)) for s in (bound.seconds, early, bound.seconds + bound.unsure)
    )  # fmt: skip
    return Estimate(at=at, earliest=min(earliest, at), latest=latest, basis=bound.basis)
