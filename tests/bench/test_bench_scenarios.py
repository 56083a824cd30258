"""Each scenario, tiny: it starts server and workers, runs, and tells well-formed figures. How fast is not judged."""

from typing import Any

import pytest

from horae.bench.browser import missing
from horae.bench.catalogue import SCENARIOS
from horae.bench.figures import TARGETS, Figure, Notes
from horae.bench.measuring import measure_on, settle
from horae.bench.progress import Screen
from horae.store.embedded import Cluster

SMALL: dict[str, dict[str, Any]] = {
    "submit-single": {"seconds": 0.2, "connections": 4},
    "submit-bulk": {"jobs": 200, "batch": 50},
    "drain": {"jobs": 200},
    "latency": {"jobs": 3},
    "punctuality": {"jobs": 5},
    "herd": {"jobs": 50},
    "cron": {"jobs": 20, "pending": 100, "seconds": 0.2},
    "deep": {"jobs": 200, "pending": 500, "tenants": 5},
    "snapshot": {"jobs": 200},
    "tenants": {"jobs": 200, "tenants": 5},
    "flood": {"pending": 80_000, "seconds": 0.1},
    "fairness": {"pending": 120_000, "tenants": 20, "seconds": 0.3, "connections": 2},
    "limits": {"jobs": 200, "lanes": 20},
    "lanes": {"jobs": 200, "pending": 2000, "lanes": 20, "tenants": 5},
    "kinds": {"jobs": 100},
    "memory": {"pending": 200, "seconds": 0.1},
    "console": {"jobs": 1, "pending": 500, "tenants": 5, "seconds": 0.5},
}
MAY_BE_NEGATIVE = {"cost", "cost_beside", "cost_through"}


async def run(running: Cluster, scenario: str, given: dict[str, Any]) -> Notes:
    notes = await measure_on(running, scenario, settle(scenario, {"rounds": 1, **given}), Screen())
    for figure in notes.figures:
        check(figure)
    assert notes.charts
    return notes


def check(figure: Figure) -> None:
    assert figure.low <= figure.value <= figure.high
    assert figure.value >= 0 or figure.metric in MAY_BE_NEGATIVE
    assert figure.unit
    assert {"horae", "python", "postgresql"} <= figure.versions.keys()
    assert {"cpus", "load_average", "jobs"} <= figure.settings.keys()


def test_every_scenario_is_tried() -> None:
    assert SMALL.keys() | {"failover"} == SCENARIOS.keys()


@pytest.mark.timeout(600)  # that of the console starts a browser four times, which a busy machine takes long for
@pytest.mark.parametrize("scenario", SMALL)
async def test_a_scenario_tells_well_formed_figures(scenario: str, bench_cluster: Cluster) -> None:
    notes = await run(bench_cluster, scenario, SMALL[scenario])

    left_out = ("last_of", "tab_") if missing() else ("last_of",)
    demanded = {metric for name, metric in TARGETS if name == scenario and not metric.startswith(left_out)}
    assert demanded <= {figure.metric for figure in notes.figures}


async def test_a_failover_never_runs_a_job_twice_at_once(bench_cluster: Cluster) -> None:
    """Takes as long as a worker's lease."""
    notes = await run(bench_cluster, "failover", {"jobs": 20})

    found = {figure.metric: figure.value for figure in notes.figures}
    assert found["overlaps"] == 0
    assert found["all_elsewhere"] > 0
