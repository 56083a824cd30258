"""`horae gate`, `horae stop` and `horae go`: what runs and what does not, by an operator's order."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from cyclopts import App, Group, Parameter

from horae.cli.access import HERE, Access
from horae.cli.screen import console, facts, note, print_json, print_lines, table
from horae.cli.text import relative, when
from horae.model.errors import InvalidInput
from horae.model.gates import Action, Running
from horae.wire.gates import Gate, GateChanges, GateCreate, GateRestore, Stop, StopPreview

app = App(name="gate", help="Hold, drop or reject jobs, and let them go again.")
GROUP: Final = Group("Which jobs", sort_key=50)


@Parameter(name="*", group=GROUP)
@dataclass(frozen=True, kw_only=True)
class Scope:
    task: str | None = None
    """Only jobs of this task."""
    queue: str | None = None
    """Only jobs in this queue."""
    tenant: str | None = None
    """Only jobs of this tenant. Default: the key's own, or all if it has none."""
    condition: str | None = None
    """Only jobs for which this is true, e.g. "params.customer == 'acme'" (CEL on params and labels)."""
    percent: int | None = None
    """Only so many of a hundred."""


EVERYTHING: Final = Scope()


@app.command
def create(
    *,
    reason: str,
    action: Action = Action.HOLD,
    running: Running = Running.LEAVE,
    expires_in: str | None = None,
    scope: Scope = EVERYTHING,
    access: Access = HERE,
) -> None:
    """Close a gate. It is in force on every server when this returns.

    Parameters
    ----------
    reason
        Why, for everybody who wonders where their jobs are.
    action
        hold (jobs wait), drop (waiting jobs end; can be brought back for a day) or reject (new jobs are refused).
    running
        What becomes of jobs that run: leave, cancel, or move (stopped, and put back to wait).
    expires_in
        How long it is in force, e.g. 2h. Default: until it is released.
    """
    with access.client() as client:
        _print_gate(client.create_gate(_wanted(reason, action, running, expires_in, scope)), as_json=access.json)


@app.command
def preview(*, action: Action = Action.HOLD, scope: Scope = EVERYTHING, access: Access = HERE) -> None:
    """Show which waiting jobs a gate would be for, without closing it.

    Parameters
    ----------
    action
        What the gate would do.
    """
    with access.client() as client:
        found = client.preview_gate(_wanted("preview", action, Running.LEAVE, None, scope))
    if access.json:
        print_json(found)
        return
    looked = f"{found.looked_at:,}" if found.complete else f"the first {found.looked_at:,}"
    console().print(f"{found.matching:,} of {looked} waiting jobs")
    rows = ((str(job.id), job.task, job.queue, job.state.value) for job in found.sample)
    if found.sample:
        console().print(table(("for example", "task", "queue", "state"), rows))
    if found.note:
        note(f"the condition {found.note}")


@app.command(name="list")
def list_gates(*, all_: bool = False, access: Access = HERE) -> None:
    """List the gates in force.

    Parameters
    ----------
    all_
        Also those that are over.
    """
    with access.client() as client:
        page = client.gates(over=all_)
    found = page.items
    if page.more:
        note(f"these are the latest {len(found)}; there may be more")
    if access.json:
        print_lines(found)
        return
    now = datetime.now(UTC)
    columns = ("id", "state", "action", "what", "jobs", "owner", "made", "until", "reason")
    console().print(table(columns, (_row(gate, now) for gate in found), ("owner", "made")))


def _row(gate: Gate, now: datetime) -> tuple[str, ...]:
    return (
        str(gate.id), gate.state, gate.action.value, _what(gate), _held(gate), gate.owner, relative(gate.made_at, now),
        relative(gate.expires_at, now), gate.reason,
    )  # fmt: skip


def _what(gate: Gate) -> str:
    """What it is for, in words."""
    parts = [
        f"{name} {value}"
        for name, value in (("tenant", gate.tenant), ("queue", gate.queue), ("task", gate.task))
        if value is not None
    ]
    parts += [f"{gate.percent} %"] if gate.percent is not None else []
    parts += [f"if {gate.condition}"] if gate.condition is not None else []
    return ", ".join(parts) or "everything"


def _held(gate: Gate) -> str:
    return f"{gate.held:,}{'+' if gate.held_more else ''}"


