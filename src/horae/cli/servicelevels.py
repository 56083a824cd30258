"""`horae sla`: what jobs are promised, whether that is kept, and when work that can wait starts."""

from datetime import UTC, datetime
from typing import Annotated

import msgspec
from cyclopts import App, Parameter

from horae.cli.access import HERE, Access
from horae.cli.rules import Facts, print_rule, print_rules
from horae.cli.schedulearguments import read_window
from horae.cli.text import short
from horae.model.errors import InvalidInput
from horae.model.promise import DEFAULT_TARGET
from horae.model.timing import OffPeak
from horae.wire.servicelevels import Attainment, LateJob, ServiceLevel, ServiceLevelPut, WorstTask

app = App(name="sla", help="Service levels: what jobs are promised, and whether it is kept.")


@app.command(name="set")
def set_level(
    name: str,
    /,
    *,
    start_within: str | None = None,
    target: float = DEFAULT_TARGET,
    task: str | None = None,
    tier: str = "",
    priority: int | None = None,
    off_peak: list[str] | None = None,
    tz: str = "UTC",
    tenant: str | None = None,
    reason: Annotated[str | None, Parameter(name=["--reason", "-m"])] = None,
    access: Access = HERE,
) -> None:
    """Make a service level, or change one. It is for jobs submitted from now on.

    Parameters
    ----------
    name
        The level's name.
    start_within
        How long after its due time a job starts at the latest, e.g. 5m.
    target
        The share of jobs that shall start in time (0.99).
    task
        Only jobs of this task.
    tier
        A word for it, such as gold.
    priority
        1 to 9, of jobs that have none, neither by themselves nor by their task.
    off_peak
        When jobs that can wait start, e.g. "22:00-06:00" or "SAT,SUN 00:00-24:00". May be repeated.
    tz
        The time zone of --off-peak, e.g. Europe/Berlin (UTC).
    tenant
        Whose jobs. Default: the key's tenant, or all tenants if it has none.
    reason
        Why, for those who look at it later.
    """
    wanted = ServiceLevelPut(
        tenant=tenant, task=task, tier=tier, start_within=start_within, target=target, priority=priority,
        off_peak=_off_peak(off_peak or [], tz), reason=reason,
    )  # fmt: skip
    with access.client() as client:
        made = client.put_service_level(name, wanted)
    print_rule(made, _facts, json=access.json)


@app.command(name="list")
def list_levels(*, tenant: str | None = None, access: Access = HERE) -> None:
    """List the service levels, and how well each is met.

    Parameters
    ----------
    tenant
        Only those that concern this tenant, with its figures.
    """
    with access.client() as client:
        found = client.service_levels(tenant).items
    columns = ("for", "tier", "promise", "hour", "day", "30 days", "at risk", "late")
    print_rules(found, columns, _row, spare=("tier", "hour"), json=access.json)


@app.command
def show(name: str, /, *, tenant: str | None = None, access: Access = HERE) -> None:
    """Show one service level, how well it is met, and what breaks it most.

    Parameters
    ----------
    name
        The level's name.
    tenant
        Whose it is, if several have one of that name.
    """
    with access.client() as client:
        found = client.service_level(name, tenant)
    print_rule(found, _facts, json=access.json)


@app.command
def delete(name: str, /, *, tenant: str | None = None, access: Access = HERE) -> None:
    """Delete a service level. Jobs that wait keep what they were promised.

    Parameters
    ----------
    name
        The level's name.
    tenant
        Whose it is, if several have one of that name.
    """
    with access.client() as client:
        client.delete_service_level(name, tenant)
    print(name, "deleted")


def _off_peak(windows: list[str], tz: str) -> OffPeak | None:
    if not windows:
        return None
    try:
        return msgspec.convert({"windows": [read_window(text) for text in windows], "tz": tz}, OffPeak)
    except msgspec.ValidationError as error:
        raise InvalidInput(f"--off-peak: {error}") from error


def _row(level: ServiceLevel) -> tuple[str, ...]:
    return (
        level.task or "every task", level.tier, _promise(level),
        *(_share(span) for span in (level.hour, level.day, level.month)), str(level.at_risk), str(level.late),
    )  # fmt: skip


def _facts(level: ServiceLevel) -> Facts:
    now = datetime.now(UTC)
    return [
        ("for", level.task or "every task"), ("tier", level.tier), ("promise", _promise(level)),
        ("priority", "" if level.priority is None else str(level.priority)),
        ("off-peak", _hours(level.off_peak)),
        ("last hour", _attained(level.hour)), ("last day", _attained(level.day)),
        ("last 30 days", _attained(level.month)), ("at risk", str(level.at_risk)), ("late", str(level.late)),
        *(("broken most", _worst(task)) for task in level.worst_tasks),
        *(("late the longest", _late(job, now)) for job in level.latest_jobs),
    ]  # fmt: skip


def _worst(found: WorstTask) -> str:
    return f"{found.broken} of {found.kept + found.broken}: {found.task} of {found.tenant}"


def _late(job: LateJob, now: datetime) -> str:
    return f"{job.id}, by {short(now - job.start_by)}: {job.task} of {job.tenant}"


def _promise(level: ServiceLevel) -> str:
    return "" if level.start_within is None else f"{level.target * 100:g} % start within {short(level.start_within)}"


def _hours(off_peak: OffPeak | None) -> str:
    if off_peak is None:
        return ""
    windows = (f"{window.days or 'every day'} {window.start}-{window.end}" for window in off_peak.windows)
    return f"{'; '.join(windows)} ({off_peak.tz})"


def _share(span: Attainment) -> str:
    return "" if span.share is None else f"{span.share * 100:.4g} %{'' if span.met else ' (missed)'}"


def _attained(span: Attainment) -> str:
    return "" if span.share is None else f"{_share(span)}, {span.broken} of {span.kept + span.broken} late"
