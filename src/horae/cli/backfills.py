"""`horae schedule backfill`: runs ticks of the past, shown first, followed to their end."""

import time
from typing import TYPE_CHECKING, Final

from horae.cli.access import HERE, Access
from horae.cli.arguments import read_instant
from horae.cli.failure import ERROR
from horae.cli.screen import console, note, print_json, table
from horae.cli.text import absolute
from horae.model.errors import InvalidInput
from horae.wire.schedules import Backfill

if TYPE_CHECKING:
    from horae.client.client import Client

LOOK_SECONDS: Final = 0.5


def backfill(
    name: str,
    /,
    *,
    since: str | None = None,
    until: str | None = None,
    concurrency: int = 1,
    dry_run: bool = False,
    wait: bool = False,
    cancel: int | None = None,
    tenant: str | None = None,
    access: Access = HERE,
) -> int:
    """Run the ticks of a past range that have not succeeded. Without a range, list the backfills there were.

    Parameters
    ----------
    name
        The schedule's name.
    since
        From this instant on.
    until
        Up to this instant, not included.
    concurrency
        How many jobs may be under way at once (1).
    dry_run
        Only show what would be run.
    wait
        Wait until it is done, showing how far it is. The exit code is 1 when not all jobs succeeded.
    cancel
        Cancel the backfill of this number.
    tenant
        For keys that belong to no tenant.
    """
    start, end = read_instant(since, "since"), read_instant(until, "until")
    with access.client() as client:
        if cancel is not None:
            return _print(client.schedules.cancel_backfill(name, cancel, tenant), access)
        if start is None and end is None:
            return _list(client.schedules.backfills(name, tenant).items, access)
        if start is None or end is None:
            raise InvalidInput("give both --since and --until")
        made = client.schedules.backfill(name, start, end, concurrency, dry_run=dry_run, tenant=tenant)
        if wait and made.id is not None:
            made = _follow(client, name, made.id, tenant)
        return _print(made, access)


def _follow(client: "Client", name: str, backfill_id: int, tenant: str | None) -> Backfill:
    while True:
        found = client.schedules.backfill_state(name, backfill_id, tenant)
        note(f"{found.ended} of {found.total} ended, {found.succeeded} succeeded")
        if found.state != "running":
            return found
        time.sleep(LOOK_SECONDS)


def _print(found: Backfill, access: Access) -> int:
    if access.json:
        print_json(found)
    elif found.ticks is not None:
        rows = ((absolute(tick.at), "runs" if tick.runs else "left out", tick.why or "") for tick in found.ticks)
        console().print(table(("at", "", "why"), rows))
        note(f"{found.total} ticks would run, {found.concurrency} at a time")
    else:
        print(f"{found.id} {found.state}: {found.succeeded} of {found.total} succeeded")
    return ERROR if found.state == "done" and found.succeeded < found.total else 0


def _list(found: list[Backfill], access: Access) -> int:
    if access.json:
        for item in found:
            print_json(item)
        return 0
    rows = (
        (str(b.id), b.state, absolute(b.since), absolute(b.until), f"{b.succeeded}/{b.total}", b.made_by or "")
        for b in found
    )
    console().print(table(("id", "state", "since", "until", "succeeded", "by"), rows))
    return 0
