"""A server whose object storage is S3: results and files end to end, also while the store is away."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlencode
from uuid import uuid4

import aiohttp
import pytest

from horae.server.serving import Server, ServerConfig
from horae.testing.waiting import wait_for
from server.house import House, end, running_job

from .s3 import BUCKET, S3Server

LARGE = '["' + "x" * 100_000 + '"]'


@asynccontextmanager
async def house_on(dsn: str, s3: S3Server) -> AsyncIterator[House]:
    config = ServerConfig(dsn=dsn, objects=f"s3://{BUCKET}/{uuid4()}", s3=s3.access(), port=0, allow_unsafe=True,
                          lease_seconds=300)  # fmt: skip
    server = Server(config)
    await server.start()
    try:
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60)) as http:
            house = House(server, http)
            await house.furnish()
            yield house
    finally:
        await server.stop()


@pytest.fixture
async def house(database: str, s3: S3Server) -> AsyncIterator[House]:
    async with house_on(database, s3) as house:
        yield house


async def test_a_large_result_goes_to_s3_and_comes_back(house: House):
    worker, grant = await running_job(house)
    assert (await worker.call(f"/results/{grant['id']}/1", LARGE.encode(), "PUT")).status == 204
    await worker.finish(end(grant, blob=len(LARGE)))
    assert (await house.get(f"/v1/jobs/{grant['id']}/result")).json["result"] == ["x" * 100_000]


async def test_a_file_goes_to_s3_and_its_signed_address_leads_there(house: House, s3: S3Server):
    worker, grant = await running_job(house)
    data = b"a,b\n1,2\n" * 1_000_000
    query = urlencode({"name": "out/täble.csv", "size": len(data), "sha256": hashlib.sha256(data).hexdigest()})
    assert (await worker.call(f"/files/{grant['id']}/1?{query}", data)).status == 201
    await worker.finish(end(grant))
    (file,) = (await house.get(f"/v1/jobs/{grant['id']}/files")).json["items"]
    part = await house.get(f"/v1/files/{file['id']}", headers={"range": "bytes=7000000-7000007"})
    assert (part.status, part.body) == (206, data[7_000_000:7_000_008])
    url = (await house.post(f"/v1/files/{file['id']}/address", {"lifetime": "5m"})).json["url"]
    assert url.startswith(s3.endpoint)
    async with house.http.get(url) as answer:
        assert (answer.status, await answer.read()) == (200, data)
        assert answer.headers["content-disposition"].startswith("attachment")


async def test_a_job_is_not_acknowledged_before_its_result_is_durable_and_ends_when_s3_is_back(
    house: House, s3: S3Server
):
    worker, grant = await running_job(house)
    s3.kill()
    try:
        answer = await worker.call(f"/results/{grant['id']}/1", LARGE.encode(), "PUT")
        assert answer.code == "not_ready"
        assert "s3://" in answer.json["detail"]
        assert (await house.get(f"/v1/jobs/{grant['id']}")).json["state"] == "running"
    finally:
        s3.launch()
        await asyncio.to_thread(s3.wait)

    async def taken() -> bool:
        return (await worker.call(f"/results/{grant['id']}/1", LARGE.encode(), "PUT")).status == 204

    await wait_for(taken)
    await worker.finish(end(grant, blob=len(LARGE)))
    assert (await house.get(f"/v1/jobs/{grant['id']}/result")).json["result"] == ["x" * 100_000]


async def test_a_server_whose_store_is_away_starts_and_runs_what_needs_none(database: str, s3: S3Server):
    config = ServerConfig(
        dsn=database, objects=f"s3://{BUCKET}/x", s3=s3.access(endpoint="http://127.0.0.1:1"), port=0, allow_unsafe=True
    )
    server = Server(config)
    await server.start()
    try:
        async with aiohttp.ClientSession() as http:
            house = House(server, http)
            await house.furnish()
            worker, grant = await running_job(house)
            await worker.finish(end(grant, result=[1]))
            assert (await house.get(f"/v1/jobs/{grant['id']}/result")).json["result"] == [1]
    finally:
        await server.stop()
