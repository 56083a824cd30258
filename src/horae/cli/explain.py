"""`horae explain`: why a job waits, when it starts, or where its time went."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from horae.cli.access import HERE, Access
from horae.cli.screen import console, facts, print_json, safe, state, table
from horae.cli.text import relative, short, when
from horae.wire.explanation import Ahead, Estimate, Explanation, HeldBy, Reason, Timeline

if TYPE_CHECKING:
    from horae.client.client import Client

REFRESH_SECONDS: Final = 1.0


def explain(job_id: str, /, *, watch: bool = False, timeline: bool = False, access: Access = HERE) -> None:
    """Say why a job waits, when it will start, or where its time went.

    Parameters
    ----------
    job_id
        The job's id.
    watch
        Go on until the job has ended.
    timeline
        Show what its life went into, in order.
    """
    with access.client() as client:
        if timeline:
            life = client.timeline(job_id)
            print_json(life) if access.json else console().print(_life(life))
            return
        found = client.explain(job_id)
        if access.json:
            print_json(found)
        elif watch:
            _watch(client, found)
        else:
            console().print(shown(found))


def _watch(client: "Client", found: Explanation) -> None:
    with Live(console=console(), auto_refresh=False) as live:
        live.update(shown(found), refresh=True)
        while not found.state.ended:
            time.sleep(REFRESH_SECONDS)
            found = client.explain(str(found.id))
            live.update(shown(found), refresh=True)


def shown(found: Explanation) -> RenderableType:
    return Group(*_parts(found, datetime.now(UTC)))


def _parts(found: Explanation, now: datetime) -> Iterator[RenderableType]:
    yield Text.assemble(state(found.state), ": ", safe(found.answer))
    yield facts([
        ("place", _place(found)),
        ("progress", _progress(found)),
        ("ends" if found.running else "starts", _estimate(found.estimate, now) or (found.no_estimate or "")),
        *(("note", note) for note in found.notes),
    ])  # fmt: skip
    for number, reason in enumerate(found.reasons, 1):
        yield Text()
        yield Text.assemble((f"{number}. {reason.code}", "bold"), ": ", safe(reason.summary))
        yield facts([(f"   {name}", value) for name, value in _about(reason, now)])
    if found.spent:
        yield Text()
        rows = ((part.what.replace("_", " "), short(part.seconds), part.detail or "") for part in found.spent)
        yield table(("where its time went", "took", "detail"), rows)


def _life(found: Timeline) -> RenderableType:
    rows = (
        (f"{part.since:%Y-%m-%d %H:%M:%S}", short(((part.until or found.at) - part.since).total_seconds()),
         part.what.replace("_", " ") + (f", attempt {part.attempt}" if part.attempt else ""), part.detail or "")
        for part in found.items
    )  # fmt: skip
    return table(("since (UTC)", "took", "what", "detail"), rows)


def _place(found: Explanation) -> str:
    if found.place is None:
        return ""
    return (
        f"more than {found.place.number - 1:,} before it" if found.place.more else f"{found.place.number} in its lane"
    )


def _progress(found: Explanation) -> str:
    run = found.running
    if run is None or run.done is None:
        return ""
    amount = f"{run.done:g}" if run.total is None else f"{run.done:g}/{run.total:g}"
    return f"{amount} {run.note or ''}".strip()


def _estimate(estimate: Estimate | None, now: datetime) -> str:
    if estimate is None:
        return ""
    earliest, latest = relative(estimate.earliest, now), relative(estimate.latest, now)
    between = "" if earliest == latest else f", between {earliest} and {latest}"
    return f"{when(estimate.at, now)}{between}, from {estimate.basis}"


def _about(reason: Reason, now: datetime) -> Iterator[tuple[str, str]]:
    yield "resolve", reason.resolve
    yield "command", reason.command or ""
    yield "until", when(reason.until, now)
    if reason.held_by is not None:
        yield from _held(reason.held_by, now)


def _held(held: HeldBy, now: datetime) -> Iterator[tuple[str, str]]:
    if held.gate is not None:
        yield "closed", f"{when(held.gate.since, now)} by {held.gate.owner}"
    for job in held.jobs:
        whose = f" of {job.tenant}" if job.tenant else ""
        yield "job", f"{job.id} {job.task}{whose} on worker {job.worker_id}, started {relative(job.since, now)}"
    if held.other_jobs:
        yield "jobs", f"{held.other_jobs} more"
    for worker in held.workers:
        lacks = "; ".join(worker.lacks) or worker.reason or ""
        yield "worker", f"{worker.id} {worker.name}, {worker.running} of {worker.slots} slots taken. {lacks}".strip()
    if held.other_workers:
        yield "workers", f"{held.other_workers} more"
    for ahead in held.ahead:
        yield "ahead", _ahead(ahead)


def _ahead(ahead: Ahead) -> str:
    whose = f"of {ahead.tenant}" if ahead.tenant else "of other tenants"
    return f"{'more than ' if ahead.more else ''}{ahead.jobs} {whose}"
