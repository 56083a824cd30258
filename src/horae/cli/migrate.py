"""`horae migrate`: bring a database to this version's schema."""

import asyncio
import os
from typing import TYPE_CHECKING

from horae import failpoints
from horae.cli.journal import open_journal
from horae.cli.screen import console, print_json, print_lines, table
from horae.cli.text import when
from horae.config import ServerSettings, load
from horae.model.errors import SetupError

if TYPE_CHECKING:
    from horae.store.migrate import Status


def migrate(*, database: str | None = None, status: bool = False, json: bool = False) -> int:
    """Apply the migrations a database lacks. Safe to run at any time, by any number at once.

    Parameters
    ----------
    database
        postgresql://…, or HORAE_DATABASE.
    status
        Only show which migrations there are; exit code 1 when some are missing.
    json
        Print JSON.
    """
    settings = load(ServerSettings, {"database": database}, os.environ)
    if settings.database is None:
        raise SetupError("which database? Give --database postgresql://…, or HORAE_DATABASE")
    open_journal(os.environ.get("HORAE_LOG") or "warning", "migrate")
    failpoints.arm(os.environ)
    work = _show(settings.database, as_json=json) if status else _apply(settings.database, as_json=json)
    return asyncio.run(work)


async def _apply(dsn: str, *, as_json: bool) -> int:
    from horae.store.migrate import migrate as apply

    done = await apply(dsn)
    if as_json:
        print_json({"applied": done})
        return 0
    for name in done:
        print(f"applied {name}")
    if not done:
        print("nothing to do: the database is up to date")
    return 0


async def _show(dsn: str, *, as_json: bool) -> int:
    from horae.store.checkup import connected
    from horae.store.migrate import status

    async with connected(dsn) as connection:
        found = await status(connection)
    if as_json:
        print_lines(found)
    else:
        console().print(table(("migration", "applied"), (_row(one) for one in found)))
    return 1 if any(one.applied_at is None for one in found) else 0


def _row(one: "Status") -> tuple[str, str]:
    return one.name, when(one.applied_at) or "missing"
