"""`horae quota` and `horae queues`: what may be submitted, and what waits."""

from collections.abc import Sequence
from datetime import UTC, datetime

from cyclopts import App

from horae.cli.access import HERE, Access
from horae.cli.screen import console, note, print_json, print_lines, table
from horae.cli.text import relative
from horae.model.quota import Scope
from horae.wire.quotas import Queue, Quota, WaitingLane

app = App(name="quota", help="Set, list and remove quotas of submissions.")


@app.command(name="set")
def set_quota(
    scope: Scope,
    name: str,
    /,
    *,
    rate: str | None = None,
    burst: int | None = None,
    max_pending: int | None = None,
    tenant: str | None = None,
    access: Access = HERE,
) -> None:
    """Set a quota; whatever is left out is not limited. It is effective on all servers within about a second.

    Parameters
    ----------
    scope
        What it is for: tenant, user (the name of an API key) or queue.
    name
        The tenant's, the key's or the queue's name.
    rate
        Submissions, e.g. 100/s, 600/m or a number a second.
    burst
        Submissions at once. Default: one second's worth.
    max_pending
        How many jobs may wait.
    tenant
        The tenant of the user or the queue. Default: the caller's; if that has none, a key of no tenant, or the queue
        of all tenants together.
    """
    with access.client() as client:
        quota = client.set_quota(
            scope, name, submit_rate=_number(rate), burst=burst, max_pending=max_pending, tenant=tenant
        )
    if access.json:
        print_json(quota)
    else:
        print(*_row(quota, datetime.now(UTC))[:6])


@app.command(name="list")
def list_quotas(*, tenant: str | None = None, access: Access = HERE) -> None:
    """List the quotas.

    Parameters
    ----------
    tenant
        Only those of this tenant.
    """
    with access.client() as client:
        found = client.quotas(tenant).items
    if access.json:
        print_lines(found)
        return
    now = datetime.now(UTC)
    columns = ("scope", "tenant", "name", "rate", "burst", "pending", "set", "by")
    console().print(table(columns, (_row(quota, now) for quota in found)))


@app.command
def remove(scope: Scope, name: str, /, *, tenant: str | None = None, access: Access = HERE) -> None:
    """Remove a quota.

    Parameters
    ----------
    scope
        What it is for: tenant, user or queue.
    name
        The tenant's, the key's or the queue's name.
    tenant
        The tenant of the user or the queue, as when it was set.
    """
    with access.client() as client:
        client.remove_quota(scope, name, tenant)
    if not access.json:
        print(scope.value, name, "removed")


def queues(name: str | None = None, /, *, tenant: str | None = None, access: Access = HERE) -> None:
    """List the queues: how many jobs wait and run, about, and the rates of the last minute. Or say who waits in one.

    Parameters
    ----------
    name
        Of this queue: who waits in it, since when, and for what.
    tenant
        Only those of this tenant.
    """
    if name is not None:
        _waiting(name, tenant, access)
        return
    with access.client() as client:
        page = client.queues(tenant)
    found = page.items
    if page.more:
        narrower = "" if tenant else ": --tenant tells those of one tenant"
        note(f"these are the first {len(found)}; there may be more{narrower}")
    if access.json:
        print_lines(found)
        return
    rates = ("in/s", "started/s", "done/s", "failed/s", "retried/s")
    columns = ("tenant", "queue", "pending", "running", *rates, "oldest")
    now = datetime.now(UTC)
    rows = ((*_queue(queue), relative(queue.oldest_at, now)) for queue in found)
    console().print(table(columns, rows, ("retried/s", "failed/s", "started/s")))
    if not found:
        note("nothing has been submitted yet")


def _waiting(queue: str, tenant: str | None, access: Access) -> None:
    with access.client() as client:
        found = client.queue_waiting(queue, tenant)
    if access.json:
        print_lines(found.items)
        return
    print_waiting(found.items, more=found.more)


def print_waiting(lanes: Sequence[WaitingLane], *, more: bool) -> None:
    now = datetime.now(UTC)
    rows = (
        (f"{lane.jobs:,}{'+' * lane.more}", lane.tenant, lane.task, lane.key or "", str(lane.job_id),
         relative(lane.due_at, now), _held_by(lane))
        for lane in lanes
    )  # fmt: skip
    console().print(table(("jobs", "tenant", "task", "key", "first", "due", "waits for"), rows, ("tenant", "key")))
    if not lanes:
        note("nobody waits")
    if more:
        note("there are more, which are not shown")


def _held_by(lane: WaitingLane) -> str:
    if lane.gate is not None:
        return f"gate {lane.gate}"
    if lane.limit is not None:
        return f"limit {lane.limit}"
    return "a worker that could run it" if lane.no_worker else "its turn"


def _row(quota: Quota, now: datetime) -> tuple[str, ...]:
    rate = "-" if quota.submit_rate is None else f"{quota.submit_rate:g}/s"
    return (
        quota.scope.value, quota.tenant or "-", quota.name, rate, _or_dash(quota.burst), _or_dash(quota.max_pending),
        relative(quota.updated_at, now), quota.updated_by,
    )  # fmt: skip


def _queue(queue: Queue) -> tuple[str, ...]:
    rates = (queue.submit_rate, queue.start_rate, queue.success_rate, queue.failure_rate, queue.retry_rate)
    return (queue.tenant, queue.queue, str(queue.pending), str(queue.running), *(f"{rate:.3g}" for rate in rates))


def _or_dash(value: int | None) -> str:
    return "-" if value is None else str(value)


def _number(rate: str | None) -> str | float | None:
    """A plain number goes as one; anything else is the server's to read."""
    try:
        return None if rate is None else float(rate)
    except ValueError:
        return rate
