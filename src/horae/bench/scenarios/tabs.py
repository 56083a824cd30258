"""What an open tab of the console costs the browser under load: its memory and frames, and what a day would add."""

from typing import Final

from horae.bench.bench import Bench
from horae.bench.browser import Stay, missing, visit
from horae.bench.figures import Chart, distribution, percentile
from horae.bench.installation import Installation
from horae.bench.vigil import Vigil, keep_vigil

TABS: Final = {"home": "/console/", "jobs": "/console/jobs"}
LATE_MS: Final = 20.0
VIGIL_TIMES: Final = 3
"""A tab that is left open is watched for so much longer than one whose frames are counted."""


def can_look(bench: Bench) -> bool:
    reason = missing()
    if reason is not None:
        bench.notes.settings["browser"] = f"left out: {reason}"
    return reason is None


async def look_at_tabs(bench: Bench, place: Installation) -> None:
    with bench.screen.step(f"two pages open in a browser for {bench.settings.seconds:g} s each"):
        stays = await visit(place.url, place.key, TABS, bench.settings.seconds)
    for name, stay in stays.items():
        _note_stay(bench, name, stay)
    bench.notes.figure("tab_memory", [max(stay.memory for stay in stays.values())], "MB")
    bench.notes.figure("tab_frame_p50", [max(percentile(stay.frames, 0.5) for stay in stays.values())], "ms")
    lines = {name: distribution(stay.frames) for name, stay in stays.items()}
    bench.notes.charts.append(Chart("frames of an open tab", "ms", "share of frames", lines))


async def leave_tabs_open(bench: Bench, place: Installation) -> None:
    """What cannot be told from so many readings must not pass: the growth is the most that they leave possible."""
    seconds = VIGIL_TIMES * bench.settings.seconds
    with bench.screen.step(f"the same left open at a hastened pace, for {seconds:g} s each"):
        vigils = await keep_vigil(place.url, place.key, TABS, seconds)
    for name, vigil in vigils.items():
        _note_vigil(bench, name, vigil)
    bench.notes.figure("tab_growth", [max(vigil.heap.at_most for vigil in vigils.values())], "MB/day")


def _note_stay(bench: Bench, name: str, stay: Stay) -> None:
    figure = bench.notes.figure
    figure(f"tab_{name}_frame_p50", [percentile(stay.frames, 0.5)], "ms")
    late = sum(frame > LATE_MS for frame in stay.frames) / len(stay.frames)
    figure(f"tab_{name}_late_frames", [100 * late], "%")
    figure(f"tab_{name}_heap_first", [stay.heap[0]], "MB")
    figure(f"tab_{name}_heap_last", [stay.heap[-1]], "MB")
    figure(f"tab_{name}_nodes_first", [stay.nodes[0]], "nodes")
    figure(f"tab_{name}_nodes_last", [stay.nodes[-1]], "nodes")
    figure(f"tab_{name}_memory", [stay.memory], "MB")
    figure(f"tab_{name}_resident", [stay.resident], "MB")
    figure(f"tab_{name}_requests", [stay.requests], "1/s")


def _note_vigil(bench: Bench, name: str, vigil: Vigil) -> None:
    figure = bench.notes.figure
    figure(f"tab_{name}_pulses", [vigil.pulses], "pulses")
    figure(f"tab_{name}_growth", [vigil.heap.a_day], "MB/day")
    figure(f"tab_{name}_growth_most", [vigil.heap.at_most], "MB/day")
    figure(f"tab_{name}_nodes_growth", [vigil.nodes.sure], "nodes/day")
    figure(f"tab_{name}_listeners_growth", [vigil.listeners.sure], "listeners/day")
