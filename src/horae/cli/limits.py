"""`horae limit`: how many jobs may run at once, and how many may start in a time."""

from datetime import UTC, datetime
from typing import Annotated

from cyclopts import App, Parameter

from horae.cli.access import HERE, Access
from horae.cli.quotas import print_waiting
from horae.cli.rules import Facts, facts_of, print_rule, print_rules
from horae.cli.screen import console, print_json, table
from horae.cli.text import relative
from horae.model.errors import InvalidInput
from horae.model.limits import Field
from horae.wire.limits import Limit, LimitPut

app = App(name="limit", help="Set, list and remove limits on what runs.")


@app.command(name="set")
def set_limit(
    name: str,
    /,
    *,
    max_running: int | None = None,
    rate: str | None = None,
    burst: float | None = None,
    task: str | None = None,
    queue: str | None = None,
    concurrency_key: str | None = None,
    each: str | None = None,
    tenant: str | None = None,
    reason: Annotated[str | None, Parameter(name=["--reason", "-m"])] = None,
    access: Access = HERE,
) -> None:
    """Make a limit, or change one. It holds at once, on every server, for the jobs that match.

    Parameters
    ----------
    name
        The limit's name.
    max_running
        How many jobs may run at once; 0 for none.
    rate
        How many may start: 10/s, 600/m, 5/h.
    burst
        How many may start at once after a pause (a second's worth, at least one).
    task
        Only jobs of this task.
    queue
        Only jobs of this queue.
    concurrency_key
        Only jobs with this concurrency key; * at the end stands for any ending.
    each
        Every value of these has the limit for itself: tenant, queue, task, key, joined by commas.
    tenant
        Whose jobs. Default: the key's tenant, or all tenants together if it has none.
    reason
        Why, for those who look at it later.
    """
    wanted = LimitPut(
        tenant=tenant, queue=queue, task=task, key=concurrency_key, each=_fields(each), max_running=max_running,
        rate=rate, burst=burst, reason=reason,
    )  # fmt: skip
    with access.client() as client:
        made = client.put_limit(name, wanted)
    print_rule(made, _facts, json=access.json)


def _fields(text: str | None) -> list[Field]:
    try:
        return [Field(part.strip()) for part in (text or "").split(",") if part.strip()]
    except ValueError:
        raise InvalidInput(f"--each: {text!r} must be of {', '.join(Field)}") from None


@app.command(name="list")
def list_limits(*, tenant: str | None = None, access: Access = HERE) -> None:
    """List the limits, and how much of each is used.

    Parameters
    ----------
    tenant
        Only those that concern this tenant.
    """
    with access.client() as client:
        found = client.limits(tenant).items
    columns = ("for", "max running", "rate", "running", "set by", "reason")
    print_rules(found, columns, _row, spare=("reason", "set by"), json=access.json)


@app.command
def show(name: str, /, *, tenant: str | None = None, access: Access = HERE) -> None:
    """Show one limit, which jobs run under it, and who waits behind it.

    Parameters
    ----------
    name
        The limit's name.
    tenant
        Whose it is, if several have one of that name.
    """
    with access.client() as client:
        found = client.limit_use(name, tenant)
    if access.json:
        print_json(found)
        return
    console().print(facts_of(found.limit, _facts(found.limit)))
    now = datetime.now(UTC)
    rows = ((str(job.job_id), job.task, str(job.worker_id), relative(job.since, now)) for job in found.holders)
    if found.holders:
        console().print(table(("runs", "task", "worker", "since"), rows))
    if found.waiting:
        print_waiting(found.waiting, more=found.more_waiting)


@app.command
def remove(name: str, /, *, tenant: str | None = None, access: Access = HERE) -> None:
    """Remove a limit.

    Parameters
    ----------
    name
        The limit's name.
    tenant
        Whose it is, if several have one of that name.
    """
    with access.client() as client:
        client.remove_limit(name, tenant)
    print(name, "removed")


def _row(limit: Limit) -> tuple[str, ...]:
    return (
        _scope(limit), _number(limit.max_running), _rate(limit), str(limit.running), limit.made_by, limit.reason or ""
    )  # fmt: skip


def _facts(limit: Limit) -> Facts:
    running = f"{limit.running} in {limit.groups} groups" if limit.each else str(limit.running)
    return [
        ("for", _scope(limit)), ("max running", _number(limit.max_running)), ("rate", _rate(limit)),
        ("running", running),
    ]  # fmt: skip


def _scope(limit: Limit) -> str:
    named = (("task", limit.task), ("queue", limit.queue), ("key", limit.key))
    parts = [f"{word} {value}" for word, value in named if value is not None]
    if limit.each:
        parts.append(f"each {', '.join(limit.each)}")
    return "; ".join(parts) or "everything"


def _number(value: int | None) -> str:
    return "" if value is None else str(value)


def _rate(limit: Limit) -> str:
    return "" if limit.rate is None else f"{limit.rate:g}/s, burst {limit.burst:g}"
