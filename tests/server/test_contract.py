"""schemathesis reads the API's own description and sends what it allows and what it does not: no server error, ever."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error

from horae.model.roles import Role
from horae.testing.database import cloned_database

from .house import open_house

FOR_EVER = {"/v1/events", "/v1/jobs/{job_id}/events", "/v1/jobs/{job_id}/logs"}
"""Streams do not end while a job lives; tests of their own read them."""


class Neighbourhood(threading.Thread):
    """A server in a loop of its own, since schemathesis is synchronous."""

    def __init__(self, cluster_dsn: str, folder: Path) -> None:
        super().__init__(daemon=True)
        self._cluster_dsn = cluster_dsn
        self._folder = folder
        self.ready = threading.Event()

    def run(self) -> None:
        asyncio.run(self._live())

    async def _live(self) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        async with cloned_database(self._cluster_dsn) as dsn, open_house(dsn, self._folder) as house:
            self.url, self.keys = house.url, house.keys
            self.worker = (await house.worker()).id
            self.jobs = [await house.submit(), await house.submit(delay=3600)]
            self.ready.set()
            await self._over.wait()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self.join(30)


@pytest.fixture
def neighbourhood(cluster_dsn: str, tmp_path: Path) -> Iterator[Neighbourhood]:
    served = Neighbourhood(cluster_dsn, tmp_path)
    served.start()
    assert served.ready.wait(60)
    yield served
    served.close()


@pytest.mark.timeout(600)  # It has many routes to try.
@pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisDeprecationWarning")  # schemathesis' own
def test_nothing_that_is_sent_makes_a_server_error(neighbourhood: Neighbourhood):
    schema = schemathesis.openapi.from_url(f"{neighbourhood.url}/openapi.json")
    tried = 0
    for result in schema.get_all_operations():
        operation = result.ok()
        if operation.path in FOR_EVER:
            continue
        _try(operation, neighbourhood)
        tried += 1
    assert tried > 30


def _try(operation, served: Neighbourhood) -> None:
    role = Role.WORKER if "worker_id" in operation.path and operation.method == "post" else Role.ADMIN
    key = served.keys["red", role]

    @settings(
        max_examples=8,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def run(case) -> None:
        if "worker_id" in (case.path_parameters or {}):
            case.path_parameters["worker_id"] = str(served.worker)
        if "job_id" in (case.path_parameters or {}):
            case.path_parameters["job_id"] = served.jobs[0]
        if isinstance(case.body, dict) and "wait" in case.body:
            case.body["wait"] = 0
        if case.query and "wait" in case.query:
            case.query["wait"] = "0"
        response = case.call(headers={"authorization": f"Bearer {key}"}, timeout=30)
        case.validate_response(response, checks=[not_a_server_error])

    run()
