"""`horae task statistics`: how the jobs of tasks did."""

from datetime import timedelta

from horae.cli.access import HERE, Access
from horae.cli.jobs import moment
from horae.cli.screen import console, note, print_json, table
from horae.cli.text import short, when
from horae.wire.tasks import TaskFigures

COUNTS = ("submitted", "succeeded", "failed", "cancelled", "retried")
TIMES = ("p50", "p95", "wait")


def statistics(
    name: str | None = None,
    /,
    *,
    since: str | None = None,
    until: str | None = None,
    tenant: str | None = None,
    access: Access = HERE,
) -> None:
    """Show what became of the jobs of all tasks in some time, or of one task step by step.

    Parameters
    ----------
    name
        The task's name; without it, all of them.
    since
        From this instant, or this long ago (e.g. 2h); a day ago unless it is said.
    until
        Until this instant, or this long ago; now unless it is said.
    tenant
        For keys that belong to no tenant.
    """
    start, end = moment(since, "since"), moment(until, "until")
    with access.client() as client:
        found = client.tasks.statistics(name, start, end, tenant) if name else client.tasks.totals(start, end, tenant)
    if access.json:
        print_json(found)
        return
    labels = ((when(it.at) if hasattr(it, "at") else it.task, it) for it in found.items)
    rows = [(label, *_row(it)) for label, it in labels if it.submitted or it.started or _ended(it)]
    console().print(table(("at" if name else "task", *COUNTS, *TIMES), rows))
    if not rows:
        note("nothing happened in that time; name a longer one with --since, or see `horae jobs`")


def _row(it: TaskFigures) -> tuple[str, ...]:
    times = (getattr(it, name) for name in TIMES)
    return (
        *(str(getattr(it, name)) for name in COUNTS),
        *("" if seconds is None else short(timedelta(seconds=seconds)) for seconds in times),
    )


def _ended(it: TaskFigures) -> int:
    return it.succeeded + it.failed + it.cancelled + it.other + it.retried
