"""Pieces of results: given while a job runs, read by page or followed, apart from the log."""

import asyncio

from .house import FakeWorker, House, end, running_job
from .test_output import events, log


async def give(worker: FakeWorker, grant: dict, *pieces: str, start: int = 0) -> None:
    chunks = [{"id": grant["id"], "lane": grant["lane"], "attempt": grant["attempt"], "seq": start + n,
               "stream": "partial", "text": piece} for n, piece in enumerate(pieces)]  # fmt: skip
    assert (await worker.call("/logs", {"chunks": chunks})).status == 204


async def test_pieces_are_read_in_order_and_apart_from_the_log(house: House):
    worker, grant = await running_job(house)
    await log(worker, grant, "a line\n")
    await give(worker, grant, '{"n":1}', "[2]", start=1)
    page = (await house.get(f"/v1/jobs/{grant['id']}/partial")).json
    assert [piece["data"] for piece in page["items"]] == [{"n": 1}, [2]]
    assert page["next_cursor"] == "1-2"
    logs = (await house.get(f"/v1/jobs/{grant['id']}/logs")).json
    assert [line["text"] for line in logs["items"]] == ["a line\n"]


async def test_pages_go_on_where_the_cursor_says_and_end_with_the_job(house: House):
    worker, grant = await running_job(house)
    await give(worker, grant, "1", "2", "3")
    first = (await house.get(f"/v1/jobs/{grant['id']}/partial", limit=2)).json
    await worker.finish(end(grant))
    rest = (await house.get(f"/v1/jobs/{grant['id']}/partial", cursor=first["next_cursor"])).json
    assert ([p["data"] for p in first["items"]], [p["data"] for p in rest["items"]]) == ([1, 2], [3])
    assert "next_cursor" not in rest


async def test_a_follower_hears_each_piece_while_the_job_runs_and_then_its_end(house: House):
    worker, grant = await running_job(house)
    stream = events(house, f"/v1/jobs/{grant['id']}/partial?follow=true")
    await give(worker, grant, "1")
    assert (await asyncio.wait_for(anext(stream), 10))[:2][1]["data"] == 1
    await give(worker, grant, "2", start=1)
    assert (await asyncio.wait_for(anext(stream), 10))[1]["data"] == 2
    await worker.finish(end(grant))
    name, data, _ = await asyncio.wait_for(anext(stream), 10)
    assert (name, data["state"]) == ("end", "succeeded")


async def test_what_is_no_piece_is_left_out(house: House):
    worker, grant = await running_job(house)
    await give(worker, grant, "not json", "1", '"' + "x" * 70_000 + '"')
    page = (await house.get(f"/v1/jobs/{grant['id']}/partial")).json
    assert [piece["data"] for piece in page["items"]] == [1]


async def test_another_tenant_reads_none(house: House):
    worker, grant = await running_job(house)
    await give(worker, grant, "1")
    assert (await house.get(f"/v1/jobs/{grant['id']}/partial", who="blue")).code == "not_found"
