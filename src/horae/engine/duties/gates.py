"""Gates: what gates order comes true within seconds, whichever server lives.

The claim itself keeps jobs from starting; this duty sees to what is left. Gates open when their time is up. Waiting
jobs are dropped by gates that drop, and moved behind gates that hold some of their lane. Jobs behind an open gate are
let out, at once or at its rate, and a gate is over when nothing is left of what it held. Running jobs are stopped where
that was asked.

Each step is one statement or transaction, guarded by the gate's own row, and is simply done again: by any server, at
the same time or after another one died half-way. A walk over waiting jobs is remembered in memory alone; a server that
starts begins anew.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final

import asyncpg
import structlog

from horae.engine.gatekeeper import Gatekeeper, drop_error
from horae.engine.policy import Policy
from horae.engine.prospects import Prospects
from horae.engine.signals import Signals
from horae.engine.tally import Tally
from horae.engine.watch import Ended, Watch
from horae.model.gates import Action, Gate, Running
from horae.model.ids import lowest_id
from horae.model.rank import LOWEST, rank
from horae.model.states import State
from horae.store.gates import Gates, Place, Scope, Waiting, place_of

log = structlog.get_logger()

BATCH: Final = 1000
BATCH_WITH_PARAMS: Final = 200
"""Params can be large."""
BATCHES_A_RUN: Final = 20
REST_SECONDS: Final = 5.0
"""After a walk over all that waits; what a claim takes meanwhile is looked at there."""
AHEAD_SECONDS: Final = 10.0
"""How far ahead jobs that are let out at a rate get their turns."""
DROPPED_SECONDS: Final = 86_400.0
OVER_SECONDS: Final = 30 * 86_400.0
FORGET_EVERY: Final = 60
STUCK_SECONDS: Final = 300.0
"""When for so long nobody could run what is left of a backlog, its gate is over."""
STUCK_LANES: Final = 1000


class Walk:
    """How far a gate's look at all that waits has come."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.left = list(_places(gate))
        self.place = Place()
        self.resting_until = 0.0

    def go_on(self, rows: Sequence[asyncpg.Record]) -> bool:
        """Notes how far it came. False when that was all."""
        if len(rows) == batch_of(self.gate):
            self.place = place_of(rows[-1])
            return True
        self.left.pop(0)
        self.place = Place()
        if self.left:
            return True
        self.left = list(_places(self.gate))
        self.resting_until = 0.0 if self.gate.whole else time.monotonic() + REST_SECONDS
        return False


