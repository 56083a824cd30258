"""Grants: what a claim took, made into jobs for a worker. The last look before a job starts: one that expired, or that
a gate for some of its lane's jobs holds or drops, is leased already and goes elsewhere instead.
"""

from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple, Protocol

import asyncpg
import msgspec
import structlog

from horae.engine.clock import Clock
from horae.engine.expiry import Expiry, expired
from horae.engine.lanes import Lanes
from horae.engine.policy import Policy
from horae.engine.sessions import Session
from horae.model.gates import Gate
from horae.model.job import JobOptions, read_options
from horae.model.matching import LIGHT, Demand, demand
from horae.model.placement import read_placement
from horae.model.retry import DEFAULT_MAX_ATTEMPTS
from horae.model.work import Grant
from horae.store.control import LaneKey
from horae.store.workers import Workers

log = structlog.get_logger()

NO_OPTIONS = JobOptions()
_lane_id = itemgetter("lane_id")


class Held(NamedTuple):
    """A job that was leased and must not start, because of a gate."""

    lane_id: int
    id: str
    attempt: int
    tenant_id: int
    rank: int
    gate: Gate


class Gatekeeper(Protocol):
    def verdict(self, gates: Sequence[Gate], job_id: str, params: str, options: str | None) -> Gate | None: ...
    async def put_back(self, worker_id: int, held: Sequence[Held]) -> None: ...


class Grants:
    def __init__(
        self, workers: Workers, lanes: Lanes, policy: Policy, clock: Clock, expiry: Expiry, gatekeeper: Gatekeeper
    ) -> None:
        self._workers = workers
        self._lanes = lanes
        self._policy = policy
        self._clock = clock
        self._expiry = expiry
        self._gatekeeper = gatekeeper

    async def make(self, session: Session, rows: Sequence[asyncpg.Record]) -> list[Grant]:
        grants: list[Grant] = []
        late: list[tuple[int, str, int, int]] = []
        held: list[Held] = []
        again: list[tuple[int, str]] = []
        # Asked for, not looked up: a lane may have been forgotten since it was chosen, and its jobs are leased.
        keys = await self._lanes.keys(map(_lane_id, rows))
        for row in rows:
            lane_id, job_id, attempt, rank, params, options = row[:6]
            key = keys.get(lane_id)
            if key is None or params is None:
                log.error("body_missing", job=job_id, lane=lane_id)
                continue
            decoded = NO_OPTIONS if options is None else read_options(options)
            partial = self._policy.of(lane_id, key).partial
            if partial and (gate := self._gatekeeper.verdict(partial, job_id, params, options)) is not None:
                held.append(Held(lane_id, job_id, attempt, key.tenant_id, rank, gate))
                continue
            if decoded.expires is not None and expired(decoded, self._clock.now()):
                late.append((lane_id, job_id, attempt, key.tenant_id))
            if attempt > 1:
                again.append((key.tenant_id, job_id))
            grants.append(_grant(lane_id, job_id, attempt, key, params, decoded))
        if held:
            await self._gatekeeper.put_back(session.worker_id, held)
        if late:
            ended = await self._expiry.end_leased(session.worker_id, late)
            grants = [grant for grant in grants if grant.id not in ended]
        return await self._with_checkpoints(grants, again) if again else grants

    async def _with_checkpoints(self, grants: list[Grant], again: Sequence[tuple[int, str]]) -> list[Grant]:
        saved = await self._workers.checkpoint_load(again)
        for grant in grants:
            if grant.id in saved:
                grant.checkpoint = msgspec.Raw(saved[grant.id].encode())
        return grants


def _grant(lane_id: int, job_id: str, attempt: int, key: LaneKey, params: str, options: JobOptions) -> Grant:
    grant = Grant(id=job_id, lane=lane_id, attempt=attempt, task=key.task, params=msgspec.Raw(params))
    if options is not NO_OPTIONS:
        grant.timeout = options.timeout
        grant.max_attempts = options.max_attempts or DEFAULT_MAX_ATTEMPTS
    if key.requires:
        placement = read_placement(key.requires)
        grant.kind = placement.runner or ""
        if (need := demand(placement)) is not LIGHT:
            _take(grant, need)
    return grant


def _take(grant: Grant, need: Demand) -> None:
    grant.slots, grant.cpu, grant.memory, grant.gpu, grant.disk = need
