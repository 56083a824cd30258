"""The report of a campaign: as JSON all of it, as Markdown what a reader wants to know first."""

import platform
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from os import cpu_count
from typing import Final

import msgspec

from .campaign import Order
from .case import Violation
from .summary import CALM, FIRE, Spread, Struck, Summary

BEYOND: Final = (
    "several machines: all parts run on one, where losing power or the whole kernel is left out",
    "disks that lie about what they have written, and memory that flips bits",
    "a failover to an asynchronous standby, which may lose what was acknowledged: it is not promised",
    "old and new versions side by side, more than one shard, containers, and loads that last for hours (`make soak`)",
)
"""What no run of the suite shows."""


class Conviction(msgspec.Struct):
    """What became of a bug that was planted."""

    bug: str
    checkers: list[str]
    """One of these must catch it."""
    caught_by: dict[str, int]
    """All that found something, and how much."""

    @property
    def caught(self) -> bool:
        return any(self.caught_by.get(name) for name in self.checkers)


class Report(msgspec.Struct, kw_only=True):
    made_at: datetime
    versions: dict[str, str]
    jobs: int
    """By each seed, as are the faults."""
    faults: int
    wanted: list[int]
    """The seeds of the campaign: what it has not come to yet is not in `seeds`."""
    seeds: list[Summary]
    failpoints: list[str]
    """All that there are, as far as the campaign is bound to reach them."""
    bugs: list[str]
    """Those that are to be planted."""
    convictions: list[Conviction]
    not_tested: dict[str, str]

    @property
    def seeds_to_come(self) -> list[int]:
        done = {seed.seed for seed in self.seeds}
        return [seed for seed in self.wanted if seed not in done]

    @property
    def bugs_to_come(self) -> list[str]:
        done = {conviction.bug for conviction in self.convictions}
        return [bug for bug in self.bugs if bug not in done]

    @property
    def unreached(self) -> list[str]:
        return sorted(set(self.failpoints) - {name for seed in self.seeds for name in seed.failpoints})

    @property
    def sound(self) -> bool:
        """Nothing found as far as it has come, and every planted bug caught."""
        sound = [seed for seed in self.seeds if seed.planted is None]
        kept = all(not seed.violations and seed.drain_seconds is not None for seed in sound)
        return kept and all(conviction.caught for conviction in self.convictions)

    @property
    def verdict(self) -> bool:
        """Sound, nothing left out that was to be reached, and nothing left to do."""
        return self.sound and not (self.unreached or self.seeds_to_come or self.bugs_to_come)


def make_report(
    order: Order,
    seeds: list[Summary],
    *,
    postgres: str,
    commit: str,
    failpoints: Iterable[str] = (),
    bugs: Iterable[str] = (),
    convictions: Sequence[Conviction] = (),
    not_tested: dict[str, str] | None = None,
) -> Report:
    return Report(
        made_at=datetime.now(UTC),
        versions={
            "Horae": f"{version('horae')} ({commit})",
            "PostgreSQL": postgres,
            "Python": platform.python_version(),
            "machine": f"{platform.system()} {platform.release()}, {cpu_count()} cores",
        },
        jobs=order.jobs,
        faults=order.faults,
        wanted=list(order.seeds),
        seeds=seeds,
        failpoints=sorted(failpoints),
        bugs=list(bugs),
        convictions=list(convictions),
        not_tested=not_tested or {},
    )


def merged(reports: Sequence[Report]) -> Report:
    """One report of several parts of a campaign. What was done in two of them counts as the later one has it."""
    *_, last = reports
    seeds = {seed.seed: seed for report in reports for seed in report.seeds}
    convictions = {conviction.bug: conviction for report in reports for conviction in report.convictions}
    return msgspec.structs.replace(
        last,
        wanted=sorted({seed for report in reports for seed in report.wanted}),
        seeds=[seeds[seed] for seed in sorted(seeds)],
        failpoints=sorted({name for report in reports for name in report.failpoints}),
        bugs=list(dict.fromkeys(bug for report in reports for bug in report.bugs)),
        convictions=list(convictions.values()),
    )


def convicted(bug: str, checkers: Sequence[str], violations: Iterable[Violation]) -> Conviction:
    return Conviction(bug, list(checkers), dict(Counter(violation.checker for violation in violations)))


def markdown(report: Report) -> str:
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield (
        f"Run on {report.made_at:%Y-%m-%d %H:%M} UTC; "
        + ", ".join(f"{k} {v}" for k, v in report.versions.items())
        + "."
    )
    yield f"Verdict: **{verdict(report)}**."
    yield ""
    yield from _table(("what", "how many"), totals(report))
    yield from _latencies(report)
    yield from _faults(report)
    if report.convictions:
        yield from _table(
            ("planted bug", "caught by"),
            [(row.bug, ", ".join(f"{name} ({n})" for name, n in row.caught_by.items()) if row.caught else "**nothing**")
             for row in report.convictions],
        )  # fmt: skip
    yield "Not tested:"
    yield ""
    yield from (f"- `{name}`: {why}" for name, why in report.not_tested.items())
    yield from (f"- {what}" for what in BEYOND)
    yield ""
    yield from _violations(report)