@app.command
def show(gate_id: int, /, *, access: Access = HERE) -> None:
    """Show everything about a gate.

    Parameters
    ----------
    gate_id
        The gate's id, as `horae gate list` shows it.
    """
    with access.client() as client:
        gate = client.gate(gate_id)
    if access.json:
        print_json(gate)
        return
    rows = [
        ("id", str(gate.id)), ("state", gate.state), ("kind", gate.kind.value), ("action", gate.action.value),
        ("what", _what(gate)), ("running jobs", gate.running.value), ("jobs", _held(gate)), ("owner", gate.owner),
        ("reason", gate.reason), ("made", when(gate.made_at)), ("until", when(gate.expires_at)),
        ("released", when(gate.released_at)), ("released by", gate.released_by or ""),
        ("release rate", "" if gate.release_rate is None else f"{gate.release_rate:g}/s"),
        ("over", when(gate.drained_at)), ("note", gate.note or ""),
    ]  # fmt: skip
    console().print(facts(rows))


@app.command
def release(gate_id: int, /, *, rate: str | None = None, access: Access = HERE) -> None:
    """Open a gate.

    Parameters
    ----------
    gate_id
        The gate's id.
    rate
        How fast what it held is let out, e.g. 10/s. Default: all at once.
    """
    with access.client() as client:
        _print_gate(client.release_gate(gate_id, rate), as_json=access.json)


@app.command
def extend(gate_id: int, /, *, expires_in: str | None = None, reason: str | None = None, access: Access = HERE) -> None:
    """Change until when a closed gate is in force, or its reason.

    Parameters
    ----------
    gate_id
        The gate's id.
    expires_in
        How long from now, e.g. 2h; "never" for until it is released.
    reason
        A new reason.
    """
    if expires_in is None and reason is None:
        raise InvalidInput("nothing to change: give --expires-in, --reason or both")
    with access.client() as client:
        gate = client.change_gate(gate_id, GateChanges(reason=reason, expires_in=expires_in))
        _print_gate(gate, as_json=access.json)


@app.command
def restore(
    gate_id: int, /, *ids: UUID, task: str | None = None, queue: str | None = None, access: Access = HERE
) -> None:
    """Bring back what a released gate dropped, within a day.

    Parameters
    ----------
    gate_id
        The gate's id.
    ids
        Only these jobs.
    task
        Only jobs of this task.
    queue
        Only jobs of this queue.
    """
    which = GateRestore(task=task, queue=queue, ids=list(ids) or None)
    total, more = 0, True
    with access.client() as client:
        while more:
            done = client.restore_gate(gate_id, which)
            total, more = total + done.restored, done.more
    if access.json:
        print_json({"restored": total})
    else:
        print(total, "restored")


def stop(
    *,
    reason: str = "emergency stop",
    running: Running = Running.LEAVE,
    tenant: str | None = None,
    expires_in: str | None = None,
    dry_run: bool = False,
    access: Access = HERE,
) -> None:
    """Emergency stop: no job that the key may touch starts any more, until `horae go`.

    Parameters
    ----------
    reason
        Why, for everybody who wonders.
    running
        What becomes of jobs that run: leave, cancel, or move (stopped, and put back to wait).
    tenant
        Only this tenant. Default: the key's own, or all if it has none.
    expires_in
        How long, e.g. 30m. Default: until `horae go`.
    dry_run
        Only say how far it would reach.
    """
    with access.client() as client:
        if dry_run:
            _print_reach(client.preview_stop(tenant), as_json=access.json)
            return
        gate = client.stop(Stop(reason=reason, running=running, tenant=tenant, expires_in=expires_in))
        _print_gate(gate, as_json=access.json)


def _print_reach(reach: StopPreview, *, as_json: bool) -> None:
    if as_json:
        print_json(reach)
        return
    console().print(
        f"would hold {reach.pending:,} waiting jobs in {reach.queues:,} queues of {reach.tenants:,} tenants; "
        f"{reach.running:,} jobs run on {reach.workers:,} workers"
    )
    rows = ((queue.tenant, queue.queue, f"{queue.pending:,}", f"{queue.running:,}") for queue in reach.largest)
    if reach.largest:
        console().print(table(("tenant", "queue", "pending", "running"), rows))


def go(*, rate: str | None = None, tenant: str | None = None, access: Access = HERE) -> None:
    """End the emergency stop.

    Parameters
    ----------
    rate
        How fast what waited is let out, e.g. 10/s. Default: all at once.
    tenant
        The tenant that was stopped. Default: the key's own, or all if it has none.
    """
    with access.client() as client:
        released = client.go(tenant, rate).items
    if access.json:
        print_lines(released)
        return
    for gate in released:
        _print_gate(gate, as_json=False)


def _wanted(reason: str, action: Action, running: Running, expires_in: str | None, scope: Scope) -> GateCreate:
    return GateCreate(
        reason=reason, action=action, running=running, expires_in=expires_in, tenant=scope.tenant, queue=scope.queue,
        task=scope.task, condition=scope.condition, percent=scope.percent,
    )  # fmt: skip


def _print_gate(gate: Gate, *, as_json: bool) -> None:
    if as_json:
        print_json(gate)
    else:
        print(gate.id, gate.state)
