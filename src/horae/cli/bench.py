"""`horae bench`: how fast this machine runs Horae, measured on a throw-away installation."""

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from horae.cli.failure import ERROR, INTERRUPTED
from horae.cli.journal import open_journal
from horae.cli.running import listening, run, unless
from horae.cli.screen import console, note, print_lines, table

if TYPE_CHECKING:
    from horae.bench.figures import Figure, Notes

LIST: Final = "list"
ALL: Final = "all"
COLUMNS: Final = ("scenario", "metric", "value", "unit", "spread", "must", "aim", "verdict")


def bench(
    scenario: str,
    /,
    *,
    jobs: int | None = None,
    seconds: float | None = None,
    rounds: int | None = None,
    slots: int | None = None,
    connections: int | None = None,
    batch: int | None = None,
    pending: int | None = None,
    tenants: int | None = None,
    lanes: int | None = None,
    strict: bool = False,
    json: bool = False,
    plot: str | None = None,
) -> int:
    """Measure a scenario on a throw-away Horae of its own: durable database, server, worker, load, all on this machine.

    `horae bench list` names the scenarios; `horae bench all` measures one after another.

    Parameters
    ----------
    scenario
        A scenario's name, `list` or `all`.
    jobs
        Jobs in a round; for latencies, samples in a round.
    seconds
        How long a round lasts, where time ends it.
    rounds
        How often to measure; the median and the spread are reported.
    slots
        Child processes of the worker (2).
    connections
        Connections of the load generator.
    batch
        Jobs in one bulk request (1000).
    pending
        How many jobs lie in wait, for the scenarios that have a backlog.
    tenants
        Over how many tenants, for the scenarios that have many (1000).
    lanes
        Over how many lanes or concurrency keys, for the scenarios that have many (10000).
    strict
        Exit with code 1 when a figure misses what it must reach.
    json
        Print a line of JSON for each figure.
    plot
        Draw what was measured into this file, such as figures.png.
    """
    given = {"jobs": jobs, "seconds": seconds, "rounds": rounds, "slots": slots, "connections": connections}
    given |= {"batch": batch, "pending": pending, "tenants": tenants, "lanes": lanes}
    if scenario == LIST:
        return _list(json=json)
    open_journal("warning", "bench")
    target = None if plot is None else _plot_file(plot)
    found = run(_measure(scenario, given, json=json))
    if found is None:
        return INTERRUPTED
    if target is not None:
        _draw(found, target)
    missed = [figure for notes in found for figure in notes.figures if figure.verdict() == "missed"]
    return ERROR if strict and missed else 0


def _list(*, json: bool) -> int:
    from horae.bench.catalogue import SCENARIOS

    rows = SCENARIOS.items()
    if json:
        print_lines({"scenario": name, "summary": row.summary, "settings": row.defaults} for name, row in rows)
    else:
        console().print(table(("scenario", "what it measures"), [(name, row.summary) for name, row in rows]))
    return 0


async def _measure(scenario: str, given: dict[str, Any], *, json: bool) -> "list[Notes] | None":
    """Prints what each scenario found as soon as it is there. None when told to stop: by then everything is gone."""
    from horae.bench.catalogue import SCENARIOS
    from horae.bench.measuring import measure, settle
    from horae.bench.progress import Screen

    names = list(SCENARIOS) if scenario == ALL else [scenario]
    settings = {name: settle(name, given) for name in names}
    found: list[Notes] = []
    with listening() as orders:
        for name in names:
            with Screen() as screen:
                work = asyncio.ensure_future(measure(name, settings[name], screen))
                if not await unless(work, orders.stop):
                    return None
            found.append(work.result())
            print_figures(found[-1].figures, json=json)
    return found


def print_figures(figures: "Sequence[Figure]", *, json: bool) -> None:
    if json:
        print_lines(figures)
        return
    first = figures[0]
    console().print(table(COLUMNS, (_row(figure) for figure in figures)))
    machine = f"{first.settings['cpus']} processors, load average {first.settings['load_average']} at the start"
    note(f"{machine}; {', '.join(f'{name} {number}' for name, number in first.versions.items())}")
    if mix := first.settings.get("mix"):
        note(f"pending: {mix}")


def _row(figure: "Figure") -> tuple[str, ...]:
    spread = f"{_number(figure.low)} – {_number(figure.high)}" if figure.rounds > 1 else ""
    return (
        figure.scenario, figure.metric, _number(figure.value), figure.unit, spread,
        _number(figure.must), _number(figure.aim), figure.verdict() or "",
    )  # fmt: skip


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.10g}"


def _plot_file(name: str) -> Path:
    """Looked at before the measurement, because afterwards would be late."""
    from horae.bench.drawing import check

    path = Path(name).expanduser()
    check(path)
    return path


def _draw(found: "Iterable[Notes]", path: Path) -> None:
    from horae.bench.drawing import draw

    draw([chart for notes in found for chart in notes.charts], path)
    note(f"drawn into {path}")
