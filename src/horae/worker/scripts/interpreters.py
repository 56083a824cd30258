"""Finds the program that runs a script: named by the task, or by the script's #! line.

We look it up ourselves, on the host, because the sandbox shows the same programs at the same places: so a missing one
is told by name before anything is started, and a script needs no right to be executed.
"""

import os
import shutil
from pathlib import Path
from typing import Final

from horae.model.errors import InvalidInput
from horae.model.kinds import Script

_ENV: Final = "env"
_OTHER_NAMES: Final = {"python": "python3"}
_LONGEST_LINE: Final = 1024


def command_of(script: Script, path: str) -> list[str]:
    """The beginning of the command line, before the script's own path. `path`: where programs may be."""
    if script.interpreter is not None:
        return [_find(script.interpreter, path)]
    words = _first_line(script.source)
    if Path(words[0]).name == _ENV:
        # `env -S` splits what follows, and so do we, always.
        words = [word for word in words[1:] if word != "-S"] or words
    return [_find(words[0], path), *words[1:]]


def python_of(script: Script, path: str) -> str:
    """Of a script with requirements, which must be for Python."""
    found = command_of(script, path)[0]
    if not Path(found).name.startswith("python"):
        raise InvalidInput(f"requirements are for Python scripts, and this one is run by {found}")
    return found


def _first_line(source: str) -> list[str]:
    first = source[:_LONGEST_LINE].split("\n", 1)[0].strip()
    words = first.removeprefix("#!").split() if first.startswith("#!") else []
    if not words:
        raise InvalidInput(
            "the script names no interpreter: set `interpreter` (python, sh, node …), or begin it with a line such as "
            "#!/usr/bin/env python3"
        )
    return words


def _find(name: str, path: str) -> str:
    if "/" in name:
        return _at(name)
    for candidate in (name, _OTHER_NAMES.get(name)):
        if candidate and (found := shutil.which(candidate, path=path)):
            return found
    raise InvalidInput(f"this worker has no interpreter {name!r} in {path}: install it there, or name another one")


def _at(name: str) -> str:
    if os.access(name, os.X_OK) and not Path(name).is_dir():
        return name
    raise InvalidInput(f"this worker has no interpreter {name}: install it there, or name another one")
