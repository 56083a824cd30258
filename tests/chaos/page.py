"""The report of a campaign as Markdown: what a reader wants to know first."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from .case import CALM, FIRE
from .report import BEYOND, Report
from .summary import Spread, Struck


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
    yield from _reasons(report)
    if report.convictions:
        yield from _table(
            ("planted bug", "caught by"),
            [(row.bug, ", ".join(f"{name} ({n})" for name, n in row.caught_by.items()) if row.caught else "**nothing**")
             for row in report.convictions],
        )  # fmt: skip
    yield from _listed("Not brought about:", report.unproven)
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
    if not report.sound:
        return "FAILED"
    if report.unproven:
        return f"FAILED: nothing found, but {len(report.unproven)} things were not brought about"
    return "all promises kept" if report.seeds else "all planted bugs caught; no seed was run"


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
    fired, skipped = (sum(seed.ticks.get(state, 0) for seed in report.seeds) for state in ("fired", "skipped"))
    yield "ticks fired / skipped as a run had not ended", f"{fired:,} / {skipped:,}"
    yield "faults struck / not possible at that moment", f"{_struck(report):,} / {_failed(report):,}"
    yield "runs of jobs", f"{sum(seed.runs for seed in report.seeds):,}"
    yield "**lost**", str(found["lost"])
    yield "**run twice at once**", str(found["overlaps"])
    yield "run twice at once by a host frozen as a whole", str(sum(seed.frozen_overlaps for seed in report.seeds))
    yield "done more than once, one after the other", str(sum(seed.rerun for seed in report.seeds))
    yield "stale completions refused", f"{sum(seed.stale_refused for seed in report.seeds):,}"
    yield "other violations", str(sum(found.values()) - found["lost"] - found["overlaps"])
    yield (
        "after the last fault: all parts at work again, longest",
        f"{max((seed.well_seconds for seed in report.seeds), default=0):.1f} s",
    )
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


def _reasons(report: Report) -> Iterator[str]:
    """The last of each seed."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for seed in report.seeds:
        for name, kind in seed.faults.items():
            if kind.failed and kind.why:
                reasons[name].append(kind.why)
    lines = [f"`{name}`: " + "; ".join(dict.fromkeys(map(_one_line, whys))) for name, whys in sorted(reasons.items())]
    yield from _listed("Why some were not possible:", lines)


def _one_line(words: str, most: int = 200) -> str:
    return " ".join(words.split())[:most]


def _listed(head: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield from (head, "", *(f"- {line}" for line in lines), "")


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
