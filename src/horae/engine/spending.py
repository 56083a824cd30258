"""Spending: where the time of a job went, from its submit to its end or to now.

What is sure is taken first: the attempts, the time until it was due, gates that were closed, limits without room. Of
what is left, the job was behind others if jobs of its queue or task started meanwhile, else there was no worker for it.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

import asyncpg
import msgspec

from horae.engine.clock import Clock
from horae.engine.gatekeeper import Gatekeeper
from horae.engine.holders import limit_name
from horae.engine.policy import Policy
from horae.engine.waits import Waits
from horae.model.explanation import Spent, What
from horae.model.gates import Gate
from horae.model.ids import created_at
from horae.model.job import read_options
from horae.model.retry import RetryPolicy
from horae.model.states import End
from horae.model.timeline import Span, cut, total, within
from horae.store.control import LaneKey, lane_key
from horae.store.explain import ExplainRows

LONG: Final = timedelta(hours=2)
"""Beyond this, who else ran is looked up by the hour."""
GRAIN: Final = timedelta(milliseconds=1)
"""Of the instants in ids."""
RETRIED: Final = frozenset({End.ERROR, End.TIMEOUT, End.CRASHED})


class Layer(NamedTuple):
    what: What
    detail: str | None
    span: Span
    attempt: int | None = None


class Spending:
    def __init__(self, rows: ExplainRows, policy: Policy, gatekeeper: Gatekeeper, waits: Waits, clock: Clock) -> None:
        self._rows = rows
        self._policy = policy
        self._gatekeeper = gatekeeper
        self._waits = waits
        self._clock = clock

    async def of(self, row: asyncpg.Record, executions: Sequence[asyncpg.Record], sees: int | None) -> list[Spent]:
        sums: dict[tuple[What, str | None], float] = {}
        for what, detail, span, _ in await self.layers(row, executions, sees, row["finished_at"]):
            sums[what, detail] = sums.get((what, detail), 0.0) + span.seconds
        return [Spent(what=w, detail=d, seconds=s) for (w, d), s in sorted(sums.items(), key=_order) if s > 0]

    async def layers(
        self, row: asyncpg.Record, executions: Sequence[asyncpg.Record], sees: int | None, end: datetime
    ) -> list[Layer]:
        """What the time up to an end went into, in the order of time, without gaps."""
        key = lane_key(row)
        life = Span(min(created_at(row["id"]), end), end)
        layers = [*_attempts(row, executions, end)]
        if row["run_at"] > life.since + GRAIN:
            layers.append(Layer(What.WAITING_FOR_DUE, None, Span(life.since, row["run_at"])))
        layers += await self._gates(row, key, life)
        layers += await self._limits(row["lane_id"], key, life)
        found: list[Layer] = []
        left = [life]
        for layer in layers:
            found += [layer._replace(span=part) for part in within(left, layer.span)]
            left, _ = cut(left, layer.span)
        what, detail = await self._otherwise(key, left, sees)
        return sorted([*found, *(Layer(what, detail, span) for span in left)], key=lambda layer: layer.span)

    async def _gates(self, row: asyncpg.Record, key: LaneKey, life: Span) -> list[Layer]:
        layers = []
        for found in await self._rows.explain_gates(key, life.since, life.until):
            values = dict(found)
            span = Span(values["made_at"], values.pop("over_at"))
            gate = msgspec.convert(values, Gate)
            said = (str(row["id"]), row["params"], row["options"])
            if gate.whole or self._gatekeeper.verdict((gate,), *said) is not None:
                layers.append(Layer(What.HELD_BY_GATE, f"gate {gate.id} of {gate.owner}: {gate.reason}", span))
        return layers

    async def _limits(self, lane_id: int, key: LaneKey, life: Span) -> list[Layer]:
        layers = [
            Layer(What.WAITING_FOR_LIMIT, found["name"], Span(found["since"], found["until"]))
            for found in await self._rows.lane_wait_list(lane_id, life.since, life.until)
        ]
        wait = self._waits.of(lane_id)
        if wait is not None:
            name = limit_name(self._policy, key, wait.group_id)
            layers.append(Layer(What.WAITING_FOR_LIMIT, name, Span(self._at(wait.since), self._at(wait.until))))
        return layers

    def _at(self, monotonic: float) -> datetime:
        return datetime.fromtimestamp(self._clock.unix() - self._waits.clock() + monotonic, UTC)

    async def _otherwise(self, key: LaneKey, left: Sequence[Span], sees: int | None) -> tuple[What, str | None]:
        if not left:
            return What.WAITING_FOR_WORKER, None
        since, until = left[0].since, left[-1].until
        starts = await self._rows.explain_starts(key, since, until, hourly=until - since > LONG)
        if not starts or total(left) < 1:
            # Handing a job over takes a moment, whoever else runs.
            return What.WAITING_FOR_WORKER, None
        most = starts[0]
        return What.BEHIND_OTHERS, f"mostly tenant {most['tenant']}" if sees in (None, most["tenant_id"]) else None


def _attempts(row: asyncpg.Record, executions: Sequence[asyncpg.Record], end: datetime) -> Iterator[Layer]:
    for execution in executions:
        if execution["started_at"] is not None and execution["started_at"] < (execution["ended_at"] or end):
            span = Span(execution["started_at"], execution["ended_at"] or end)
            yield Layer(What.RUNNING, None, span, execution["attempt"])
    ran = [e for e in executions if e["started_at"] is not None and e["ended_at"] is not None]
    policy = read_options(row["options"]).retry or RetryPolicy()
    failures = 0
    for execution in ran[:-1] if row["started_at"] is not None else ran:
        if End(execution["ending"]) in RETRIED:
            failures += 1
            longest = execution["ended_at"] + policy.wait(failures, 1.0)
            yield Layer(What.RETRY_WAITS, None, Span(execution["ended_at"], longest))


def _order(item: tuple[tuple[What, str | None], float]) -> tuple[int, str]:
    return list(What).index(item[0][0]), item[0][1] or ""
