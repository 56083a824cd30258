"""The tables and charts of a race: Markdown between two markers of a page, and a picture."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from race.catalogue import PEERS
from race.environments import version
from race.results import Result, Results, Sample

BEGIN: Final = "<!-- race: begin; written by `make race` -->"
END: Final = "<!-- race: end -->"
NONE: Final = "–"
PARTS: Final = ("store", "server", "worker", "children")
WORDS: Final = 300
WIDTH: Final = 6.4
BAR: Final = 0.28


class Column(NamedTuple):
    figure: str
    head: str
    unit: str = ""
    more_is_better: bool | None = True
    """None: more is neither better nor worse, only told."""


RATES: Final = (
    Column("single", "submit one by one /s"),
    Column("bulk", "bulk submit /s"),
    Column("drain", "drain /s"),
    Column("drain cpu", "processor time a job, µs", more_is_better=False),
    Column("drain 10k", "drain, 10,000 waiting /s"),
    Column("drain 1m", "drain, a million waiting /s"),
    Column("waiting 1m", "of how many", more_is_better=None),
)
TIMES: Final = (
    Column("latency p50", "submit → start, idle, p50 ms", more_is_better=False),
    Column("latency p99", "p99 ms", more_is_better=False),
    Column("due p99", "1,000 due at once, p99 ms", more_is_better=False),
    Column("due last", "last ms", more_is_better=False),
    Column("due early", "started early", more_is_better=False),
)
KILLS: Final = (
    Column("kill interrupted", "running when killed", more_is_better=None),
    Column("kill unfinished", "not finished 45 s later", more_is_better=False),
    Column("kill doubled", "run to the end twice", more_is_better=False),
    Column("kill first", "restart → first start, s", more_is_better=False),
    Column("kill last", "restart → the interrupted have ended, s", more_is_better=False),
)
CHARTS: Final = (*RATES[:4], TIMES[0], TIMES[3]._replace(head="1,000 due at once, the last starts, ms"))


def rendered(found: Results, failed: Sequence[Sample] = ()) -> str:
    tables = [
        ("Rates", table(found, RATES)),
        ("Times", table(found, TIMES)),
        ("All workers killed under load, and started again 2 s later", table(found, KILLS)),
        (
            "Processor time of a drain by part, µs a job",
            table(found, [Column(f"drain cpu {part}", part, more_is_better=None) for part in PARTS]),
        ),
        ("What could not be measured", reasons(failed)),
        ("Settings and what they promise", promises()),
    ]
    return "\n\n".join(f"### {head}\n{rows}" for head, rows in tables if rows)


def table(found: Results, columns: Sequence[Column]) -> str:
    """A row for each peer that has one of these figures, in the order of the catalogue; the best is bold."""
    peers = [peer for peer in PEERS if any((peer, column.figure) in found for column in columns)]
    rows = [[PEERS[peer].title, *(cell(found, peer, column, peers) for column in columns)] for peer in peers]
    return markdown(["", *(column.head for column in columns)], rows) if rows else ""


def cell(found: Results, peer: str, column: Column, peers: Sequence[str]) -> str:
    result = found.get((peer, column.figure))
    if result is None:
        return NONE
    shown = number(result.median)
    values = {found[one, column.figure].median for one in peers if (one, column.figure) in found}
    if column.more_is_better is not None and len(values) > 1:
        best = max(values) if column.more_is_better else min(values)
        shown = f"**{shown}**" if result.median == best else shown
    return f"{shown}{spread(result)}"


def spread(result: Result) -> str:
    return f" ({number(result.low)} – {number(result.high)})" if result.rounds > 1 else ""


def number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def reasons(failed: Sequence[Sample]) -> str:
    """The last line says most, and is not as long as a page."""
    rows = [[PEERS[one.peer].title, str(one.round), one.figure, _short(one.why)] for one in failed]
    return markdown(["", "round", "workload", "why"], rows) if rows else ""


def _short(why: str) -> str:
    lines = why.strip().splitlines()
    return " … ".join(dict.fromkeys([lines[0], lines[-1]]))[:WORDS].replace("|", "/")


def promises() -> str:
    head = ["", "store", "settings", "a submission is answered when it is", "of an ended job it keeps"]
    rows = [[f"{p.title} {version(p)}", p.store, p.settings, p.accepted, p.kept] for p in PEERS.values()]
    return markdown(head, rows)


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def placed(text: str, new: str) -> str:
    """The page with what stands between the markers exchanged."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no section between {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}\n{new}\n{END}{after}"


def draw(found: Results, path: Path) -> None:
    """A chart of bars for each figure that was measured, the best on top. matplotlib comes with the extra `bench`."""
    from matplotlib.figure import Figure

    charts = [column for column in CHARTS if any(figure == column.figure for _, figure in found)]
    bars = max(sum(figure == column.figure for _, figure in found) for column in charts)
    rows = -(-len(charts) // 2)
    picture = Figure(figsize=(2 * WIDTH, rows * (bars * BAR + 1.2)), layout="constrained")
    for place, column in enumerate(charts, 1):
        ranked = sorted(
            ((r, p) for (p, f), r in found.items() if f == column.figure), reverse=not column.more_is_better
        )
        panel = picture.add_subplot(rows, 2, place)
        names, values = [PEERS[peer].title for _, peer in ranked], [result.median for result, _ in ranked]
        reach = [[r.median - r.low for r, _ in ranked], [r.high - r.median for r, _ in ranked]]
        colours = ["#b3541e" if name == "Horae" else "#8fa3b0" for name in names]
        panel.barh(names, values, xerr=reach, color=colours, error_kw={"linewidth": 0.8})
        panel.set(title=column.head, xscale="log")
        panel.grid(axis="x", alpha=0.3)
    picture.savefig(path)
