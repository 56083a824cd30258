"""What a soak found: for people in Markdown and as a picture, for programs in JSON."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from horae.bench.drawing import draw
from horae.bench.figures import Chart, rounded
from horae.bench.soak.flatness import Judgement, Verdict

SHOWN: Final = 8
"""Lines of a chart."""
SMALL: Final = 1.0
"""Megabytes: tables that never reach them are judged like all, and listed only when they are not flat."""


class Watched(msgspec.Struct, frozen=True):
    family: str
    name: str
    unit: str
    judgement: Judgement
    points: list[tuple[float, float]]

    @property
    def worth_a_line(self) -> bool:
        return self.judgement.verdict is not Verdict.FLAT or self.unit != "MB" or self.judgement.level >= SMALL


class Report(msgspec.Struct, frozen=True, kw_only=True):
    settings: dict[str, Any]
    versions: dict[str, str]
    series: list[Watched]
    done: dict[str, int]
    failed: dict[str, int]
    """Calls of the load that went wrong, by kind."""
    left_out: dict[str, int]
    examples: dict[str, str]
    days: dict[str, int]
    left_over: int
    broken: str = ""
    """When and why the run broke off, if it did."""

    @property
    def not_flat(self) -> list[Watched]:
        return [each for each in self.series if not each.judgement.passes]

    @property
    def passes(self) -> bool:
        amiss = self.not_flat or self.failed or self.left_out or self.left_over or self.broken
        return not amiss and self.days["dropped"] > 0


def write(report: Report, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "soak.json").write_bytes(msgspec.json.encode(report))
    (folder / "soak.md").write_text(markdown(report), encoding="utf-8")
    draw(charts(report.series), folder / "soak.svg")


def markdown(report: Report) -> str:
    return "\n".join([*_head(report), "", *_table(report.series), "", *_load(report), ""])


def _head(report: Report) -> Iterator[str]:
    minutes, days = report.settings["seconds"] / 60, report.days
    verdict = "flat" if report.passes else "**not flat**"
    yield f"# Soak: {minutes:g} minutes, {verdict}"
    yield ""
    settled = sum(each.judgement.verdict is Verdict.SETTLED for each in report.series)
    yield f"{len(report.series)} series, {len(report.not_flat)} of them not flat, {settled} settled. {_sentence(days)}"
    if report.broken:
        yield f"**It broke off** at {report.broken}"
    yield f"Jobs that never ended: {report.left_over}. Calls that failed: {sum(report.failed.values())}."
    yield ""
    yield ", ".join(f"{name} {version}" for name, version in report.versions.items())
    yield ""
    yield ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in report.settings.items())


def _sentence(days: dict[str, int]) -> str:
    return (
        f"{days['passed']} midnights passed: {days['made']} partitions were made and {days['dropped']} days dropped, "
        f"with {days['tried_again']} more tries for their locks."
    )


def _table(series: Sequence[Watched]) -> Iterator[str]:
    """What changes by the day stands beside what a run of this length cannot exclude."""
    yield "| | | level | in a day | at most | verdict |"
    yield "|---|---|---|---|---|---|"
    for each in sorted(series, key=lambda each: (each.judgement.passes, each.judgement.verdict is Verdict.FLAT)):
        if each.worth_a_line:
            found = each.judgement
            cells = (f"{_number(found.level)} {each.unit}", _signed(found.a_day), _signed(found.high), _told(found))
            yield f"| {each.family} | {each.name} | {' | '.join(cells)} |"


def _told(found: Judgement) -> str:
    if found.step is None or found.step_at is None:
        return found.verdict.value
    return f"{found.verdict.value}: by {_number(found.step)} at {found.step_at / 60:.0f} min"


def _load(report: Report) -> Iterator[str]:
    yield "| load | done | failed | left out |"
    yield "|---|---|---|---|"
    for kind in sorted(report.done | report.failed | report.left_out):
        counts = (source.get(kind, 0) for source in (report.done, report.failed, report.left_out))
        yield f"| {kind} | {' | '.join(f'{count:,}' for count in counts)} |"
    for kind, example in report.examples.items():
        yield f"\nThe first of {kind} that failed, at {example}"


def charts(series: Sequence[Watched]) -> list[Chart]:
    """One for each family; of its lines those that a reader can tell apart."""
    families: dict[tuple[str, str], list[Watched]] = {}
    for each in series:
        if each.points:
            families.setdefault((each.family, each.unit), []).append(each)
    return [_chart(family, unit, found) for (family, unit), found in families.items()]


def _chart(family: str, unit: str, series: Sequence[Watched]) -> Chart:
    largest = sorted(series, key=lambda each: each.judgement.level, reverse=True)[:SHOWN]
    return Chart(
        family, "minutes", unit, {each.name: [(at / 60, value) for at, value in each.points] for each in largest}
    )


def _number(value: float) -> str:
    return f"{rounded(value):,.10g}"


def _signed(value: float) -> str:
    return f"{rounded(value):+,.10g}" if abs(value) < 1e12 else "–"
