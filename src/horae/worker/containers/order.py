"""What a task wants to be run, in the words of the engine's command line.

Nothing that a task says can become an option: images are checked, all that has a value is written as `--name=value`,
and what stands behind the image is the container's own. Variables go by a file, not by the command line, which
everybody on the host can read, nor by the environment of the engine's program, which listens to many of them.
"""

import os
import re
from pathlib import Path
from typing import Final

from horae.model.errors import InvalidInput
from horae.model.kinds import Container
from horae.model.template import fill_all
from horae.worker.containers.disk import OUTPUT, Disk, bind
from horae.worker.errands.errand import Errand
from horae.worker.errands.quarters import MARK
from horae.worker.errands.workspace import Workspace, write_readable

_GIVEN: Final = "/given"
_SECRETS: Final = "/run/secrets"
_HOSTS: Final = b"127.0.0.1 localhost job\n::1 localhost\n"
"""Instead of the host's own, which podman copies."""
_VARIABLE: Final = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_OWN: Final = "HORAE_PARAM_"


def arguments(container: Container, workspace: Workspace, root: list[str]) -> list[str]:
    """From the image on, with what has to stand before it."""
    params = workspace.params
    entrypoint, command = container.entrypoint, fill_all(container.command, params, {})
    words = []
    if entrypoint is not None:
        # Engines take one word; the others lead the command.
        first, *others = fill_all(entrypoint, params, {}) or [""]
        words.append(f"--entrypoint={first}")
        command = [*others, *command]
    if container.workdir is not None:
        words.append(f"--workdir={container.workdir}")
    return [*words, *root, *command]


def supplies(errand: Errand, workspace: Workspace, disk: Disk) -> list[str]:
    """Writes what the job gets, and says how it gets there."""
    flags = [bind(workspace.given, _GIVEN, readonly=True), f"--env-file={_write_variables(errand, workspace, disk)}"]
    hosts = disk.private / "hosts"
    write_readable(hosts, _HOSTS)
    flags.append(bind(hosts, "/etc/hosts", readonly=True))
    files = workspace.secret_files()
    if files:
        folder = disk.private / "secrets"
        folder.mkdir()
        folder.chmod(0o755)
        for name, content in files.items():
            write_readable(folder / name, content)
        flags.append(bind(folder, _SECRETS, readonly=True))
    return [*flags, *disk.flags]


def _write_variables(errand: Errand, workspace: Workspace, disk: Disk) -> Path:
    variables = {"HOME": "/tmp"} | workspace.environment(_GIVEN, OUTPUT, _SECRETS)  # noqa: S108 - the container's own
    variables[MARK] = errand.mark
    lines = [_line(name, value) for name, value in variables.items() if "\n" not in value or not name.startswith(_OWN)]
    file = disk.private / "variables"
    with os.fdopen(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as opened:
        opened.writelines(lines)
    return file


def _line(name: str, value: str) -> str:
    if not _VARIABLE.fullmatch(name):
        raise InvalidInput(f"{name[:200]!r} cannot be the name of a container's variable")
    if "\n" in value or "\r" in value:
        raise InvalidInput(
            f"the variable {name} has more than one line, which no container engine takes: give a secret with"
            " `file: true`, and read other long texts from HORAE_PARAMS"
        )
    return f"{name}={value}\n"
