"""The suite convicts: each bug that is planted is found by the checker it names, in a scene of seconds, and in the same
scene without it there is nothing to find. Scenes that outlast a lease are for the full run (CHAOS=full)."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from .checkers import CHECKERS, judge
from .faults import FAULTS
from .planted import PLANTED
from .scenes import LONG, PLAYED, WORKED, Scene
from .stage import open_stage

SCENES = PLAYED | WORKED | (LONG if os.environ.get("CHAOS") == "full" else {})


@pytest.mark.parametrize("name", SCENES)
async def test_a_planted_bug_is_caught(name: str, database: str, tmp_path: Path) -> None:
    bug = PLANTED[name]
    async with open_stage(database, tmp_path, planted=name) as stage:
        await SCENES[name](stage)
        case = await stage.case()
    found = judge(case)
    assert {violation.checker for violation in found} & set(bug.checker), found


@pytest.mark.timeout(400)
@pytest.mark.parametrize("scenes", [PLAYED, *({name: SCENES[name]} for name in SCENES if name not in PLAYED)])
async def test_nothing_is_found_without_a_bug(scenes: Mapping[str, Scene], database: str, tmp_path: Path) -> None:
    async with open_stage(database, tmp_path, planted=None) as stage:
        for scene in dict.fromkeys(scenes.values()):
            await scene(stage)
        case = await stage.case()
    assert judge(case) == []
    assert case.runs


def test_every_bug_has_its_scene_and_names_checkers_and_faults_that_there_are() -> None:
    assert {*PLAYED, *WORKED, *LONG} == PLANTED.keys()
    for bug in PLANTED.values():
        assert CHECKERS.keys() >= set(bug.checker)
        assert FAULTS.keys() >= set(bug.faults)
