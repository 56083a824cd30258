"""Gating: close and open gates, the emergency stop and its end, and bringing back what a drop took away.

A gate holds for every claim made after its commit, on any server: see `policy`. What has to be moved is moved by the
duty `gates` within moments.
"""

import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg
import msgspec
import structlog

from horae import failpoints
from horae.engine.access import Access, Caller
from horae.engine.clock import Clock
from horae.engine.conditions import condition
from horae.engine.policy import Policy
from horae.engine.signals import Signals
from horae.engine.tally import Tally
from horae.model.callbacks import SERVER
from horae.model.durations import parse_duration
from horae.model.errors import Forbidden, InvalidInput, NotFound, WrongState
from horae.model.gates import Action, Kind, Running
from horae.model.ids import lowest_id
from horae.model.job import check_name
from horae.model.limits import read_rate
from horae.store.gates import Gates, Restore

log = structlog.get_logger()

MAX_REASON: Final = 500
MAX_GATES: Final = 500
COUNT_IN_LIST: Final = 1000
COUNT_OF_ONE: Final = 100_000
RESTORE_BATCH: Final = 500
RESTORE_SECONDS: Final = 5.0
"""How long one call may restore; whoever wants more calls again."""
RETENTION_MARGIN: Final = timedelta(days=1)
NEVER: Final = "never"
MAX_QUEUES: Final = 5000


class GateOrder(msgspec.Struct, kw_only=True, frozen=True):
    """A gate as somebody wants it."""

    reason: str
    action: Action = Action.HOLD
    tenant: str | None = None
    queue: str | None = None
    task: str | None = None
    condition: str | None = None
    percent: int | None = None
    running: Running = Running.LEAVE
    expires_in: str | float | None = None


class Radius(NamedTuple):
    """How far an emergency stop would reach."""

    rows: list[asyncpg.Record]
    """Queues with how much waits and runs in them, the fullest first."""
    stops: list[asyncpg.Record]

    @property
    def workers(self) -> int:
        """How many workers run any of it; what the servers themselves hold is on none."""
        return len({worker for row in self.rows for worker in row["workers"] or () if worker != SERVER})


def check_order(order: GateOrder) -> GateOrder:
    """Everything that can be refused without looking anything up."""
    _check_reason(order.reason)
    if order.queue is not None:
        check_name(order.queue, "queue")
    if order.task is not None:
        check_name(order.task, "task")
    if order.condition is not None:
        condition(order.condition)
    if order.percent is not None and not 1 <= order.percent <= 99:
        raise InvalidInput(f"percent: {order.percent} is outside 1…99; leave it out for all jobs", field="percent")
    if order.action is Action.REJECT and order.running is not Running.LEAVE:
        raise InvalidInput("running: a gate that rejects new jobs does nothing to running ones", field="running")
    if order.action is Action.DROP and order.running is Running.MOVE:
        raise InvalidInput("running: a gate that drops can leave running jobs or cancel them", field="running")
    _seconds(order.expires_in)
    return order


