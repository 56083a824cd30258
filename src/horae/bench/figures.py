"""Figures, and what the project demands of itself.

A figure is the median of its rounds, with the lowest and the highest beside it: machines are noisy, and one number
alone hides that. `must` and `aim` come from the table of targets, so that no scenario can judge itself by another.
"""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec


class Target(msgspec.Struct, frozen=True):
    must: float
    aim: float
    more_is_better: bool = False


TARGETS: Final[Mapping[tuple[str, str], Target]] = {
    ("drain", "rate"): Target(30_000, 70_000, more_is_better=True),
    ("drain", "wal"): Target(1200, 800),
    ("submit-bulk", "rate"): Target(50_000, 100_000, more_is_better=True),
    ("submit-single", "concurrent_rate"): Target(8000, 12_000, more_is_better=True),
    ("submit-single", "sequential_rate"): Target(1000, 1500, more_is_better=True),
    ("latency", "start_p50"): Target(5, 2),
    ("latency", "start_p99"): Target(15, 4),
    ("punctuality", "lag_p99"): Target(20, 10),
    ("herd", "last_of_1000"): Target(200, 60),
    ("herd", "last_of_10000"): Target(2000, 500),
    ("cron", "herd_last"): Target(2000, 500),
    ("cron", "idle"): Target(5, 2),
    ("deep", "cost"): Target(20, 10),
    ("snapshot", "cost"): Target(20, 10),
    ("tenants", "cost"): Target(20, 10),
    ("flood", "wait_p99"): Target(1000, 100),
    ("fairness", "wait_p99"): Target(1000, 100),
    ("fairness", "deviation"): Target(5, 2),
    ("fairness", "jain"): Target(0.99, 0.999, more_is_better=True),
    ("limits", "most_at_once"): Target(1, 1),
    ("lanes", "cost_beside"): Target(20, 10),
    ("lanes", "cost_through"): Target(20, 10),
    ("kinds", "function"): Target(1, 0.1),
    ("kinds", "script"): Target(50, 20),
    ("kinds", "container"): Target(500, 250),
    ("memory", "server_memory"): Target(250, 150),
    ("console", "page_p99"): Target(300, 100),
    ("console", "worst_page_p99"): Target(300, 100),
    ("console", "tab_memory"): Target(200, 100),
    ("console", "tab_frame_p50"): Target(17, 16.7),
    ("console", "tab_growth"): Target(50, 10),
    ("failover", "all_elsewhere"): Target(20, 16),
    ("failover", "overlaps"): Target(0, 0),
}


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    scenario: str
    metric: str
    value: float
    unit: str
    must: float | None
    aim: float | None
    low: float
    """The lowest of the rounds; with `high` the spread."""
    high: float
    rounds: int
    settings: dict[str, Any]
    versions: dict[str, str]

    def verdict(self) -> str | None:
        """How the value stands to its target; None without one."""
        target = TARGETS.get((self.scenario, self.metric))
        if target is None:
            return None
        sign = -1 if target.more_is_better else 1
        if sign * self.value <= sign * target.aim:
            return "aim"
        return "must" if sign * self.value <= sign * target.must else "missed"


class Chart(msgspec.Struct, frozen=True):
    """Lines to draw: points by the name of the line."""

    title: str
    x: str
    y: str
    lines: dict[str, list[tuple[float, float]]]


class Notes:
    """What one scenario found, in the order of finding."""

    def __init__(self, scenario: str, settings: dict[str, Any], versions: dict[str, str]) -> None:
        self.scenario = scenario
        self.settings = settings
        self.versions = versions
        self.figures: list[Figure] = []
        self.charts: list[Chart] = []

    def figure(self, metric: str, values: Sequence[float], unit: str) -> None:
        target = TARGETS.get((self.scenario, metric))
        self.figures.append(
            Figure(
                scenario=self.scenario,
                metric=metric,
                value=rounded(statistics.median(values)),
                unit=unit,
                must=target.must if target else None,
                aim=target.aim if target else None,
                low=rounded(min(values)),
                high=rounded(max(values)),
                rounds=len(values),
                settings=self.settings,
                versions=self.versions,
            )
        )

    def percentiles(self, name: str, rounds: Sequence[Sequence[float]], unit: str) -> None:
        """The median and the 99th percentile of each round's samples, and a chart of all of them."""
        for label, share in (("p50", 0.5), ("p99", 0.99)):
            self.figure(f"{name}_{label}", [percentile(samples, share) for samples in rounds], unit)
        lines = {f"round {number}": distribution(samples) for number, samples in enumerate(rounds, 1)}
        self.charts.append(Chart(f"{self.scenario}: {name}", unit, "share of samples", lines))


def percentile(samples: Sequence[float], share: float) -> float:
    """The sample that so many are not above: always one that was seen, never one between."""
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def distribution(samples: Sequence[float]) -> list[tuple[float, float]]:
    ordered = sorted(samples)
    return [(value, (number + 1) / len(ordered)) for number, value in enumerate(ordered)]


def rounded(value: float) -> float:
    """Four digits say all that a measurement knows."""
    return float(f"{value:.4g}") if abs(value) < 10_000 else float(round(value))
