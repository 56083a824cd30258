"""Obstacles: workers that cannot take a job, and other jobs that go before it."""

from collections.abc import Iterator, Sequence
from typing import Final

import asyncpg

from horae.engine.crew import Hand, Standing
from horae.engine.facts import Facts
from horae.engine.offers import nearest
from horae.engine.rivals import Rival
from horae.model.explanation import Ahead, Code, HeldBy, HoldingWorker, Reason
from horae.model.matching import LIGHT, demand

SHOWN: Final = 10
_ASK: Final = "start or resume a worker that could run it"


def workers(facts: Facts) -> Iterator[Reason]:
    crew, key = facts.crew, facts.key
    if not crew.knowing:
        yield _unknown(key.task, facts.placement.runner)
    elif not crew.serving:
        yield Reason(
            code=Code.NO_WORKER_FOR_QUEUE, summary=f"no worker with the task takes jobs of the queue {key.queue!r}",
            resolve="start a worker for the queue, or change the job's queue",
            command=f"horae change {facts.row['id']} --queue …",
            held_by=HeldBy(workers=[_nobody(row) for row in crew.knowing[:SHOWN]]),
        )  # fmt: skip
    elif not crew.fitting:
        yield _unmatched(facts)
    elif facts.no_free_worker:
        yield from _taken(facts)


def _unknown(task: str, runner: str | None) -> Reason:
    if runner is not None:
        return Reason(
            code=Code.NO_WORKER_FOR_TASK, summary="no worker that is alive runs jobs of this tenant",
            resolve=f"start a worker for tasks of kind {runner}", command=f"horae worker --kinds {runner}",
        )  # fmt: skip
    return Reason(
        code=Code.NO_WORKER_FOR_TASK, summary=f"no worker that is alive has the task {task!r}",
        resolve="start a worker with an app that has the task", command="horae workers",
    )  # fmt: skip


def _nobody(row: asyncpg.Record) -> HoldingWorker:
    queues = ", ".join(row["queues"] or ())
    return HoldingWorker(id=row["id"], name=row["name"], slots=row["slots"], lacks=[f"it takes jobs of {queues}"])


def _unmatched(facts: Facts) -> Reason:
    found = nearest(facts.crew.serving, facts.placement)
    if found is None:
        raise AssertionError("called without workers")
    row, lacks = found
    words = [lack.words for lack in lacks]
    return Reason(
        code=Code.NO_WORKER_MATCHES,
        summary=f"no worker has all that it requires; the nearest is {row['name']} ({row['id']}): {'; '.join(words)}",
        resolve="start a worker that has it, or let the job require less", command="horae workers",
        held_by=HeldBy(workers=[HoldingWorker(id=row["id"], name=row["name"], slots=row["slots"], lacks=words)]),
    )  # fmt: skip


# Workers that could, but not now.


def _taken(facts: Facts) -> Iterator[Reason]:
    crew = facts.crew
    heavy = demand(facts.placement) is not LIGHT
    draining = crew.of(Standing.DRAINING)
    if draining and (facts.due is None or not crew.working):
        yield _drained(draining)
    if facts.due is not None:
        return
    if probing := crew.of(Standing.PROBING):
        yield Reason(
            code=Code.WORKER_ON_PROBATION, held_by=_by(probing), command="horae workers",
            summary=f"{_worded(probing)} on probation after failures: one job at a time, and that one is running",
            resolve=f"wait until it succeeds, see what is wrong there, or {_ASK}",
        )  # fmt: skip
    if reserved := crew.of(Standing.RESERVED):
        yield Reason(
            code=Code.WORKER_RESERVED, held_by=_by(reserved), resolve=f"wait until that one has started, or {_ASK}",
            summary=f"{_worded(reserved)} kept free for a large job that waited too long",
        )  # fmt: skip
    if spread := crew.of(Standing.SPREAD):
        yield Reason(
            code=Code.SPREAD_FULL, held_by=_by(spread), resolve=f"wait until one of them ends, or {_ASK}",
            summary=f"{_worded(spread)} running {facts.placement.spread} jobs like it, as many as may on one worker",
        )  # fmt: skip
    if busy := crew.of(Standing.BUSY):
        yield _large(facts, busy) if heavy else _busy(busy)


def _busy(hands: Sequence[Hand]) -> Reason:
    slots = sum(hand.row["slots"] for hand in hands)
    return Reason(
        code=Code.WORKERS_BUSY, held_by=_by(hands), resolve=f"wait until a job ends there, or {_ASK}",
        summary=f"all {slots} slots of {len(hands)} worker{'s' * (len(hands) > 1)} that could run it are taken",
        command="horae workers",
    )  # fmt: skip


