"""`horae doctor`: what is wrong with an installation, and what to do about it.

Where a check finds that the next ones cannot be made (no server, no database), they are left out: one cause, one
finding.
"""

import asyncio
import os
import shutil
import sys
from pathlib import Path
from typing import Final

from rich.text import Text

from horae.cli.access import HERE, Access
from horae.cli.finding import STYLES, Finding, Mark, fail, ok, warn
from horae.cli.screen import console, print_lines, safe, table
from horae.cli.serverchecks import check_server
from horae.cli.text import size
from horae.config import UpSettings, load
from horae.model.errors import HoraeError

OLDEST_PYTHON: Final = (3, 11)
LITTLE_SPACE: Final = 5 * 1024**3
HARDLY_ANY_SPACE: Final = 512 * 1024**2


def doctor(*, database: str | None = None, data: str | None = None, access: Access = HERE) -> int:
    """Check an installation: Python, server, key, workers and, where it can be reached, the database.

    The exit code is 1 when a check fails.

    Parameters
    ----------
    database
        Check this one: postgresql://…, or HORAE_DATABASE. Default: that of the local `horae up`.
    data
        The data folder of the local `horae up`, if it is not the default one.
    """
    settings = load(UpSettings, {"database": database, "data": data}, os.environ)
    findings = [check_python(), *check_server(access), *_check_store(settings)]
    if access.json:
        print_lines(findings)
    else:
        _print(findings)
    return 1 if any(finding.mark is Mark.FAIL for finding in findings) else 0


def _print(findings: list[Finding]) -> None:
    rows = []
    for finding in findings:
        rows.append((finding.check, Text(finding.mark.value, style=STYLES[finding.mark]), safe(finding.seen)))
        if finding.fix:
            rows.append(("", Text(""), Text(f"→ {finding.fix}", style="bold")))
    shown = table(("check", "", "seen"), rows)
    for column in shown.columns[2:]:
        column.no_wrap, column.overflow = False, "fold"
    console().print(shown)


def check_python() -> Finding:
    here = ".".join(str(part) for part in sys.version_info[:3])
    if sys.version_info < OLDEST_PYTHON:
        return fail("python", here, "install Python 3.11 or later")
    return ok("python", here)


def _check_store(settings: UpSettings) -> list[Finding]:
    """Nothing on a machine that has only the client's side."""
    try:
        from horae.store.checkup import running_dsn
        from horae.store.embedded import default_data_dir
    except ModuleNotFoundError:
        return []
    from horae.cli.databasechecks import check_database
    from horae.cli.objectchecks import check_objects
    from horae.cli.secretchecks import check_secrets

    data = Path(settings.data or default_data_dir(os.environ, os.geteuid())).expanduser()
    try:
        dsn = settings.database or running_dsn(data)
    except HoraeError as error:
        return [warn("database", error.detail, "or name the database with --database")]
    findings = asyncio.run(check_database(dsn)) if dsn else []
    if dsn and not any(finding.mark is Mark.FAIL for finding in findings):
        findings += asyncio.run(check_secrets(dsn, settings, data))
    if dsn:
        findings += asyncio.run(check_objects(settings, data))
    return findings + check_disk(data) if data.exists() else findings


def check_disk(data: Path) -> list[Finding]:
    free = shutil.disk_usage(data).free
    seen = f"{size(free)} free for {data}"
    if free < HARDLY_ANY_SPACE:
        return [fail("disk", seen, "free some space now: PostgreSQL stops when the disk is full")]
    if free < LITTLE_SPACE:
        return [warn("disk", seen, "free some space, or keep jobs for fewer days with --retention-days")]
    return [ok("disk", seen)]
