"""Groups that dead agents left are found and removed, whatever others do in the same trees."""

from pathlib import Path
from threading import Event, Thread

import pytest

from horae.worker.sandbox import groups


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stands for a tree of control groups."""
    monkeypatch.setattr(groups, "_trees", lambda: [tmp_path])
    return tmp_path


def come_and_go(folder: Path, over: Event) -> None:
    while not over.is_set():
        inner = folder / "container" / "inner"
        inner.mkdir(parents=True)
        inner.rmdir()
        inner.parent.rmdir()


def test_only_the_groups_of_the_dead_agent_go(tree: Path) -> None:
    dead, alive = tree / "above" / "horae-dead-job-1", tree / "horae-alive-job-1"
    for folder in (dead / "engine" / "own", alive):
        folder.mkdir(parents=True)
    groups.sweep_everywhere("dead")
    assert not dead.exists()
    assert alive.exists()


def test_groups_of_others_that_come_and_go_meanwhile_do_not_matter(tree: Path) -> None:
    over = Event()
    others = [Thread(target=come_and_go, args=(tree / f"engine-{n}", over)) for n in range(2)]
    for other in others:
        other.start()
    try:
        for _ in range(300):
            groups.sweep_everywhere("dead")
    finally:
        over.set()
        for other in others:
            other.join()
