"""The pages of the documentation, cut into code blocks, sections and tables.

A block that cannot run in a test carries `<!-- not run: reason -->` on the line before it.
"""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

_FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_NOT_RUN = re.compile(r"<!-- not run: (?P<reason>[^>]+?) -->\n\Z")
_FILE = re.compile(r"# (?P<name>[~\w./@-]+\.(py|toml|service))\n")
_CODE = re.compile(r"`([^`]+)`")


class Block(NamedTuple):
    page: Path
    line: int
    language: str
    text: str
    not_run: str | None

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def file(self) -> str | None:
        """The name of the file that this block is, if its first line says so."""
        found = _FILE.match(self.text)
        return found["name"] if found else None


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = []
    for fence in _FENCE.finditer(text):
        marked = _NOT_RUN.search(text[: fence.start()])
        line = text.count("\n", 0, fence.start()) + 2
        found.append(Block(page, line, fence["language"], fence["text"], marked["reason"] if marked else None))
    return found


def prose(page: Path) -> str:
    """Without code blocks: a comment in a shell block looks like a heading."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def section(page: str, heading: str) -> str:
    """The text below a heading, down to the next heading of any level."""
    found = re.search(rf"^#+ {re.escape(heading)}$\n(.*?)(?=^#|\Z)", prose(ROOT / page), re.MULTILINE | re.DOTALL)
    assert found is not None, f"{page} has no section {heading!r}"
    return found[1]


def table(page: str, heading: str) -> list[list[str]]:
    """The rows of the one table in a section, without its head."""
    rows = [line for line in section(page, heading).splitlines() if line.startswith("|")]
    assert rows, f"{page}, {heading}: there is no table"
    # A bar inside of code is written \| there.
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows[2:]]


def codes(text: str) -> list[str]:
    """What stands in backticks."""
    return _CODE.findall(text)
