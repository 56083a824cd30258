"""The dead that nobody waits for are reaped, and nobody else's."""

import subprocess

import pytest

from horae.worker import orphans, tree
from horae.worker.orphans import Orphans

from .conftest import eventually


@pytest.fixture
def orphan():
    """A dead process that lost its parent and came to us."""
    tree.become_subreaper()
    return int(
        subprocess.run(["sh", "-c", "sleep 0.1 > /dev/null & echo $!"], stdout=subprocess.PIPE, check=True).stdout
    )


async def test_an_orphan_that_was_dead_for_long_is_reaped(orphan, monkeypatch):
    reaper = Orphans()
    await eventually(lambda: tree.look(orphan).state == "Z")
    reaper.reap()
    assert tree.look(orphan) is not None, "somebody may be about to reap it"
    monkeypatch.setattr(orphans, "LONG", 0.0)
    reaper.reap()
    assert tree.look(orphan) is None
