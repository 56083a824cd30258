"""Charts of what was measured. matplotlib draws them; it comes with the extra `bench`."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from horae.bench.figures import Chart
from horae.model.errors import SetupError

COLUMNS = 2


def check(path: Path) -> None:
    """Whether there will be a picture, asked before the long measurement."""
    if find_spec("matplotlib") is None:
        raise SetupError("--plot needs matplotlib: pip install 'horae[bench]'")
    if not path.resolve().parent.is_dir():
        raise SetupError(f"--plot: there is no folder {path.resolve().parent}")


def draw(charts: Sequence[Chart], path: Path) -> None:
    from matplotlib.figure import Figure as Picture

    columns = min(COLUMNS, len(charts))
    rows = -(-len(charts) // columns)
    picture = Picture(figsize=(6.4 * columns, 3.6 * rows), layout="constrained")
    for number, chart in enumerate(charts, 1):
        panel = picture.add_subplot(rows, columns, number)
        for name, points in chart.lines.items():
            panel.plot(*zip(*points, strict=True), label=name)
        panel.set(title=chart.title, xlabel=chart.x, ylabel=chart.y, ylim=(0, None))
        panel.grid(alpha=0.3)
        panel.legend()
    picture.savefig(path, dpi=120)
