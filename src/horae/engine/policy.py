"""Policy in memory: which limits and gates concern a lane, and which service level a job. Read by
dispatch, submit and explain alike.

Every server holds all of it and a version number. A claim names the version it was chosen by, and the database gives
it nothing when the policy has changed since: what is in memory can be old for a moment, but is never acted on.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import asyncpg
import msgspec
import structlog

from horae.model import gates as gating
from horae.model.gates import Action, Gate
from horae.model.limits import Field, Group, LimitRule, groups_of
from horae.model.servicelevels import Scope, ServiceLevel, level_for
from horae.model.timing import OffPeak
from horae.store.control import Control, LaneKey
from horae.store.policy import PolicyRows

log = structlog.get_logger()

MAX_REMEMBERED: Final = 500_000


class LanePolicy(NamedTuple):
    """What holds for all jobs of a lane."""

    groups: tuple[Group, ...] = ()
    closed: Gate | None = None
    """A gate that lets nothing of the lane start."""
    partial: tuple[Gate, ...] = ()
    """Gates that hold or drop some of its jobs: each job must be looked at."""
    rejecting: tuple[Gate, ...] = ()
    """Gates that refuse new jobs, all or some."""


OPEN: Final = LanePolicy()


class Policy:
    def __init__(self, rows: PolicyRows, control: Control) -> None:
        self._rows = rows
        self._control = control
        self.version = 0
        """0 before anything was read: no claim is made by that."""
        self.limits: tuple[LimitRule, ...] = ()
        self.gates: tuple[Gate, ...] = ()
        self.levels: dict[Scope, ServiceLevel] = {}
        self.weights: dict[int, float] = {}
        self.rejecting = False
        """Whether any gate refuses new jobs."""
        self.on_change: list[Callable[[], None]] = []
        self._known: dict[int, LanePolicy] = {}
        self._reading = asyncio.Lock()

    def of(self, lane_id: int, key: LaneKey) -> LanePolicy:
        known = self._known.get(lane_id)
        if known is None:
            if len(self._known) >= MAX_REMEMBERED:
                self._known.clear()
            known = self._known[lane_id] = self.judge(key)
        return known

    def judge(self, key: LaneKey) -> LanePolicy:
        """The predicates themselves, for a lane that may not exist yet."""
        if not (self.limits or self.gates or key.concurrency_key):
            return OPEN
        concerned = [gate for gate in self.gates if gating.concerns(gate, key)]
        rates = [group for gate in concerned if (group := gating.rate_group(gate)) is not None]
        shut = [gate for gate in concerned if not gate.releasing]
        policy = LanePolicy(
            (*groups_of(self.limits, key), *rates),
            next(filter(_closes, shut), None),
            tuple(gate for gate in shut if not gate.whole and gate.action is not Action.REJECT),
            tuple(gate for gate in shut if gate.action is Action.REJECT),
        )
        return OPEN if policy == OPEN else policy

    def closing(self, key: LaneKey) -> list[Gate]:
        """Every gate that lets nothing of a lane start; one is enough for dispatch, an explanation tells all."""
        return [gate for gate in self.gates if gating.concerns(gate, key) and not gate.releasing and _closes(gate)]

    def level_of(self, tenant_id: int, task: str) -> ServiceLevel | None:
        """The service level of new jobs. Without any level, a look at nothing."""
        return level_for(self.levels, tenant_id, task) if self.levels else None

    def weight(self, tenant_id: int) -> float:
        return self.weights.get(tenant_id, 1.0)

    async def refresh(self) -> bool:
        """Reads the policy anew if it has changed. True when it had."""
        before = self.version
        async with self._reading:
            return await self._read() or self.version != before

    async def differs(self, version: int) -> bool:
        """Whether that version is no longer the present one, whoever noticed first."""
        await self.refresh()
        return self.version != version

    async def _read(self) -> bool:
        # The version first: rules that are newer than it cost one more look, older ones would be acted on.
        version = await self._rows.policy_version()
        if version == self.version:
            return False
        limits = tuple(limit_of(dict(row)) for row in await self._rows.policy_limits())
        gates = tuple(_gate(row) for row in await self._rows.policy_gates())
        levels = {level.scope: level for level in map(level_of_row, await self._rows.policy_levels())}
        weights = {row["id"]: row["weight"] for row in await self._control.tenant_list()}
        self.limits, self.gates, self.weights, self.version = limits, gates, weights, version
        self.levels = levels
        self.rejecting = any(gate.action is Action.REJECT and not gate.releasing for gate in gates)
        self._known.clear()
        log.debug("policy_read", version=version, limits=len(limits), gates=len(gates))
        for listener in self.on_change:
            listener()
        return True


def _closes(gate: Gate) -> bool:
    """Probes get through the gate of a circuit breaker, at the rate of its group."""
    return gate.whole and gate.action is not Action.REJECT and gate.probe_seconds is None


def limit_of(row: Mapping[str, Any]) -> LimitRule:
    values = dict(row) | {"each": tuple(Field(field) for field in row["each"])}
    return LimitRule(**values)


def level_of_row(row: asyncpg.Record) -> ServiceLevel:
    values = {name: row[name] for name in ServiceLevel.__struct_fields__ if name != "off_peak"}
    off_peak = None if row["off_peak"] is None else msgspec.json.decode(row["off_peak"], type=OffPeak)
    return ServiceLevel(**values, off_peak=off_peak)


def _gate(row: asyncpg.Record) -> Gate:
    return msgspec.convert(dict(row), Gate)
