"""`python -m race`: the race, its figures as lines of JSON, its tables and charts as a page."""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from horae.model.errors import HoraeError
from race import page, results
from race.catalogue import PEERS
from race.plan import Visit, due_in, visits
from race.settings import QUICK, Settings
from race.track import run_visit
from race.workloads import ONCE, WORKLOADS, Values

app = App(name="race", help="Horae beside its peers: same machine, same run, in turn.")
ALL = "all"
Names = Annotated[str, Parameter(help="Some of them, with commas between, or all.")]


@app.default
def race(
    *,
    peers: Names = ALL,
    workloads: Names = ALL,
    rounds: int = 3,
    quick: bool = False,
    json: Path = Path("race.jsonl"),
    plot: Path | None = None,
) -> None:
    """Runs it. What could not be run is said, with the reason, and the others go on; the exit code tells of it, too."""
    chosen, loads = _known(peers, PEERS), _known(workloads, WORKLOADS)
    asyncio.run(_run(chosen, loads, rounds, QUICK if quick else Settings(), json))
    show(json, plot=plot)
    if results.failures(results.read([json])):
        sys.exit(1)


@app.command
def show(*files: Path, write: Path | None = None, plot: Path | None = None) -> None:
    """The tables of races that were run: on the screen, or into a page between its markers."""
    samples = results.read(files)
    found = results.results(samples)
    text = f"{_circumstances(files)}\n\n{page.rendered(found, results.failures(samples))}"
    if plot is not None:
        page.draw(found, plot)
        text = f"![The figures as bars]({plot.name})\n\n{text}"
    if write is not None:
        write.write_text(page.placed(write.read_text(), text))
    else:
        print(text)


def _circumstances(files: Sequence[Path]) -> str:
    day = datetime.fromtimestamp(max(file.stat().st_mtime for file in files), UTC)
    return f"Measured on {day:%Y-%m-%d} on a machine with {os.cpu_count()} processors."


async def _run(peers: list[str], workloads: list[str], rounds: int, settings: Settings, json: Path) -> None:
    results.begin(json)
    for visit in visits(peers, rounds):
        await run_visit(PEERS[visit.peer], due_in(visit, workloads, ONCE), settings, partial(_tell, json, visit))


def _tell(json: Path, visit: Visit, workload: str, outcome: Values | HoraeError) -> None:
    if isinstance(outcome, HoraeError):
        shown = str(outcome)
        results.append(json, [results.Sample(visit.peer, visit.round, workload, why=shown)])
    else:
        results.append(json, [results.Sample(visit.peer, visit.round, name, value) for name, value in outcome.items()])
        shown = ", ".join(f"{name} {page.number(value)}" for name, value in outcome.items())
    print(f"round {visit.round}, {visit.peer}, {workload}: {shown}", file=sys.stderr, flush=True)


def _known(names: str, among: Mapping[str, object]) -> list[str]:
    chosen = list(among) if names == ALL else names.split(",")
    if unknown := set(chosen) - set(among):
        sys.exit(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(among)}")
    return chosen


if __name__ == "__main__":
    app()
