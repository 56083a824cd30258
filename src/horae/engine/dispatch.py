"""Dispatch: workers that want work meet lanes that have some.

A worker's exchange either finds work at once or becomes a *waiter*. A pass serves the waiters, first come first served,
from the lanes they can run, the smallest head rank first. One claim takes from several lanes; a lane's share of it is
bounded so that one flood does not fill the whole answer while others wait.

Everything here is a hint. A lane believed empty may have work (another server made it): the scout finds it within a
moment. A lane believed full may be empty: the claim returns less. *Floors* spare the claim from walking over the dead
index entries that a long snapshot keeps alive: each lane remembers the smallest rank that can still be there and lowers
it when it hears of a smaller one. Only the scout looks below, and it watches what that costs.
"""

import asyncio
import heapq
from collections.abc import Mapping, Sequence
from typing import Final

import asyncpg
import msgspec
import structlog

from horae.engine.lanes import Lanes
from horae.engine.sessions import Session
from horae.model.job import read_options
from horae.model.retry import DEFAULT_MAX_ATTEMPTS
from horae.model.work import Grant
from horae.store.control import LaneKey
from horae.store.jobs import Jobs, LaneClaim
from horae.store.workers import Workers

log = structlog.get_logger()

LANES_A_CLAIM: Final = 64
MAX_CLAIM: Final = 1000
LOWEST_RANK: Final = -(2**63)


class LaneHint:
    """What this server believes of a lane."""

    __slots__ = ("floor", "head", "key", "lane_id")

    def __init__(self, lane_id: int, key: LaneKey, head: int) -> None:
        self.lane_id = lane_id
        self.key = key
        self.head = head
        self.floor = LOWEST_RANK

    def lower(self, rank: int) -> None:
        self.head = min(self.head, rank)
        self.floor = min(self.floor, rank)


class Waiter:
    __slots__ = ("answer", "leaving", "number", "session", "want")

    def __init__(self, session: Session, number: int, want: int, answer: "asyncio.Future[list[Grant]]") -> None:
        self.session = session
        self.number = number
        self.want = want
        self.answer = answer
        self.leaving = False
        """Its time is up while it is being served: an empty answer is an answer then."""


