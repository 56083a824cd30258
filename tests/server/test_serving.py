"""Starting, stopping, and what the server says of itself."""

import asyncio
import gc
import socket
from urllib.parse import urlsplit

import asyncpg
import pytest

from horae import heap
from horae.model.errors import SetupError, UnsafeStore
from horae.server import serving
from horae.server.calls import Call
from horae.server.protocol import Corked
from horae.server.routes import ROUTES
from horae.server.serving import Server, ServerConfig, listen
from horae.testing.waiting import wait_for

from .house import House


def config(dsn: str, folder, **more) -> ServerConfig:
    return ServerConfig(dsn=dsn, objects=str(folder), **({"port": 0, "allow_unsafe": True} | more))


def test_small_answers_are_sent_at_once():
    """asyncio switches Nagle's algorithm off only for sockets that name their protocol; answers took 40 ms before."""
    with listen("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP


def test_a_port_in_use_is_refused_with_a_hint():
    with listen("127.0.0.1", 0) as listener, pytest.raises(SetupError, match="--port"):
        listen("127.0.0.1", listener.getsockname()[1])


async def test_a_database_that_loses_data_is_refused(database: str, tmp_path):
    """The tests' own cluster runs with fsync off."""
    server = Server(config(database, tmp_path, allow_unsafe=False))
    with pytest.raises(UnsafeStore):
        await server.start()


async def test_calls_and_connections_that_are_over_leave_nothing_for_the_collector(house: House):
    """The collector comes rarely, and what has lived through its first visits stays for an hour: with its body."""
    await house.put_task("work")
    gc.collect()
    gc.disable()
    try:
        for path in ("/v1/jobs", "/v1/nothing", "/v1/events"):
            await house.submit()
            await house.get(path, headers={"connection": "close"}, head_only=path == "/v1/events")

        def left() -> list[object]:
            return [one for one in gc.get_objects() if isinstance(one, Call | Corked)]

        await wait_for(lambda: [type(one) for one in left()] in ([], [Corked]), what="at most one open connection")
    finally:
        gc.enable()


async def test_memory_that_is_free_is_given_back_now_and_then(database: str, tmp_path, monkeypatch: pytest.MonkeyPatch):
    given_back = asyncio.Semaphore(0)
    monkeypatch.setattr(heap, "give_back", given_back.release)
    monkeypatch.setattr(serving, "GIVE_BACK_SECONDS", 0.01)
    monkeypatch.setattr(serving, "GIVE_BACK_SHARE", 1.0)
    server = Server(config(database, tmp_path, allow_unsafe=True))
    await server.start()
    try:
        for _ in range(2):
            await given_back.acquire()
    finally:
        await server.stop()


async def test_health_and_readiness(house: House):
    health = await house.get("/healthz", key="")
    assert (health.status, health.json["status"]) == (200, "ok")
    ready = await house.get("/readyz", key="")
    assert (ready.status, ready.json["ready"]) == (200, True)


async def test_readiness_says_no_while_the_database_is_away(house: House, cluster_dsn: str):
    name = urlsplit(house.engine.config.database.dsn).path[1:]
    operator = await asyncpg.connect(cluster_dsn)
    await operator.execute(f"alter database {name} allow_connections false")
    await operator.execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", name)
    answer = await house.get("/readyz", key="")
    assert (answer.status, answer.json["ready"]) == (503, False)
    assert "database" in answer.json["wrong"]
    assert (await house.get("/healthz", key="")).status == 200
    await operator.execute(f"alter database {name} allow_connections true")
    await operator.close()

    async def ready() -> bool:
        return (await house.get("/readyz", key="")).status == 200

    await wait_for(ready)


async def test_a_stop_ends_waiting_exchanges_and_streams_soon(house: House):
    worker = await house.worker()
    job_id = await house.submit(delay=3600)
    waiting = [
        asyncio.create_task(worker.call("/exchange", {"want": 1, "number": 1, "wait": 30})),
        asyncio.create_task(house.get(f"/v1/jobs/{job_id}/result", wait=30)),
    ]
    await asyncio.sleep(0.3)
    started = asyncio.get_running_loop().time()
    await house.server.stop()
    answers = await asyncio.gather(*waiting, return_exceptions=True)
    assert asyncio.get_running_loop().time() - started < 25
    assert all(isinstance(answer, BaseException) or answer.status < 600 for answer in answers)


async def test_the_docs_page_is_served_and_guarded(house: House):
    page = await house.get("/docs", key="")
    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "default-src 'none'" in page.headers["content-security-policy"]


async def test_the_description_lists_every_route_and_is_valid(house: House):
    document = (await house.get("/openapi.json", key="")).json
    listed = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert listed == {(route.method, route.path) for route in ROUTES}
    ids = [op["operationId"] for methods in document["paths"].values() for op in methods.values()]
    assert len(ids) == len(set(ids))
    _check_references(document, document)
    for methods in document["paths"].values():
        for operation in methods.values():
            assert operation["summary"]
            assert "default" in operation["responses"]


def _check_references(node, document) -> None:
    """Every $ref leads somewhere, every schema is one."""
    if isinstance(node, dict):
        if isinstance(reference := node.get("$ref"), str):
            place = document
            for part in reference.removeprefix("#/").split("/"):
                place = place[part]
        for child in node.values():
            _check_references(child, document)
    elif isinstance(node, list):
        for child in node:
            _check_references(child, document)


async def test_every_schema_of_the_description_is_a_json_schema(house: House):
    jsonschema_rs = pytest.importorskip("jsonschema_rs")
    document = (await house.get("/openapi.json", key="")).json
    assert document["openapi"].startswith("3.1")
    for name, schema in document["components"]["schemas"].items():
        assert jsonschema_rs.meta.is_valid(schema), name
