"""What a script is run with: its command, its environment, and the files it sees.

In the sandbox everything has one place: /given (what it gets, read-only), /output (what it makes, its working folder),
/run/secrets. A worker that the operator lets run scripts without a sandbox has these in the errand's folder.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from horae.model.errors import InvalidInput
from horae.model.kinds import Script
from horae.model.template import fill_all
from horae.worker.errands.errand import Errand
from horae.worker.errands.workspace import Workspace
from horae.worker.sandbox.bubblewrap import OUTPUT, PATH, Cell, shows
from horae.worker.sandbox.limits import bounds_of
from horae.worker.scripts.interpreters import command_of

ENVIRONMENT: Final = "/env"
"""Where a Python environment is seen, when it is made and when it is used: its scripts have the path in them."""
_SCRIPT: Final = "script"


class Places(NamedTuple):
    given: str
    output: str
    secrets: str
    temporary: str
    path: str


INSIDE: Final = Places("/given", OUTPUT, "/run/secrets", "/tmp", PATH)  # noqa: S108 - the sandbox's own


def outside(folder: Path, path: str) -> Places:
    given, output, secrets, temporary = (str(folder / name) for name in ("given", "output", "secrets", "tmp"))
    return Places(given, output, secrets, temporary, path)


def plan(errand: Errand, script: Script, workspace: Workspace, places: Places, packages: Path | None) -> Cell:
    """`packages`: the Python environment with what the script requires."""
    _write(workspace.given / _SCRIPT, script.source.encode(), 0o444)
    command = command_of(script, places.path)
    if places is INSIDE and not shows(command[0]):
        raise InvalidInput(f"the sandbox does not show {command[0]}: it has programs of /usr and /bin only")
    if packages is not None:
        command[0] = f"{ENVIRONMENT}/bin/python" if places is INSIDE else str(packages / "bin/python")
    arguments = _arguments(script.args, workspace)
    task = errand.brief.task
    return Cell(
        command=[*command, f"{places.given}/{_SCRIPT}", *arguments],
        environment=_usual(places) | workspace.environment(places.given, places.output, places.secrets),
        bounds=bounds_of(task.limits, errand.grant),
        shown={places.given: workspace.given} | ({ENVIRONMENT: packages} if packages else {}),
        files={f"{places.secrets}/{name}": content for name, content in workspace.secret_files().items()},
        network=bool(task.network),
        output=places.output,
    )


def _arguments(texts: Sequence[str], workspace: Workspace) -> list[str]:
    arguments = fill_all(texts, workspace.params, {})
    for text, argument in zip(texts, arguments, strict=True):
        if "\0" in argument:
            raise InvalidInput(f"the argument {text!r} has a null character, which no command line can hold")
    return arguments


def furnish(folder: Path, cell: Cell) -> None:
    """Without a sandbox: makes on the host what would be in it."""
    (folder / "tmp").mkdir(mode=0o700)
    (folder / "secrets").mkdir(mode=0o700)
    for path, content in cell.files.items():
        _write(Path(path), content, 0o400)


def _usual(places: Places) -> dict[str, str]:
    return {
        "PATH": places.path,
        "HOME": places.temporary,
        "TMPDIR": places.temporary,
        "LANG": "C.UTF-8",
        # Output is streamed: Python would keep it back until it has 8 KiB of it.
        "PYTHONUNBUFFERED": "1",
    }


def _write(path: Path, content: bytes, mode: int) -> None:
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode), "wb") as file:
        file.write(content)
        os.fchmod(file.fileno(), mode)  # Whatever the umask is.
