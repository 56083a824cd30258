"""What servers and workers write down about errors that nobody foresaw, between two moments."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

JOURNALS: Final = re.compile(r"(server|worker)-\d+\.log")
SIGNS: Final = ("Traceback (most recent call last)", "an error nobody foresaw", "exception was never retrieved")
WORDS: Final = 600


def lengths(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in _journals(folder)}


def tracebacks(folder: Path, since: Mapping[str, int]) -> list[str]:
    """What was written after the journals were so long."""
    found = []
    for path in _journals(folder):
        with path.open("rb") as file:
            file.seek(since.get(path.name, 0))
            found += [f"{path.name}: {words[:WORDS]}" for words in signs(file.read().decode(errors="replace"))]
    return found


def _journals(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if JOURNALS.fullmatch(path.name))


def signs(text: str) -> Iterator[str]:
    """What a line with a sign of it says, from its end: there stands what went wrong."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if any(sign in line for sign in SIGNS):
            yield _said(line) if line.startswith("{") else " | ".join(lines[number : number + 40])[-WORDS:]


def _said(line: str) -> str:
    try:
        entry = json.loads(line)
    except ValueError:
        return line[-WORDS:]
    return f"{entry.get('event')}: {str(entry.get('exception', line))[-WORDS + 60 :]}"
