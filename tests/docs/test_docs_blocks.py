"""Every code block of README.md and docs/*.md runs."""

from pathlib import Path

import pytest

from .pages import PAGES, blocks_of
from .stage import Stage

DRAWINGS = frozenset({"", "mermaid"})
RUNS = {page: [block for block in blocks_of(page) if block.language not in DRAWINGS] for page in PAGES}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", [page for page in PAGES if RUNS[page]], ids=lambda page: page.name)
def test_every_block_of_a_page_runs(page: Path, stage: Stage) -> None:
    for block in RUNS[page]:
        if block.not_run is None:
            stage.run(block)
