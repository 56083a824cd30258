"""Promises of service levels, watched: judged when they are over, and helped while they are at risk.

A job at risk or late that is ready moves up as far as an emergency would, ahead of whatever came later. That is all the
help there is: shares of tenants, limits and gates hold for it as for others.
"""

from datetime import datetime, timedelta
from typing import Final

import asyncpg

from horae.engine.signals import Signals
from horae.model.durations import format_duration
from horae.model.promise import GRACE, LOOK_AGAIN, Promise, Seen, Stage, at_risk_from, judge, late_again, raised_rank
from horae.store.database import Rows
from horae.store.servicelevels import Count, Looked, Note, Raise, ServiceLevelRows, Settlement

BATCH: Final = 1000
BATCHES_A_RUN: Final = 20
_SECOND: Final = timedelta(seconds=1)


class Promises:
    def __init__(self, rows: ServiceLevelRows, signals: Signals) -> None:
        self._rows = rows
        self._signals = signals

    async def watch(self) -> dict[str, int]:
        """Judges what is due, up to a bound, and says how much was kept, broken and moved up."""
        kept = broken = raised = 0
        for _ in range(BATCHES_A_RUN):
            looked = await self._rows.promise_look(BATCH, settle)
            self._announce(looked)
            kept += sum(count.kept for count in looked.settlement.counts)
            broken += sum(count.broken for count in looked.settlement.counts)
            raised += len(looked.raised)
            if looked.seen < BATCH:
                break
        return {"kept": kept, "broken": broken, "raised": raised}

    def _announce(self, looked: Looked) -> None:
        heads: dict[int, int] = {}
        for row in looked.raised:
            heads[row["lane_id"]] = min(row["rank"], heads.get(row["lane_id"], row["rank"]))
        if heads:
            self._signals.ready(heads)


def settle(rows: Rows) -> Settlement:
    """What becomes of promises that were looked at."""
    made = Settlement([], [], [], [])
    for row in rows:
        seen = Seen(row["due_at"], Stage(row["stage"]), row["now"], row["started_at"], row["finished_at"], row["gone"])
        verdict = judge(seen)
        if verdict.kept is not None:
            made.counts.append(
                Count(row["due_at"], row["level_id"], row["tenant_id"], row["task"], verdict.kept, not verdict.kept)
            )
        if verdict.stage is None:
            made.over.append(row["place"])
        else:
            _help(row, verdict.stage, made)
    return made


def _help(row: asyncpg.Record, stage: Stage, made: Settlement) -> None:
    """Moves it up, if it is ready. What waits for a gate or its time cannot, and is looked at again."""
    due_at, now, new_rank = row["due_at"], row["now"], raised_rank(row["due_at"])
    look_at = late_again(due_at, now) if stage is Stage.LATE else due_at + GRACE
    if row["rank"] > new_rank:
        made.raises.append(Raise(row["tenant_id"], row["id"], row["lane_id"], row["rank"], new_rank))
        look_at = min(look_at, now + LOOK_AGAIN) if stage is Stage.AT_RISK else look_at
    made.notes.append(Note(row["place"], stage, look_at))


def in_words(promise: Promise, now: datetime) -> str:
    """A promise to a job that has not started, in words."""
    if promise.start_by is None or promise.within is None:
        return f"it is under service level {promise.level!r}, which promises no start"
    within = format_duration(timedelta(seconds=promise.within))
    words = (
        f"service level {promise.level!r} promises a start within {within}, by {promise.start_by:%Y-%m-%d %H:%M:%SZ}"
    )
    if now >= promise.start_by:
        return f"{words}: it is late by {_rounded(now - promise.start_by)}"
    risk = at_risk_from(promise.start_by, promise.within)
    if now >= risk:
        return f"{words}: at risk with {_rounded(promise.start_by - now)} left, so it goes before others of its tenant"
    return f"{words}: at risk in {_rounded(risk - now)}"


def _rounded(span: timedelta) -> str:
    return format_duration(span // _SECOND * _SECOND)
