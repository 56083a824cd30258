"""`horae soak`: whether anything grows when Horae works for hours, on a throw-away installation."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from horae.cli.failure import ERROR, INTERRUPTED
from horae.cli.journal import open_journal
from horae.cli.running import listening, run, unless
from horae.cli.screen import console, note
from horae.model.durations import parse_duration

if TYPE_CHECKING:
    from collections.abc import Callable

    from horae.bench.soak.report import Report
    from horae.bench.soak.soak import Plan


def soak(*, time: str = "1h", rate: float = 100, report: str = "soak") -> int:
    """Put a throw-away Horae under a mixed load and say for everything that could grow whether it does.

    The exit code is 1 when something is not flat, a call failed or a job did not end. Needs a C compiler, and for the
    picture matplotlib: pip install 'horae[bench]'.

    Parameters
    ----------
    time
        How long: 10m, 1h, 8h. Under half an hour, what only fills at first may look like growth.
    rate
        Jobs a second in bulk, beside some twenty a second of every other kind.
    report
        The folder for soak.md, soak.json and soak.svg.
    """
    from horae.bench import drawing
    from horae.bench.soak.report import markdown, write
    from horae.bench.soak.soak import Plan

    open_journal("warning", "soak")
    folder = Path(report).expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    drawing.check(folder / "soak.svg")
    plan = Plan(seconds=parse_duration(time, "time").total_seconds(), rate=rate)
    found = run(_soak(plan, lambda report: write(report, folder)))
    if found is None:
        return INTERRUPTED
    console().print(markdown(found), markup=False)
    note(f"written into {folder}")
    return 0 if found.passes else ERROR


async def _soak(plan: "Plan", keep: "Callable[[Report], None]") -> "Report | None":
    """None when told to stop: by then everything is gone."""
    from horae.bench.progress import Screen
    from horae.bench.soak.soak import soak as soak_for

    with listening() as orders, Screen() as screen:
        work = asyncio.ensure_future(soak_for(plan, screen, keep))
        return work.result() if await unless(work, orders.stop) else None
