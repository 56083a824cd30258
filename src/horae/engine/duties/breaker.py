"""Breaker: a task whose jobs fail too often is held, tried, and let go again.

Every server looks; that a task is held once is seen to by the database. The gate is one like others: it can be seen,
and an operator may release it, after which the breaker counts anew.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import asyncpg
import msgspec
import structlog

from horae.engine.clock import Clock
from horae.engine.policy import Policy
from horae.engine.signals import Signals
from horae.engine.taskrows import SHARED
from horae.model.breaker import LONGEST_WINDOW, Breaker, Ends, probes_succeeded, trip
from horae.model.durations import parse_duration
from horae.model.limits import read_rate
from horae.store.breakers import Breakers
from horae.store.gates import Gates

log = structlog.get_logger()

OWNER: Final = "breaker"
_breaker: Final = msgspec.json.Decoder(Breaker)


class Held(NamedTuple):
    """A task of a tenant: its breaker, how its jobs ended of late, and the last gate that its breaker closed."""

    tenant_id: int
    task: str
    breaker: Breaker | None
    ends: list[Ends]
    gate: asyncpg.Record | None


class BreakerDuty:
    name = "breaker"
    interval = 2.0

    def __init__(self, breakers: Breakers, gates: Gates, policy: Policy, signals: Signals, clock: Clock) -> None:
        self._breakers = breakers
        self._gates = gates
        self._policy = policy
        self._signals = signals
        self._clock = clock

    async def run_once(self) -> Mapping[str, int]:
        closed = released = 0
        for task in await self._look():
            if task.gate is not None and task.gate["released_at"] is None:
                released += await self._probe(task, task.gate)
            else:
                closed += await self._judge(task)
        if closed or released:
            await self._policy.refresh()
            self._signals.policy()
        return {"closed": closed, "released": released}

    async def _look(self) -> list[Held]:
        definitions = await self._breakers.breaker_tasks()
        gates = {(row["tenant_id"], row["task"]): row for row in await self._breakers.breaker_gates()}
        if not (definitions or any(row["released_at"] is None for row in gates.values())):
            return []
        breakers = {(row["tenant_id"], row["name"]): _read(row["breaker"]) for row in definitions}
        names = sorted({name for _, name in breakers})
        ends: defaultdict[tuple[int, str], list[Ends]] = defaultdict(list)
        for row in await self._breakers.breaker_ends(names, LONGEST_WINDOW.total_seconds()):
            ends[row["tenant_id"], row["task"]].append(Ends(row["bucket"], row["succeeded"], row["failed"]))
        return list(_join(breakers, ends, gates))

    async def _judge(self, task: Held) -> bool:
        """Holds the task if too much of it failed since it was last let go."""
        if task.breaker is None:
            return False
        since = task.gate["released_at"] if task.gate is not None else None
        reason = trip(task.breaker, task.ends, self._clock.now(), since)
        if reason is None:
            return False
        pause = parse_duration(task.breaker.pause, "pause").total_seconds()
        previous = task.gate["id"] if task.gate is not None and task.gate["drained_at"] is None else None
        gate_id = await self._breakers.close(task.tenant_id, task.task, pause, reason, previous)
        if gate_id is not None:
            log.warning("breaker_closed", gate=gate_id, tenant=task.tenant_id, task=task.task, reason=reason)
        return gate_id is not None

    async def _probe(self, task: Held, gate: asyncpg.Record) -> bool:
        """Lets the task go if enough of its trial jobs succeeded, or if it has no breaker any more."""
        gate_id: int = gate["id"]
        if task.breaker is None:
            return await self._gates.gate_release(gate_id, None, OWNER, None)
        succeeded = probes_succeeded(task.ends, gate["made_at"])
        await self._gates.gate_note([(gate_id, f"{succeeded} of {task.breaker.probes} trial jobs succeeded in a row")])
        if succeeded < task.breaker.probes:
            return False
        log.info("breaker_released", gate=gate_id, tenant=task.tenant_id, task=task.task)
        return await self._gates.gate_release(gate_id, None, OWNER, read_rate(task.breaker.release_rate))


def _join(
    breakers: Mapping[tuple[int, str], Breaker | None],
    ends: Mapping[tuple[int, str], list[Ends]],
    gates: Mapping[tuple[int, str], asyncpg.Record],
) -> Iterator[Held]:
    """A tenant's own definition of a task goes before the shared one."""
    for tenant_id, task in sorted({*ends, *gates}):
        breaker = breakers.get((tenant_id, task), breakers.get((SHARED, task)))
        yield Held(tenant_id, task, breaker, ends.get((tenant_id, task), []), gates.get((tenant_id, task)))


def _read(text: str | None) -> Breaker | None:
    return None if text is None else _breaker.decode(text)
