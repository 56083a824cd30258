"""Notices: servers tell each other of new work, gathered to at most twenty notices a second.

A NOTIFY inside the submitting transaction would serialise all commits, so it is sent from a connection of its own
after the fact. Nothing relies on it: without notices, the scout and the timers' look find everything a moment later.

Who only listens does not notice that the other end is gone without a word. So something is said every LOOK_SECONDS, if
only a notice with nothing in it, and what is not answered in time ends the connection.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final
from uuid import uuid4

import asyncpg
import msgspec
import structlog

from horae.engine.pulses import Beats, Pulses
from horae.engine.signals import Signals
from horae.store.database import LOST, Database
from horae.store.upkeep import notice_send

log = structlog.get_logger()

CHANNEL: Final = "horae"
SECONDS_BETWEEN: Final = 0.05
MAX_LANES: Final = 120
MAX_GROUPS: Final = 60
"""PostgreSQL takes 8,000 bytes in a notice."""
MAX_TENANTS: Final = 30
MAX_JOBS: Final = 100
"""That a notice of pulses names: it goes alone."""
RECONNECT_SECONDS: Final = 1.0
LOOK_SECONDS: Final = 15.0
ANSWER_SECONDS: Final = 5.0


class Notice(msgspec.Struct, omit_defaults=True):
    sender: str
    ready: dict[int, int] = {}
    scheduled: float | None = None
    cancel: list[int] = []
    freed: dict[int, int] = {}
    policy: bool = False
    pulses: dict[int, Beats] = {}


class Notices:
    def __init__(self, database: Database, signals: Signals, pulses: Pulses) -> None:
        self._database = database
        self._signals = signals
        self._pulses = pulses
        self._sender = uuid4().hex[:12]
        self._ready: dict[int, int] = {}
        self._scheduled: float | None = None
        self._cancel: set[int] = set()
        self._freed: dict[int, int] = {}
        self._policy = False
        self._something = asyncio.Event()
        self._hearing = False
        self._task: asyncio.Task[None] | None = None
        signals.on_ready.append(self._note_ready)
        signals.on_scheduled.append(self._note_scheduled)
        signals.on_cancel.append(self._note_cancel)
        signals.on_freed.append(self._note_freed)
        signals.on_policy.append(self._note_policy)
        pulses.nudge = self._something.set

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="duty notices")

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _note_ready(self, heads: Mapping[int, int]) -> None:
        if self._hearing:
            return
        for lane_id, rank in heads.items():
            self._ready[lane_id] = min(rank, self._ready.get(lane_id, rank))
        self._something.set()

    def _note_scheduled(self, run_at: datetime) -> None:
        if not self._hearing:
            self._scheduled = min(run_at.timestamp(), self._scheduled or run_at.timestamp())
            self._something.set()

    def _note_cancel(self, worker_id: int) -> None:
        if not self._hearing:
            self._cancel.add(worker_id)
            self._something.set()

    def _note_freed(self, groups: Mapping[int, int]) -> None:
        if not self._hearing:
            for group_id, count in groups.items():
                self._freed[group_id] = self._freed.get(group_id, 0) + count
            self._something.set()

    def _note_policy(self) -> None:
        if not self._hearing:
            self._policy = True
            self._something.set()

    async def _run(self) -> None:
        while True:
            try:
                connection = await self._database.connect()
            except (asyncpg.PostgresError, *LOST):
                await asyncio.sleep(RECONNECT_SECONDS)
                continue
            try:
                # Without this, a server that has nothing to tell would not notice that it is deaf.
                connection.add_termination_listener(lambda _: self._something.set())
                await connection.add_listener(CHANNEL, self._hear)
                await self._tell(connection)
            except (asyncpg.PostgresError, asyncpg.InternalClientError, *LOST) as error:
                log.info("notices_interrupted", error=repr(error))
                await asyncio.sleep(RECONNECT_SECONDS)
            finally:
                connection.terminate()

    async def _tell(self, connection: "asyncpg.Connection[asyncpg.Record]") -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._something.wait()
            if connection.is_closed():
                raise ConnectionError("the connection for notices was ended")
            silent = not self._something.is_set()
            self._something.clear()
            notice = self._gather()
            if silent or notice != Notice(self._sender):
                await _send(connection, notice)
            if pulses := self._pulses.take_untold(MAX_TENANTS, MAX_JOBS):
                await _send(connection, Notice(self._sender, pulses=pulses))
            await asyncio.sleep(SECONDS_BETWEEN)

    def _gather(self) -> Notice:
        """What fits into one notice; the rest goes with the next."""
        lanes = dict(islice(self._ready.items(), MAX_LANES))
        cancel = list(islice(self._cancel, MAX_LANES))
        freed = dict(islice(self._freed.items(), MAX_GROUPS))
        notice = Notice(self._sender, lanes, self._scheduled, cancel, freed, self._policy)
        self._freed = dict(islice(self._freed.items(), MAX_GROUPS, None))
        self._policy = False
        self._ready = dict(islice(self._ready.items(), MAX_LANES, None))
        self._cancel.difference_update(cancel)
        self._scheduled = None
        if self._ready or self._cancel or self._freed:
            self._something.set()
        return notice

    def _hear(self, _connection: Any, _pid: int, _channel: str, payload: object) -> None:
        try:
            notice = msgspec.json.decode(str(payload), type=Notice)
        except msgspec.MsgspecError:
            return
        if notice.sender == self._sender:
            return
        self._hearing = True
        try:
            self._signals.ready(notice.ready)
            if notice.scheduled is not None:
                self._signals.scheduled(datetime.fromtimestamp(notice.scheduled, UTC))
            self._signals.cancel(notice.cancel)
            if notice.freed:
                self._signals.freed(notice.freed)
            if notice.policy:
                self._signals.policy()
            for tenant_id, beats in notice.pulses.items():
                self._pulses.hear(tenant_id, beats)
        finally:
            self._hearing = False


async def _send(connection: "asyncpg.Connection[asyncpg.Record]", notice: Notice) -> None:
    async with asyncio.timeout(ANSWER_SECONDS):
        await notice_send(connection, CHANNEL, msgspec.json.encode(notice).decode())