def _large(facts: Facts, hands: Sequence[Hand]) -> Reason:
    need = demand(facts.placement)
    amounts = {"slots": need.slots, "CPUs": need.cpu, "bytes of memory": need.memory, "GPUs": need.gpu,
               "bytes of disk": need.disk}  # fmt: skip
    wants = ", ".join(f"{amount:g} {unit}" for unit, amount in amounts.items() if amount)
    return Reason(
        code=Code.LARGE_JOB_WAITS_FOR_ROOM, held_by=_by(hands), command="horae workers",
        summary=f"it takes {wants} at once, and no worker that could run it has that much left",
        resolve=f"wait: when it has waited for long, a worker is kept free for it; or {_ASK}",
    )  # fmt: skip


def _drained(hands: Sequence[Hand]) -> Reason:
    ends = [hand.row["steer_until"] for hand in hands if hand.row["steer_until"] is not None]
    first = hands[0].row
    return Reason(
        code=Code.WORKERS_DRAINING, held_by=_by(hands), until=min(ends, default=None),
        summary=f"{_worded(hands)} draining" + (f", by {first['steered_by']}" if first["steered_by"] else ""),
        resolve=_ASK, command=f"horae resume {first['id']}",
    )  # fmt: skip


def _worded(hands: Sequence[Hand]) -> str:
    return f"worker {hands[0].row['id']} is" if len(hands) == 1 else f"{len(hands)} workers are"


def _by(hands: Sequence[Hand]) -> HeldBy:
    shown = [
        HoldingWorker(
            id=hand.row["id"], name=hand.row["name"], slots=hand.row["slots"], running=hand.taken,
            reason=hand.row["steer_reason"],
        )
        for hand in hands[:SHOWN]
    ]  # fmt: skip
    return HeldBy(workers=shown, other_workers=len(hands) - len(shown))


# Jobs that go before it.


def behind(facts: Facts, sees: int | None) -> Iterator[Reason]:
    """Others are in the way only where there is not room for all."""
    if facts.due is not None or not (facts.full or facts.crowded):
        return
    own = _own(facts)
    if own.jobs:
        than = "more than " if own.more else ""
        yield Reason(
            code=Code.BEHIND_OWN_TENANT, held_by=HeldBy(ahead=[own]),
            summary=f"{than}{_jobs(own.jobs)} of the same tenant, due earlier or more urgent, before it",
            resolve="wait, or give it a higher priority", command=f"horae change {facts.row['id']} --priority 8",
        )  # fmt: skip
    others = [rival for rival in facts.in_the_way if rival.key.tenant_id != facts.key.tenant_id]
    if others:
        yield _in_turn(others, sees)


def _jobs(count: int) -> str:
    return "1 job waits" if count == 1 else f"{count:,} jobs wait"


def _own(facts: Facts) -> Ahead:
    rivals = [rival for rival in facts.in_the_way if rival.key.tenant_id == facts.key.tenant_id]
    jobs = facts.before + sum(rival.jobs for rival in rivals)
    more = any(rival.more for rival in rivals) or (facts.place is not None and facts.place.more)
    return Ahead(jobs=jobs, more=more or (facts.rivals.more and jobs > 0), tenant=facts.row["tenant"])


def _in_turn(others: Sequence[Rival], sees: int | None) -> Reason:
    by_tenant: dict[str, Ahead] = {}
    for rival in others:
        ahead = by_tenant.setdefault(rival.tenant, Ahead(jobs=0, tenant=rival.tenant))
        ahead.jobs += rival.jobs
        ahead.more = ahead.more or rival.more
    found = sorted(by_tenant.values(), key=lambda ahead: -ahead.jobs)
    if sees is not None:
        found = [Ahead(jobs=sum(a.jobs for a in found), more=any(a.more for a in found))]
    count, tenants = sum(ahead.jobs for ahead in found), len(by_tenant)
    than = "more than " if any(ahead.more for ahead in found) else ""
    return Reason(
        code=Code.BEHIND_OTHER_TENANTS, held_by=HeldBy(ahead=found[:SHOWN]),
        summary=f"{than}{_jobs(count)} of {tenants} other tenant{'s' * (tenants > 1)} for the same slots, which are "
        "shared out in turn, by weight",
        resolve="wait; start more workers; or have an admin raise the tenant's weight",
    )  # fmt: skip
