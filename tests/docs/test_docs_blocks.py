"""Every code block of README.md and docs/*.md runs, or says why not."""

import re
import subprocess
from pathlib import Path

import pytest

from horae.bench.catalogue import SCENARIOS

from .answers import same_json, same_text
from .pages import PAGES, ROOT, blocks_of
from .stage import ELSEWHERE, Stage, check_arguments

DRAWINGS = frozenset({"", "mermaid"})
RUNS = {page: [block for block in blocks_of(page) if block.language not in DRAWINGS] for page in PAGES}
NOT_RUN: dict[str, list[str]] = {}
"""Keep these few."""


@pytest.mark.timeout(600)
@pytest.mark.parametrize("page", [page for page in PAGES if RUNS[page]], ids=lambda page: page.name)
def test_every_block_of_a_page_runs(page: Path, stage: Stage) -> None:
    for block in RUNS[page]:
        if block.not_run is None:
            stage.run(block)


def test_the_blocks_that_do_not_run_are_few_and_known() -> None:
    found: dict[str, list[str]] = {}
    for page, blocks in RUNS.items():
        for block in blocks:
            if block.not_run is not None:
                found.setdefault(str(page.relative_to(ROOT)), []).append(block.not_run)
    assert found == NOT_RUN


@pytest.mark.parametrize(
    "line",
    sorted({line for page in PAGES for b in RUNS[page] for line in b.text.splitlines() if ELSEWHERE.match(line)}),
)
def test_commands_that_run_for_long_are_there(line: str) -> None:
    """`make` installs and runs until Ctrl-C, `bench` measures for minutes: here only that they are what they seem."""
    if line.startswith("make "):
        assert re.search(rf"^{line.split()[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
        return
    check_arguments(line.partition(" > ")[0])
    if line.startswith("horae bench "):
        assert line.split()[2] in {*SCENARIOS, "all"}


def test_make_up_runs_the_example_and_its_stream() -> None:
    told = subprocess.run(["make", "--dry-run", "up"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    (line,) = re.findall(r"^exec \S+/(horae up .*)$", told, re.MULTILINE)
    assert line.split()[-4:] == ["--app", "examples/demo.py:app", "--with", "examples/stream.py"]
    check_arguments(line)


def test_an_answer_that_differs_is_found() -> None:
    assert same_text("id  …\n01…", "id     name\n01ab")
    assert not same_text("3", "4")
    assert not same_text("3\n4", "3")
    assert same_json('{"id": "01…", "n": 1}', '{"n": 7, "id": "01ab"}')
    assert not same_json('{"id": "01…"}', '{"id": "01ab", "more": 1}')
    assert not same_json('{"state": "ready"}', '{"state": "running"}')
    assert not same_json('{"existing": true}', '{"existing": 1}')
    assert not same_json("[1]", "[1, 2]")


def test_a_command_that_is_not_there_is_found() -> None:
    with pytest.raises(Exception, match="nosuch"):
        check_arguments("horae up --nosuch 1")
