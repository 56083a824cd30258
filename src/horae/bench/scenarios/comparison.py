"""What a burden costs: drains without it and with it in turn (A, B, A, B …), in the same run.

Machines change their pace from minute to minute; two measurements far apart say little about the difference between
them. Each pair gives one share, and the spread of the shares tells how much to believe.
"""

from collections.abc import Awaitable, Callable

from horae.bench.bench import Bench
from horae.bench.figures import Chart
from horae.bench.scenarios.drain import Drained

Leg = Callable[[str], Awaitable[Drained]]


async def compare(bench: Bench, without: Leg, burdened: Leg) -> None:
    """`cost` is how many percent of the rate the burden takes."""
    pairs = [
        (await without(f"round {number}, without"), await burdened(f"round {number}, with"))
        for number in range(1, bench.settings.rounds + 1)
    ]
    notes = bench.notes
    notes.figure("cost", [100 * (1 - b.rate / a.rate) for a, b in pairs], "%")
    notes.figure("rate_without", [a.rate for a, _ in pairs], "jobs/s")
    notes.figure("rate_with", [b.rate for _, b in pairs], "jobs/s")
    lines = {"without": pairs[-1][0].curve, "with": pairs[-1][1].curve}
    notes.charts.append(Chart(f"{notes.scenario}, last round", "seconds", "jobs/s", lines))
