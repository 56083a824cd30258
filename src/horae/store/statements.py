"""Named SQL statements, read once from `queries/*.sql`.

A statement begins with `-- name: job_claim`; the text up to the next name is sent as it stands.
"""

import re
from functools import cache
from importlib.resources import files
from typing import Final

_NAME: Final = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)


@cache
def statements() -> dict[str, str]:
    """Every statement by name. Two of one name are a mistake of ours and stop the program."""
    found: dict[str, str] = {}
    for file in sorted(files("horae.store").joinpath("queries").iterdir(), key=lambda f: f.name):
        parts = _NAME.split(file.read_text(encoding="utf-8"))[1:]
        for name, text in zip(parts[::2], parts[1::2], strict=True):
            if name in found:
                raise RuntimeError(f"two statements are named {name}")
            found[name] = text.strip().rstrip(";")
    return found