class Dispatch:
    def __init__(self, jobs: Jobs, workers: Workers, lanes: Lanes) -> None:
        self._jobs = jobs
        self._workers = workers
        self._lanes = lanes
        self._full: dict[int, LaneHint] = {}
        self._quiet: dict[int, LaneHint] = {}
        self._waiters: dict[Waiter, None] = {}

    def note_ready(self, heads: Mapping[int, int]) -> None:
        """Lanes that have work, with the smallest rank seen."""
        unknown: dict[int, int] = {}
        for lane_id, rank in heads.items():
            hint = self._full.get(lane_id) or self._quiet.pop(lane_id, None)
            if hint is not None:
                if lane_id not in self._full:
                    hint.head = rank
                    self._full[lane_id] = hint
                hint.lower(rank)
            elif (key := self._lanes.key(lane_id)) is not None:
                self._full[lane_id] = LaneHint(lane_id, key, rank)
            else:
                unknown[lane_id] = rank
        if unknown:
            spawn(self._learn(unknown))
        if self._waiters:
            self._serve()

    async def _learn(self, heads: Mapping[int, int]) -> None:
        await self._lanes.keys(heads)
        self.note_ready({lane_id: rank for lane_id, rank in heads.items() if self._lanes.key(lane_id) is not None})

    async def take(self, session: Session, number: int, want: int) -> list[Grant]:
        """What there is for this worker now; an empty list when there is nothing."""
        want = min(want, MAX_CLAIM)
        grants: list[Grant] = []
        while len(grants) < want and (lanes := self._choose(session, want - len(grants))):
            grants += await self._claim(session, number, lanes, want - len(grants))
        return grants

    def wait(self, session: Session, number: int, want: int) -> Waiter:
        """Stands in line; `waiter.answer` is set when there is work, or `withdraw` ends it."""
        waiter = Waiter(session, number, want, asyncio.get_running_loop().create_future())
        self._waiters[waiter] = None
        if self._full:
            self._serve()
        return waiter

    def withdraw(self, waiter: Waiter) -> bool:
        """Leaves the line. False when it is being served: its answer will come, empty or not."""
        if self._waiters.pop(waiter, waiter) is None:
            return True
        waiter.leaving = True
        return False

    def depth(self) -> dict[str, int]:
        return {"lanes_with_work": len(self._full), "waiting_workers": len(self._waiters)}

    def _serve(self) -> None:
        for waiter in list(self._waiters):
            if self._choose(waiter.session, 1):
                del self._waiters[waiter]
                spawn(self._serve_one(waiter))

    async def _serve_one(self, waiter: Waiter) -> None:
        try:
            grants = await self.take(waiter.session, waiter.number, waiter.want)
        except Exception as error:  # noqa: BLE001 - whoever waits must hear of it, whatever it is
            if not waiter.answer.done():
                waiter.answer.set_exception(error)
            return
        if waiter.answer.done():
            # The worker went away while we claimed for it: it will name the number as lost, or its lease ends.
            log.info("grants_undelivered", worker=waiter.session.worker_id, jobs=len(grants))
        elif grants or waiter.leaving:
            waiter.answer.set_result(grants)
        else:
            self._waiters[waiter] = None
            self._serve()

    def _choose(self, session: Session, want: int) -> list[tuple[LaneHint, int]]:
        """The lanes to claim from and how much of each: smallest head first, the want shared among them."""
        able = [hint for hint in self._full.values() if session.can_run(hint.lane_id, hint.key)]
        if not able:
            return []
        best = heapq.nsmallest(LANES_A_CLAIM, able, key=_head) if len(able) > 1 else able
        share = -(-want // len(best))
        return [(hint, share) for hint in best]

    async def _claim(
        self, session: Session, number: int, lanes: Sequence[tuple[LaneHint, int]], want: int
    ) -> list[Grant]:
        claims = [LaneClaim(h.lane_id, h.key.tenant_id, h.floor, quota) for h, quota in lanes]
        heads = [hint.head for hint, _ in lanes]
        for hint, _ in lanes:
            # Until the answer is there the lane counts as empty; work that is announced meanwhile brings it back.
            self._rest(hint)
        rows = await self._jobs.job_claim(session.worker_id, number, claims, want)
        self._learn_from(rows, lanes, heads, want)
        if self._waiters:
            # Others may have found the lane resting while we claimed.
            self._serve()
        return await self._grants(rows)

    def _learn_from(
        self, rows: Sequence[asyncpg.Record], lanes: Sequence[tuple[LaneHint, int]], heads: Sequence[int], want: int
    ) -> None:
        got: dict[int, int] = {}
        last: dict[int, int] = {}
        for row in rows:
            lane_id = row["lane_id"]
            got[lane_id] = got.get(lane_id, 0) + 1
            last[lane_id] = max(row["rank"], last.get(lane_id, LOWEST_RANK))
        left = want
        for (hint, quota), head in zip(lanes, heads, strict=True):
            count = got.get(hint.lane_id, 0)
            if hint.lane_id in last and hint.lane_id not in self._full:
                hint.floor = last[hint.lane_id]
            if (left <= 0 or count >= min(quota, left)) and hint.lane_id not in self._full:
                self._quiet.pop(hint.lane_id, None)
                hint.head = last.get(hint.lane_id, head)
                self._full[hint.lane_id] = hint
            left -= count

    def _rest(self, hint: LaneHint) -> None:
        if self._full.pop(hint.lane_id, None) is not None:
            self._quiet[hint.lane_id] = hint
            if len(self._quiet) > LANES_A_CLAIM * 1000:
                self._quiet.pop(next(iter(self._quiet)))

    async def _grants(self, rows: Sequence[asyncpg.Record]) -> list[Grant]:
        grants: list[Grant] = []
        again: list[tuple[int, str]] = []
        for lane_id, job_id, attempt, _, params, options in rows:
            key = self._lanes.key(lane_id)
            if key is None or params is None:
                log.error("body_missing", job=job_id, lane=lane_id)
                continue
            grant = Grant(id=job_id, lane=lane_id, attempt=attempt, task=key.task, params=msgspec.Raw(params))
            if options is not None:
                decoded = read_options(options)
                grant.timeout = decoded.timeout
                grant.max_attempts = decoded.max_attempts or DEFAULT_MAX_ATTEMPTS
            if attempt > 1:
                again.append((key.tenant_id, job_id))
            grants.append(grant)
        if again:
            saved = await self._workers.checkpoint_load(again)
            for grant in grants:
                if grant.id in saved:
                    grant.checkpoint = msgspec.Raw(saved[grant.id].encode())
        return grants


def _head(hint: LaneHint) -> int:
    return hint.head


_tasks: set["asyncio.Task[None]"] = set()


def spawn(work: "asyncio.Future[None] | object") -> None:
    """Runs a coroutine on the side and keeps it alive until it ends."""
    task: asyncio.Task[None] = asyncio.ensure_future(work)  # type: ignore[arg-type]
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
