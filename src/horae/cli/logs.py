"""`horae logs`: what a job wrote."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from rich.text import Text

from horae.cli.access import HERE, Access
from horae.cli.screen import console, print_lines
from horae.wire.jobs import LogLine

if TYPE_CHECKING:
    from rich.console import Console

    from horae.client.client import Client

STYLES = {"stderr": "red", "system": "italic yellow"}


def logs(job_id: str, /, *, follow: Annotated[bool, Parameter(alias="-f")] = False, access: Access = HERE) -> None:
    """Print what a job wrote to stdout and stderr, all attempts one after the other.

    Parameters
    ----------
    job_id
        The job's id.
    follow
        Go on printing until the job has ended.
    """
    with access.client() as client:
        found = client.follow_logs(job_id) if follow else stored(client, job_id)
        if access.json:
            print_lines(found)
        else:
            print_logs(found)


def stored(client: "Client", job_id: str) -> Iterator[LogLine]:
    """What there is now. A running job always has a next page, so an empty one is the end."""
    cursor = None
    while True:
        page = client.logs(job_id, cursor)
        yield from page.items
        cursor = page.next_cursor
        if not page.items or cursor is None:
            return


def print_logs(lines: Iterator[LogLine]) -> None:
    screen, attempt = console(), 0
    for line in lines:
        if line.attempt != attempt > 0:
            screen.print(f"--- attempt {line.attempt} ---", style="bold")
        attempt = line.attempt
        _print_chunk(screen, line)
        sys.stdout.flush()


def _print_chunk(screen: "Console", line: LogLine) -> None:
    """To a program or a file byte for byte; on a terminal colours of the job are kept and other controls dropped."""
    if screen.is_terminal:
        screen.print(Text.from_ansi(line.text.rstrip("\n"), style=STYLES.get(line.stream, "")), soft_wrap=True)
    else:
        sys.stdout.write(line.text if line.text.endswith("\n") else line.text + "\n")
