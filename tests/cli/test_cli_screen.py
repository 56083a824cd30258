"""Tables on terminals of all widths."""

import io

import pytest
from rich.console import Console

from horae.cli import screen

ROW = ("0198a000-0000-7000-8000-000000000001", "a-task-with-a-name", "default", "a remark of some length")
COLUMNS = ("id", "task", "queue", "remark")


def rendered(width: int, monkeypatch: pytest.MonkeyPatch) -> str:
    narrow = Console(file=io.StringIO(), width=width)
    monkeypatch.setattr(screen, "console", lambda: narrow)
    narrow.print(screen.table(COLUMNS, [ROW], spare=("queue",)))
    assert isinstance(narrow.file, io.StringIO)
    return narrow.file.getvalue()


def test_a_wide_terminal_shows_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = rendered(200, monkeypatch)
    assert all(cell in shown for cell in ROW)


def test_a_narrow_one_leaves_out_what_can_be_spared_and_keeps_the_id(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = rendered(85, monkeypatch)
    assert "queue" not in shown
    assert all(cell in shown for cell in (ROW[0], ROW[1], ROW[3]))
    assert ROW[0] in rendered(60, monkeypatch)


def test_a_table_without_rows_has_its_head(monkeypatch: pytest.MonkeyPatch) -> None:
    assert screen.table(COLUMNS, []).columns[0].header == "id"