class GatesDuty:
    name = "gates"
    interval = 1.0

    def __init__(
        self,
        gates: Gates,
        policy: Policy,
        keeper: Gatekeeper,
        prospects: Prospects,
        watch: Watch,
        signals: Signals,
        tally: Tally,
    ) -> None:
        self._gates = gates
        self._policy = policy
        self._keeper = keeper
        self._prospects = prospects
        self._watch = watch
        self._signals = signals
        self._tally = tally
        self._walks: dict[int, Walk] = {}
        self._stuck: dict[int, float] = {}
        """Since when nobody could run what is left behind a gate."""
        self._runs = 0

    async def run_once(self) -> Mapping[str, int]:
        expired = await self._gates.gate_expire()
        if expired:
            log.info("gates_expired", gates=expired)
            await self._policy_changed()
        moved = await self._sweep()
        stopped = await self._stop_running()
        let_out = await self._let_out()
        await self._note()
        return {"expired": len(expired), "moved": moved, "stopped": stopped, "let_out": let_out}

    async def _policy_changed(self) -> None:
        await self._policy.refresh()
        self._signals.policy()

    # Jobs that wait.

    async def _sweep(self) -> int:
        shut = {gate.id: gate for gate in self._policy.gates if not gate.releasing and _places(gate)}
        self._walks = {id_: self._walks.get(id_) or Walk(gate) for id_, gate in shut.items()}
        return sum([await self._walk(walk) for walk in list(self._walks.values())])

    async def _walk(self, walk: Walk) -> int:
        moved = 0
        gate, most = walk.gate, batch_of(walk.gate)
        for _ in range(BATCHES_A_RUN):
            if time.monotonic() < walk.resting_until:
                break
            rows = await self._gates.gate_look(walk.left[0], scope_of(gate), walk.place, most, params=not gate.whole)
            moved += await self._move(gate, await self.matching(gate, rows))
            if not walk.go_on(rows):
                break
        return moved

    async def matching(self, gate: Gate, rows: Sequence[asyncpg.Record]) -> list[asyncpg.Record]:
        """Those of the jobs that the gate is for. The server does other things in between."""
        if gate.whole:
            return list(rows)
        found = []
        for row in rows:
            if self._keeper.verdict((gate,), str(row["id"]), row["params"], row["options"]) is not None:
                found.append(row)
            await asyncio.sleep(0)
        return found

    async def _move(self, gate: Gate, rows: Sequence[asyncpg.Record]) -> int:
        if not rows:
            return 0
        if gate.action is Action.HOLD:
            return await self._gates.gate_block(gate.id, [(r["lane_id"], r["rank"], r["id"]) for r in rows])
        error = drop_error(gate)
        jobs = [(row["lane_id"], row["rank"], row["id"], row["tenant_id"]) for row in rows]
        dropped = await self._gates.gate_drop_pending(gate.id, jobs, error)
        for row in dropped:
            self._watch.ended(row["id"], Ended(State.DROPPED, None, error, None, row["attempt"]))
            self._tally.removed(row["lane_id"], State.DROPPED)
        return len(dropped)

    # Jobs that run.

    async def _stop_running(self) -> int:
        gates = [g for g in self._policy.gates if not g.releasing and g.running is not Running.LEAVE]
        return sum([await self._stop(gate) for gate in gates])

    async def _stop(self, gate: Gate) -> int:
        stopped, place = 0, Place()
        look = partial(self._gates.gate_look_running, gate.id, scope_of(gate), params=not gate.whole)
        while rows := await look(place, batch_of(gate)):
            place = place_of(rows[-1])
            jobs = [(row["lane_id"], row["id"]) for row in await self.matching(gate, rows)]
            if jobs:
                ask = (
                    self._gates.gate_cancel_running if gate.running is Running.CANCEL else self._gates.gate_move_running
                )
                self._signals.cancel(await ask(jobs, f"gate {gate.id}: {gate.reason}"[:500], gate.owner))
                stopped += len(jobs)
        return stopped

    # Open gates.

    async def _let_out(self) -> int:
        moved = 0
        for row in await self._gates.gate_backlogs():
            rate = None if row["drained"] else row["release_rate"]
            moved += await (self._let_out_at_once(row["id"]) if rate is None else self._let_out_slowly(row["id"]))
            if not row["drained"]:
                await self._end(row)
        return moved

    async def _let_out_at_once(self, gate_id: int) -> int:
        moved = 0
        while lanes := await self._gates.gate_unblock(gate_id, BATCH):
            self._signals.ready({row["lane_id"]: row["rank"] for row in lanes})
            moved += sum(row["moved"] for row in lanes)
        return moved

    async def _let_out_slowly(self, gate_id: int) -> int:
        moved, run_at = await self._gates.gate_unblock_slowly(gate_id, AHEAD_SECONDS)
        if run_at is not None:
            self._signals.scheduled(run_at)
        return moved

    async def _end(self, row: asyncpg.Record) -> None:
        """A gate that held whole lanes and is released at a rate is over when what waited before is gone."""
        scope = Scope(row["tenant_id"], row["queue"], row["task"])
        whole = row["whole"] and row["release_rate"] is not None
        released_at: datetime = row["released_at"]
        behind = rank(released_at, released_at, LOWEST)
        lowest = lowest_id(released_at)
        if not await self._gates.gate_is_drained(row["id"], scope, lowest, behind, whole=whole):
            left = await self._gates.gate_left(scope, lowest, behind, STUCK_LANES) if whole else []
            if not await self._is_stuck(row["id"], left):
                return
        self._stuck.pop(row["id"], None)
        if await self._gates.gate_drain(row["id"]):
            log.info("gate_drained", gate=row["id"])
            await self._policy_changed()

    async def _is_stuck(self, gate_id: int, left: Sequence[int]) -> bool:
        """Whether all that is left has long been for workers that there are not: the rate holds nothing back."""
        if not left or len(left) == STUCK_LANES or not await self._prospects.all_poor(left):
            self._stuck.pop(gate_id, None)
            return False
        return time.monotonic() - self._stuck.setdefault(gate_id, time.monotonic()) >= STUCK_SECONDS

    async def _note(self) -> None:
        if notes := self._keeper.take_notes():
            await self._gates.gate_note(list(notes.items()))
        if self._runs % FORGET_EVERY == 0:
            while await self._gates.gate_forget(DROPPED_SECONDS, OVER_SECONDS, BATCH) == BATCH:
                pass
        self._runs += 1


def batch_of(gate: Gate) -> int:
    return BATCH if gate.whole else BATCH_WITH_PARAMS


def scope_of(gate: Gate) -> Scope:
    return Scope(gate.tenant_id, gate.queue, gate.task)


def _places(gate: Gate) -> tuple[Waiting, ...]:
    """Where a gate has to look for jobs: nowhere, if the claim alone does what it orders."""
    if gate.action is Action.DROP:
        return (Waiting.READY, Waiting.TIMER, Waiting.BLOCKED)
    return (Waiting.READY,) if gate.action is Action.HOLD and not gate.whole else ()
