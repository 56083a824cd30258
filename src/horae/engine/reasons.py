"""Reasons: what keeps a job from starting now, judged from the facts, in the order of `Code`.

Every rule is the one that dispatch goes by: the policy's gates and groups, the gatekeeper's verdict, matching. Of a job
that is not due yet, only what lasts is told: who is busy now says nothing about then.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from horae.engine.choice import GRACE_SECONDS
from horae.engine.crew import Standing
from horae.engine.facts import Facts, GroupFacts
from horae.engine.holders import group_name, holding_gate
from horae.engine.obstacles import behind, workers
from horae.engine.offers import offer_of
from horae.model.explanation import Code, HeldBy, HoldingJob, HoldingLimit, Reason
from horae.model.gates import Action, Gate, Kind
from horae.model.job import read_options
from horae.model.matching import affinity, sticky_choice
from horae.model.unique import OnConflict

SHOWN: Final = 10
_ORDER: Final = {code: number for number, code in enumerate(Code)}


def reasons(facts: Facts, sees: int | None) -> list[Reason]:
    """`sees` is the one tenant whose jobs the caller may see; None: all."""
    found = [
        *_time(facts), *_gates(facts), *_limits(facts, sees), *workers(facts), *_preference(facts), *behind(facts, sees)
    ]  # fmt: skip
    return sorted(found, key=lambda reason: _ORDER[reason.code]) or [
        Reason(
            code=Code.STARTING,
            summary="nothing holds it: it starts as soon as a worker that is free asks for work",
            resolve="nothing to do; if it stays so, look whether the free workers still ask for work",
            command="horae workers",
        )
    ]


def _time(facts: Facts) -> Iterator[Reason]:
    due, row = facts.due, facts.row
    if due is None:
        return
    at = f"{due:%Y-%m-%d %H:%M:%SZ}"
    change = f"horae change {row['id']} --delay 0s"
    if due != row["run_at"]:
        # Its own due time is past: it waits for another try, or for its turn behind an open gate.
        if row["attempt"] > 0:
            yield Reason(code=Code.RETRY_WAIT, until=due, command=change,
                         summary=f"attempt {row['attempt']} failed; the next one is due at {at}",
                         resolve="wait, or run it now")  # fmt: skip
        else:
            yield Reason(code=Code.GATE_RELEASE, until=due,
                         summary=f"an open gate lets its backlog out at a rate: its turn comes at {at}",
                         resolve="wait, or release the gate at a higher rate", command="horae gate list")  # fmt: skip
        return
    options = read_options(row["options"])
    unique, promise = options.unique, options.promise
    if promise is not None and promise.off_peak:
        yield Reason(code=Code.OFF_PEAK, until=due, command=change,
                     summary=f"service level {promise.level!r} lets it wait for off-peak hours, until {at}",
                     resolve="wait, or run it now")  # fmt: skip
    elif unique is not None and unique.on_conflict is OnConflict.DEBOUNCE:
        yield Reason(code=Code.DEBOUNCED, until=due, command=change,
                     summary=f"it is due at {at}, unless a submit of the same pushes it further",
                     resolve="wait, or run it now")  # fmt: skip
    else:
        yield Reason(code=Code.NOT_DUE, until=due, command=change, summary=f"it is due at {at}",
                     resolve="wait, or run it now")  # fmt: skip


# Gates.


def _gates(facts: Facts) -> Iterator[Reason]:
    for gate in facts.closing:
        if facts.due is None or gate.expires_at is None or gate.expires_at > facts.due:
            yield _gate(Code.GATE, gate, _held("all such jobs", gate))
    told = {gate.id for gate in facts.partial}
    for gate in facts.partial:
        yield _gate(Code.GATE_PARTIAL, gate, _held("some of such jobs, this one among them", gate))
    if not facts.row["is_blocked"] or facts.row["gate_id"] in told:
        return
    if facts.behind is None:
        yield Reason(code=Code.GATE_RELEASE, summary="the gate that held it is open: it is let out within seconds",
                     resolve="nothing to do")  # fmt: skip
    elif facts.behind.releasing:
        yield _release(facts.behind)
    else:
        yield _gate(Code.GATE_PARTIAL, facts.behind, _held("some of such jobs, this one among them", facts.behind))


def _held(whom: str, gate: Gate) -> str:
    what = "drops" if gate.action is Action.DROP else "holds"
    kind = {Kind.GATE: f"gate {gate.id}", Kind.STOP: "the emergency stop", Kind.BREAKER: "the circuit breaker"}
    return f"{kind[gate.kind]} of {gate.owner} {what} {whom}{_why(gate)}"


def _why(gate: Gate) -> str:
    return f": {gate.reason}" if gate.reason else ""


def _gate(code: Code, gate: Gate, summary: str) -> Reason:
    opens = "wait until it expires, or release it" if gate.expires_at else "release it"
    return Reason(
        code=code, summary=summary, resolve=f"{opens}; ask {gate.owner}", until=gate.expires_at,
        command="horae go" if gate.kind is Kind.STOP else f"horae gate release {gate.id}",
        held_by=HeldBy(gate=holding_gate(gate)),
    )  # fmt: skip


def _release(gate: Gate) -> Reason:
    rate = "at once" if gate.release_rate is None else f"at {gate.release_rate:g} a second"
    return Reason(
        code=Code.GATE_RELEASE, summary=f"gate {gate.id} is open and lets its backlog out {rate}",
        resolve="wait, or release it at a higher rate", command=f"horae gate release {gate.id}",
        held_by=HeldBy(gate=holding_gate(gate)),
    )  # fmt: skip


# Limits.


def _limits(facts: Facts, sees: int | None) -> Iterator[Reason]:
    for group in facts.full:
        if facts.due is not None and group.group.max_running != 0:
            continue
        if group.gate is not None:
            yield _release(group.gate) if group.gate.releasing else _probe(group.gate)
            continue
        if group.no_slot:
            yield _running(facts, group, sees)
        if group.no_token:
            yield _rate(facts, group)


def _probe(gate: Gate) -> Reason:
    return Reason(
        code=Code.GATE_PROBE,
        summary=f"{_held('such jobs', gate)}; it lets one through every {gate.probe_seconds:g} s, to see how it fares",
        resolve=f"wait until the probes succeed, or release it; ask {gate.owner}", until=gate.expires_at,
        command=f"horae gate release {gate.id}", held_by=HeldBy(gate=holding_gate(gate)),
    )  # fmt: skip


def _running(facts: Facts, group: GroupFacts, sees: int | None) -> Reason:
    most, name = group.group.max_running, group_name(group.group, facts.key)
    mine = [h for h in group.holders if sees in (None, h["tenant_id"])][:SHOWN]
    jobs = [
        HoldingJob(id=h["id"], task=h["task"], worker_id=h["worker_id"], since=h["granted_at"], tenant=h["tenant"])
        for h in mine
    ]
    lets = "lets nothing run" if most == 0 else f"lets {most} run at once; {group.taken} of them run"
    return Reason(
        code=Code.LIMIT_RUNNING, summary=f"the limit {name!r} {lets}",
        resolve="raise the limit" if most == 0 else "wait until one of them ends, or raise the limit",
        command=_limit_command(group),
        held_by=HeldBy(jobs=jobs, other_jobs=group.taken - len(jobs), limit=_limit(name, group)),
    )  # fmt: skip


def _rate(facts: Facts, group: GroupFacts) -> Reason:
    rate, name = group.group.rate or 0.0, group_name(group.group, facts.key)
    return Reason(
        code=Code.LIMIT_RATE, summary=f"the limit {name!r} lets {rate:g} start a second, and as many have",
        resolve="wait for the next start, or raise the rate", command=_limit_command(group),
        until=facts.now + timedelta(seconds=(1 - group.tokens) / rate),
        held_by=HeldBy(limit=_limit(name, group)),
    )  # fmt: skip


def _limit(name: str, group: GroupFacts) -> HoldingLimit:
    return HoldingLimit(
        name=name, max_running=group.group.max_running, running=group.taken, rate=group.group.rate
    )  # fmt: skip


def _limit_command(group: GroupFacts) -> str | None:
    """Shows it: setting it needs all that it is about, which would be told here to no purpose."""
    return None if group.group.rule is None else f"horae limit show {group.group.rule.name}"


# Preferences.


def _preference(facts: Facts) -> Iterator[Reason]:
    """A lane waits a moment for the worker it likes best, though others are free."""
    placement, free = facts.placement, facts.crew.of(Standing.FREE)
    ends = facts.row["run_at"] + timedelta(seconds=GRACE_SECONDS)
    choosy = placement.sticky is not None or placement.prefers != placement.avoids
    if not choosy or not free or facts.now >= ends or facts.due is not None:
        return
    offers = {hand.row["id"]: offer_of(hand.row) for hand in facts.crew.working}
    if placement.sticky is not None:
        best = {sticky_choice(placement.sticky, list(offers))}
    else:
        most = max(affinity(placement, offer) for offer in offers.values())
        best = {number for number, offer in offers.items() if affinity(placement, offer) == most}
    if not best & {hand.row["id"] for hand in free}:
        yield Reason(
            code=Code.PREFERRED_WORKER_BUSY, until=ends, resolve="nothing to do: soon any worker will do",
            summary=f"worker {min(best)}, which it prefers, is busy; it waits a moment before it goes to another",
        )  # fmt: skip
