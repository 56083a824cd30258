"""Named SQL statements, read once from `queries/*.sql`.

A statement begins with `-- name: job_claim`; the text up to the next name is sent as it stands. One that differs for
several tables in their names alone is written once: `-- name: lanes_{ready,lease}`, with `{table}` in the text.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Final

_NAME: Final = re.compile(r"^-- name: (\w+(?:\{[\w,]+\})?)\n", re.MULTILINE)


@cache
def statements() -> dict[str, str]:
    """Every statement by name. Two of one name are a mistake of ours and stop the program."""
    found: dict[str, str] = {}
    for file in sorted(files("horae.store").joinpath("queries").iterdir(), key=lambda f: f.name):
        parts = _NAME.split(file.read_text(encoding="utf-8"))[1:]
        for written, text in zip(parts[::2], parts[1::2], strict=True):
            for name, sql in _each_table(written, text.strip().rstrip(";")):
                if name in found:
                    raise RuntimeError(f"two statements are named {name}")
                found[name] = sql
    return found


def _each_table(name: str, sql: str) -> Iterator[tuple[str, str]]:
    beginning, braced, tables = name.partition("{")
    if not braced:
        yield name, sql
        return
    for table in tables.rstrip("}").split(","):
        yield beginning + table, sql.replace("{table}", table)