def verdict(report: Report) -> str:
    if report.sound and (report.seeds_to_come or report.bugs_to_come):
        seeds, bugs = len(report.seeds_to_come), len(report.bugs_to_come)
        return f"nothing found so far; {seeds} of {len(report.wanted)} seeds and {bugs} planted bugs are to come"
    return "all promises kept" if report.verdict else "FAILED"


def totals(report: Report) -> Iterator[tuple[str, str]]:
    def total(name: str) -> int:
        return sum(seed.jobs[name] for seed in report.seeds)

    found = Counter(violation.checker for seed in report.seeds for violation in seed.violations)
    reached = len(report.failpoints) - len(report.unreached)
    yield "seeds", ", ".join(str(seed.seed) for seed in report.seeds)
    yield "of the commits", ", ".join(sorted({seed.commit for seed in report.seeds}))
    yield (
        "jobs submitted / accepted / refused / unknown",
        f"{total('submitted'):,} / {total('ok'):,} / {total('failed'):,} / {total('unknown'):,}",
    )
    yield "unknown that had been carried out", f"{total('unknown and there'):,}"
    yield "ticks fired", f"{sum(seed.ticks.get('fired', 0) for seed in report.seeds):,}"
    yield "faults struck / not possible at that moment", f"{_struck(report):,} / {_failed(report):,}"
    yield "runs of jobs", f"{sum(seed.runs for seed in report.seeds):,}"
    yield "**lost**", str(found["lost"])
    yield "**run twice at once**", str(found["overlaps"])
    yield "run twice at once by a host frozen as a whole", str(sum(seed.frozen_overlaps for seed in report.seeds))
    yield "done more than once, one after the other", str(sum(seed.rerun for seed in report.seeds))
    yield "stale completions refused", f"{sum(seed.stale_refused for seed in report.seeds):,}"
    yield "other violations", str(sum(found.values()) - found["lost"] - found["overlaps"])
    yield (
        "longest drain after the last fault",
        f"{max((seed.drain_seconds or 0 for seed in report.seeds), default=0):.1f} s",
    )
    yield "failpoints reached", f"{reached}/{len(report.failpoints)}"
    if report.convictions:
        yield "planted bugs caught", f"{sum(c.caught for c in report.convictions)}/{len(report.convictions)}"
    yield "took", f"{sum(seed.seconds for seed in report.seeds) / 60:.1f} min"


def _struck(report: Report) -> int:
    return sum(kind.struck for seed in report.seeds for kind in seed.faults.values())


def _failed(report: Report) -> int:
    return sum(kind.failed for seed in report.seeds for kind in seed.faults.values())


def _latencies(report: Report) -> Iterator[str]:
    """The median seed's median, and the worst of the rest."""
    rows = []
    for phase in (CALM, FIRE):
        found = [seed.latency[phase] for seed in report.seeds if phase in seed.latency]
        if found:
            rows.append((f"submit → start, {phase}", *_milliseconds(found)))
    yield from _table(("milliseconds", "p50", "p99", "most"), rows)


def _milliseconds(spreads: Sequence[Spread]) -> tuple[str, str, str]:
    middle = sorted(spread.p50 for spread in spreads)[len(spreads) // 2]
    late = sorted(spread.p99 for spread in spreads)[len(spreads) // 2]
    return f"{middle * 1000:.1f}", f"{late * 1000:,.0f}", f"{max(spread.most for spread in spreads) * 1000:,.0f}"


def _faults(report: Report) -> Iterator[str]:
    kinds: dict[str, list[Struck]] = defaultdict(list)
    for seed in report.seeds:
        for name, kind in seed.faults.items():
            kinds[name].append(kind)
    rows = []
    for name, found in sorted(kinds.items()):
        recoveries = [kind.recovery for kind in found if kind.recovery is not None]
        middle = sorted(spread.p50 for spread in recoveries)[len(recoveries) // 2] if recoveries else 0.0
        longest = max((spread.most for spread in recoveries), default=0.0)
        struck, failed = sum(kind.struck for kind in found), sum(kind.failed for kind in found)
        rows.append((f"`{name}`", str(struck), str(failed), f"{middle:.2f}", f"{longest:.2f}"))
    yield from _table(("fault", "struck", "not possible", "next job done after, median s", "longest s"), rows)


def _violations(report: Report, most: int = 40) -> Iterator[str]:
    for seed in report.seeds:
        for violation in seed.violations[:most]:
            yield f"- seed {seed.seed}, {violation.checker}: {violation.what}" + (
                f" (job {violation.job})" if violation.job else ""
            )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    yield from ("| " + " | ".join(row) + " |" for row in rows)
    yield ""
