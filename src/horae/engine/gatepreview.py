"""What a gate would do, before it is closed: how many waiting jobs it would be for, and some of them."""

import asyncio
from collections.abc import Sequence
from typing import Final, NamedTuple

import asyncpg

from horae.engine.access import Access, Caller
from horae.engine.gatekeeper import answer_of
from horae.engine.gates import GateOrder, check_order
from horae.model.states import State
from horae.store.gates import Gates, Place, Scope, Waiting, place_of

MAX_LOOK: Final = 5000
BATCH: Final = 200
SAMPLE: Final = 10
STATES: Final = {Waiting.READY: State.READY, Waiting.TIMER: State.SCHEDULED, Waiting.BLOCKED: State.BLOCKED}


class Found(NamedTuple):
    row: asyncpg.Record
    state: State


class Preview:
    """One look at the jobs that wait."""

    def __init__(self, order: GateOrder) -> None:
        self._order = order
        self._matching = 0
        self.looked_at = 0
        self.complete = True
        self.sample: list[Found] = []
        self.note: str | None = None

    @property
    def matching(self) -> int:
        """Which jobs a percentage falls on is known only when the gate is made: so many of them, in the mean."""
        return round(self._matching * (self._order.percent or 100) / 100)

    async def look(self, rows: Sequence[asyncpg.Record], state: State) -> None:
        for row in rows:
            self.looked_at += 1
            if self._matches(row):
                self._matching += 1
                if len(self.sample) < SAMPLE:
                    self.sample.append(Found(row, state))
            await asyncio.sleep(0)

    def _matches(self, row: asyncpg.Record) -> bool:
        if self._order.condition is None:
            return True
        answer = answer_of(self._order.condition, row["params"], row["options"])
        if answer.fault is not None:
            self.note = f"does not apply to job {row['id']}, which counts as no match: {answer.fault}"
        return answer.matched


async def preview(gates: Gates, access: Access, by: Caller, order: GateOrder) -> Preview:
    check_order(order)
    scope = Scope(await access.tenant_filter(by, order.tenant), order.queue, order.task)
    found = Preview(order)
    for where, state in STATES.items():
        place: Place | None = Place()
        while place is not None:
            if found.looked_at >= MAX_LOOK:
                found.complete = False
                return found
            rows = await gates.gate_look(where, scope, place, BATCH, params=order.condition is not None)
            await found.look(rows, state)
            place = place_of(rows[-1]) if len(rows) == BATCH else None
    return found
