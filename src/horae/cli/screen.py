"""What the commands print: tables for people, or the API's own JSON for programs.

Colour appears on terminals only, and NO_COLOR turns it off. Piped into another program, a table is as wide as its
contents, so that nothing is cut off or wrapped.
"""

import sys
from collections.abc import Iterable, Sequence
from typing import Any, Final, TextIO

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from horae.cli.text import printable
from horae.model.states import State

UNLIMITED: Final = 100_000
GAP: Final = 2
STATE_STYLES: Final = {
    State.SCHEDULED: "cyan",
    State.BLOCKED: "yellow",
    State.READY: "blue",
    State.RUNNING: "bold blue",
    State.SUCCEEDED: "green",
    State.FAILED: "bold red",
    State.CANCELLED: "magenta",
    State.EXPIRED: "magenta",
    State.DROPPED: "magenta",
}


def console(stream: TextIO | None = None) -> Console:
    """Markup and emoji codes are off: what jobs and people write is shown as it is."""
    stream = stream or sys.stdout
    width = None if stream.isatty() else UNLIMITED
    return Console(file=stream, markup=False, emoji=False, highlight=False, width=width)


def print_json(document: Any) -> None:
    """Exactly what the API said: the same record, written by the same encoder."""
    print(msgspec.json.encode(document).decode())


def print_lines(documents: Iterable[Any]) -> None:
    for document in documents:
        print_json(document)


def table(columns: Sequence[str], rows: Iterable[Sequence[str | Text]], spare: Sequence[str] = ()) -> Table:
    """A table in which the first column, which identifies the row, is never cut short.

    Where the terminal is too narrow, the `spare` columns are left out, one after the other, before any is cut.
    """
    cells = {name: [Text(name)] for name in columns}
    for row in rows:
        for name, cell in zip(columns, row, strict=True):
            cells[name].append(safe(cell))
    widths = {name: max(cell.cell_len for cell in column) for name, column in cells.items()}
    room = console().width
    for name in spare:
        if sum(width + GAP for width in widths.values()) > room:
            del widths[name]
    return _assemble({name: cells[name][1:] for name in widths}, widths[columns[0]])


def _assemble(columns: dict[str, list[Text]], first_width: int) -> Table:
    shown = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for number, name in enumerate(columns):
        shown.add_column(name, no_wrap=True, min_width=0 if number else first_width)
    for row in zip(*columns.values(), strict=True):
        shown.add_row(*row)
    return shown


def facts(rows: Iterable[tuple[str, str | Text]]) -> Table:
    """Names and values, one to a line; what is empty is left out."""
    shown = Table(box=None, show_header=False, pad_edge=False, padding=(0, GAP, 0, 0))
    shown.add_column(style="bold", no_wrap=True)
    shown.add_column(overflow="fold")
    for name, value in rows:
        if value:
            shown.add_row(name, safe(value))
    return shown


def safe(cell: str | Text) -> Text:
    return cell if isinstance(cell, Text) else Text(printable(cell, lines=True))


def state(value: State) -> Text:
    return Text(value.value, style=STATE_STYLES[value])


def note(message: str) -> None:
    """A remark for the person at the terminal; never part of the output."""
    print(printable(message, lines=True), file=sys.stderr)
