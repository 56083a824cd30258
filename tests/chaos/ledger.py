"""The report as a file that grows: each seed's verdict is written when it ends. So a campaign that is broken off can be
gone on with, and parts of one can be put together."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from .page import markdown
from .report import Conviction, Report, merged
from .summary import Summary


class Ledger:
    def __init__(self, report: Report, path: Path | None) -> None:
        """`path`: of the Markdown; JSON goes beside it."""
        self.report = report
        self._path = path

    def resume(self) -> None:
        """Goes on from what the file says was done already, and found."""
        if self._path is not None and beside(self._path).exists():
            self.report = merged([*read([beside(self._path)]), self.report])

    def enter(self, found: Summary | Conviction) -> None:
        if isinstance(found, Summary):
            self.report.seeds.append(found)
        else:
            self.report.convictions.append(found)
        self.write()

    def write(self) -> None:
        if self._path is not None:
            self._path.write_text(markdown(self.report))
            beside(self._path).write_text(as_json(self.report))


def beside(path: Path) -> Path:
    return path.with_suffix(".json")


def as_json(report: Report) -> str:
    return msgspec.json.format(msgspec.json.encode(report)).decode() + "\n"


def read(paths: Sequence[Path]) -> list[Report]:
    return [msgspec.json.decode(path.read_bytes(), type=Report) for path in paths]
