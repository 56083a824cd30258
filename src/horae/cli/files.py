"""`horae files`: what jobs left in their output folders."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from horae.cli.access import HERE, Access
from horae.cli.screen import console, note, print_json, print_lines, table
from horae.cli.text import size, when
from horae.model.errors import NotFound
from horae.wire.files import FileView

if TYPE_CHECKING:
    from horae.client.client import Client

Output = Annotated[str | None, Parameter(alias="-o", allow_leading_hyphen=True)]
app = App(name="files", help="List and fetch the files that a job left.")


@app.default
def list_files(job_id: str, /, *, access: Access = HERE) -> None:
    """List the files that a job left in its output folder.

    Parameters
    ----------
    job_id
        The job's id.
    """
    with access.client() as client:
        found = client.files(job_id).items
    if access.json:
        print_lines(found)
        return
    now = datetime.now(UTC)
    rows = ((f.name, size(f.size), f.media_type, when(f.expires_at, now), str(f.id)) for f in found)
    console().print(table(("name", "size", "type", "expires", "id"), rows, spare=("type", "id")))
    if not found:
        note("no files: they appear when the job has ended, and go when their lifetime is over")


@app.command
def get(job_id: str, name: str, /, *, output: Output = None, access: Access = HERE) -> None:
    """Fetch one file of a job. It appears under its name when it is whole.

    Parameters
    ----------
    job_id
        The job's id.
    name
        The file's name, as the list has it.
    output
        The file or folder to save it to; - for stdout. Default: its own last name, here.
    """
    from horae.client.files import JobFile

    with access.client() as client:
        view = _find(client, job_id, name)
        if output == "-":
            for piece in client.fetch_file(view):
                sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
            return
        with _bar() as bar:
            shown = bar.add_task(view.name, total=view.size)
            path = JobFile(client, view).save(output or Path(), lambda count: bar.advance(shown, count))
    if access.json:
        print_json(view)
    else:
        note(f"saved {path} ({size(view.size)})")


@app.command
def address(job_id: str, name: str, /, *, lifetime: str = "15m", access: Access = HERE) -> None:
    """Print an address that gives a file to whoever has it, for a time.

    Parameters
    ----------
    job_id
        The job's id.
    name
        The file's name, as the list has it.
    lifetime
        For how long, at most 7d (15m).
    """
    with access.client() as client:
        found = client.file_address(str(_find(client, job_id, name).id), lifetime)
    print_json(found) if access.json else print(found.url)


def _find(client: "Client", job_id: str, name: str) -> FileView:
    found = {view.name: view for view in client.files(job_id).items}
    if name not in found:
        there = ", ".join(list(found)[:10]) or "none"
        raise NotFound(f"job {job_id} has no file {name!r}; there are: {there}")
    return found[name]


def _bar() -> Progress:
    screen = console(sys.stderr)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    return Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal)
