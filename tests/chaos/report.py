"""The report of a campaign, and what it comes to. `page` shows it to readers."""

import platform
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from os import cpu_count
from typing import Final, TypeVar

import msgspec

from .campaign import Order
from .case import Violation
from .summary import Summary

T = TypeVar("T")
BEYOND: Final = (
    "scripts, dependencies, checkpoints and sinks: the load has none of them; tests of their own break these",
    "a full disk of a server, of a worker or of the place for objects: only that of PostgreSQL is filled",
    "overload of a whole installation: one tenant submits three times its own quota for some seconds, no more",
    "several machines: all parts run on one, where losing power or the whole kernel is left out",
    "a call that somebody on the way sends to a second server as well: proxies must not (docs/operating.md)",
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
    faults_due: list[str] = []
    """All that the campaign is bound to have struck with."""

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
    def unstruck(self) -> list[str]:
        struck = {name for seed in self.seeds for name, kind in seed.faults.items() if kind.struck}
        return sorted(set(self.faults_due) - struck)

    @property
    def unproven(self) -> list[str]:
        """What the campaign was to bring about and has not: what it says of that is worth nothing."""
        accepted, unknown = (sum(seed.jobs[name] for seed in self.seeds) for name in ("ok", "unknown"))
        untried = bool(self.faults_due) and not any(seed.stale_refused for seed in self.seeds)
        return [
            *([] if self.seeds or self.convictions else ["nothing was run"]),
            *(f"the failpoint {name} was never reached" for name in self.unreached),
            *(f"the fault {name} never struck" for name in self.unstruck),
            *(["no stale completion had to be refused"] if untried else []),
            *([f"only {accepted:,} jobs were accepted, and {unknown:,} not answered"] if accepted < unknown else []),
        ]

    @property
    def sound(self) -> bool:
        """Nothing found as far as it has come, and every planted bug caught."""
        sound = [seed for seed in self.seeds if seed.planted is None]
        kept = all(not seed.violations and seed.drain_seconds is not None for seed in sound)
        return kept and all(conviction.caught for conviction in self.convictions)

    @property
    def verdict(self) -> bool:
        """Sound, nothing left out that was to be reached, and nothing left to do."""
        return self.sound and not (self.unproven or self.seeds_to_come or self.bugs_to_come)


def make_report(
    order: Order,
    seeds: list[Summary],
    *,
    postgres: str,
    commit: str,
    failpoints: Iterable[str] = (),
    faults_due: Iterable[str] = (),
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
        faults_due=sorted(faults_due),
        bugs=list(bugs),
        convictions=list(convictions),
        not_tested=not_tested or {},
    )


def merged(reports: Sequence[Report]) -> Report:
    """One report of several parts of a campaign. A seed that was run in two of them was run twice, and both count; a
    bug that got away once has got away. What is the same in two of them is one and the same."""
    *_, last = reports
    seeds = distinct(seed for report in reports for seed in report.seeds)
    planted = [conviction for report in reports for conviction in report.convictions]
    caught = {conviction.bug: conviction for conviction in planted if conviction.caught}
    return msgspec.structs.replace(
        last,
        wanted=sorted({seed for report in reports for seed in report.wanted}),
        seeds=sorted(seeds, key=lambda seed: seed.seed),
        failpoints=sorted({name for report in reports for name in report.failpoints}),
        faults_due=sorted({name for report in reports for name in report.faults_due}),
        bugs=list(dict.fromkeys(bug for report in reports for bug in report.bugs)),
        convictions=[*caught.values(), *distinct(conviction for conviction in planted if not conviction.caught)],
    )


def distinct(values: Iterable[T]) -> list[T]:
    """Without those that are equal to one before."""
    found: list[T] = []
    for value in values:
        if value not in found:
            found.append(value)
    return found


def convicted(bug: str, checkers: Sequence[str], violations: Iterable[Violation]) -> Conviction:
    return Conviction(bug, list(checkers), dict(Counter(violation.checker for violation in violations)))