class Gating:
    def __init__(
        self,
        gates: Gates,
        policy: Policy,
        access: Access,
        signals: Signals,
        clock: Clock,
        tally: Tally,
        retention: timedelta,
    ) -> None:
        self._gates = gates
        self._policy = policy
        self._access = access
        self._signals = signals
        self._clock = clock
        self._tally = tally
        self._retention = retention
        self.nudge: Callable[[], None] = _nobody
        """Wakes the duty that carries out what gates order."""

    async def create(self, by: Caller, order: GateOrder) -> asyncpg.Record:
        check_order(order)
        gate_id = await self._create(by, order, Kind.GATE)
        if gate_id is None:
            raise WrongState("the gate could not be made; try again")
        return await self.get(by, gate_id)

    async def _create(self, by: Caller, order: GateOrder, kind: Kind) -> int | None:
        tenant_id = await self._access.tenant_filter(by, order.tenant)
        gate_id = await self._gates.gate_create(
            tenant_id, order.queue, order.task, order.condition, order.percent, order.action.value,
            order.running.value, kind.value, None, by.name, order.reason.strip(), _seconds(order.expires_in),
        )  # fmt: skip
        if gate_id is not None:
            log.info("gate_closed", gate=gate_id, action=order.action.value, kind=kind.value, by=by.name)
            await self._changed()
        return gate_id

    async def stop(self, by: Caller, order: GateOrder) -> asyncpg.Record:
        """Nothing that the key may touch starts any more. Asked again, it is the same stop, with the last reason."""
        check_order(order)
        tenant_id = await self._access.tenant_filter(by, order.tenant)
        for _ in range(3):
            # Between the two, somebody may make one, and release it before we look again.
            if (in_force := await self._gates.gate_stops(tenant_id)) and await self._stop_again(by, in_force[0], order):
                return await self.get(by, in_force[0])
            if (gate_id := await self._create(by, order, Kind.STOP)) is not None:
                return await self.get(by, gate_id)
        raise WrongState("stops come and go at this moment; look at the gates and try again")

    async def _stop_again(self, by: Caller, gate_id: int, order: GateOrder) -> bool:
        """False: somebody has released it since."""
        seconds = _seconds(order.expires_in)
        said = (order.reason.strip(), order.running.value, seconds)
        if not await self._gates.gate_stop_again(gate_id, by.tenant_id, *said):
            return False
        log.info("gate_changed", gate=gate_id, by=by.name)
        await self._changed()
        return True

    async def release_stop(self, by: Caller, tenant: str | None, rate: str | float | None) -> list[asyncpg.Record]:
        tenant_id = await self._access.tenant_filter(by, tenant)
        stops = await self._gates.gate_stops(tenant_id)
        if not stops:
            raise NotFound("there is no emergency stop in force that this key could end")
        return [await self.release(by, gate_id, rate) for gate_id in stops]

    async def radius(self, by: Caller, tenant: str | None) -> Radius:
        """What an emergency stop would hold and touch, and the stops in force that its end would end."""
        tenant_id = await self._access.tenant_filter(by, tenant)
        rows = await self._gates.gate_radius(tenant_id, MAX_QUEUES)
        stops = [await self.get(by, gate_id) for gate_id in await self._gates.gate_stops(tenant_id)]
        return Radius(rows, stops)

    async def list_all(
        self, by: Caller, tenant: str | None = None, *, over: bool, kind: Kind | None = None
    ) -> list[asyncpg.Record]:
        """The latest of them, at most MAX_GATES."""
        tenant_id = await self._access.tenant_filter(by, tenant)
        return await self._gates.gate_list(tenant_id, None, COUNT_IN_LIST, MAX_GATES, over=over, kind=kind)

    async def get(self, by: Caller, gate_id: int) -> asyncpg.Record:
        rows = await self._gates.gate_list(by.tenant_id, gate_id, COUNT_OF_ONE, 1, over=True)
        if not rows:
            raise NotFound(f"there is no gate {gate_id}")
        return rows[0]

    async def release(self, by: Caller, gate_id: int, rate: str | float | None) -> asyncpg.Record:
        """Opens a gate. Said again while its backlog is let out, it changes the rate."""
        gate = await self._own(by, gate_id)
        speed = None if rate is None else read_rate(rate)
        if speed is not None and gate["action"] != Action.HOLD:
            raise InvalidInput(f"rate: a gate that {gate['action']}s has no backlog to let out", field="rate")
        if not await self._gates.gate_release(gate_id, by.tenant_id, by.name, speed):
            raise WrongState(f"gate {gate_id} is over already")
        log.info("gate_released", gate=gate_id, rate=speed, by=by.name)
        await self._changed()
        return await self.get(by, gate_id)

    async def change(
        self, by: Caller, gate_id: int, reason: str | None, expires_in: str | float | None
    ) -> asyncpg.Record:
        if reason is None and expires_in is None:
            raise InvalidInput("nothing to change: give reason, expires_in or both", field="reason")
        await self._own(by, gate_id)
        seconds = None if expires_in == NEVER else _seconds(expires_in)
        text = None if reason is None else _check_reason(reason)
        if not await self._gates.gate_change(gate_id, by.tenant_id, text, expires_in is not None, seconds):
            raise WrongState(f"gate {gate_id} is not closed any more")
        log.info("gate_changed", gate=gate_id, by=by.name)
        await self._changed()
        return await self.get(by, gate_id)

    async def restore(
        self, by: Caller, gate_id: int, queue: str | None, task: str | None, ids: list[UUID] | None
    ) -> tuple[int, bool]:
        """Brings back dropped jobs. Returns how many, and whether there may be more."""
        gate = await self._own(by, gate_id)
        if gate["action"] != Action.DROP:
            raise WrongState(f"gate {gate_id} dropped nothing: its action is {gate['action']}")
        if gate["released_at"] is None:
            raise WrongState(f"gate {gate_id} is closed and would drop them again: release it first")
        lowest = lowest_id(self._clock.now() - self._retention + RETENTION_MARGIN)
        which = Restore(gate_id, by.tenant_id, queue, task, ids, lowest)
        restored, until = 0, time.monotonic() + RESTORE_SECONDS
        while time.monotonic() < until:
            rows = await self._gates.gate_restore(which, RESTORE_BATCH)
            restored += self._announce([row for row in rows if row["restored"]])
            if len(rows) < RESTORE_BATCH:
                log.info("jobs_restored", gate=gate_id, jobs=restored, by=by.name)
                return restored, False
        return restored, True

    def _announce(self, rows: list[asyncpg.Record]) -> int:
        now = self._clock.now()
        self._signals.moved(
            (row["lane_id"], row["rank"], 0 if row["due"] else (row["run_at"] - now).total_seconds()) for row in rows
        )
        for lane_id, count in Counter(row["lane_id"] for row in rows).items():
            self._tally.restored(lane_id, count)
        return len(rows)

    async def _own(self, by: Caller, gate_id: int) -> asyncpg.Record:
        """The gate, if the caller may change it: gates of all tenants are only for keys that belong to none."""
        gate = await self.get(by, gate_id)
        if by.tenant_id is not None and gate["tenant_id"] != by.tenant_id:
            raise Forbidden(f"gate {gate_id} is for all tenants: only a key that belongs to no tenant can change it")
        return gate

    async def _changed(self) -> None:
        failpoints.reach("gate.after_commit")
        await self._policy.refresh()
        self._signals.policy()
        self.nudge()


def _check_reason(reason: str) -> str:
    text = reason.strip()
    if not 1 <= len(text) <= MAX_REASON or "\x00" in text:
        raise InvalidInput(f"reason: 1…{MAX_REASON} characters; others will read it", field="reason")
    return text


def _seconds(expires_in: str | float | None) -> float | None:
    if expires_in is None:
        return None
    seconds = parse_duration(expires_in, "expires_in").total_seconds()
    if seconds <= 0:
        raise InvalidInput("expires_in: must be more than 0", field="expires_in")
    return seconds


def _nobody() -> None:
    """Nobody to wake."""
