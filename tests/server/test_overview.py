"""How things stand and what happens, over HTTP: counted right, told to those it concerns, and from every server."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import msgspec
import pytest

from horae.engine import overview
from horae.engine.duties.recount import Recount
from horae.testing.waiting import wait_for

from .house import House, end


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """No answer is kept."""
    monkeypatch.setattr(overview, "FRESH_SECONDS", -1.0)


async def settle(house: House) -> None:
    """Everything counted so far is written down."""
    await house.engine._flush.flush()
    await house.engine._flow_flush.run_once()
    await house.engine._flow_flush.flush()


async def recounted(house: House, conn: Any, **wanted: int) -> None:
    """Counted right by us or by the server's own duty, which begins before the jobs come and may see some of them."""

    async def right() -> bool:
        await conn.execute("delete from sole_duty where name = 'recount'")  # now it is due
        await Recount(house.engine.database, house.engine.lanes, house.engine._flush.flush).run_once()
        found = await look(house)
        return {state: found[state] for state in wanted} == wanted

    await settle(house)
    await wait_for(right, what="the recount")


async def look(house: House, **more: Any) -> dict[str, Any]:
    answer = await house.get("/v1/overview", **more)
    assert answer.status == 200, answer
    return answer.json


async def finish_some(house: House, who: str = "red") -> None:
    """Two jobs succeed, one fails."""
    worker = await house.worker(who=who)
    for _ in range(3):
        await house.submit(who=who, max_attempts=1)
    grants: list[dict[str, Any]] = []
    while len(grants) < 3:
        grants += await worker.take(3)
    await worker.finish(*(end(grant) for grant in grants[:2]), end(grants[2], "error"))


async def test_what_happened_is_in_the_series_of_every_range(house: House):
    await finish_some(house)
    await settle(house)
    for name, wanted in overview.RANGES.items():
        found = await look(house, range=name)
        series = found["series"]
        assert (found["range"], found["step"]) == (name, wanted.step)
        assert {len(column) for column in series.values()} == {wanted.steps}
        assert [sum(series[n]) for n in ("submitted", "started", "succeeded", "failed")] == [3, 3, 2, 1], name
        assert found["wait"]["p50"] is not None
        assert found["wait"]["p50"] <= found["wait"]["p99"]


async def test_jobs_are_counted_by_the_state_they_are_in(house: House, conn: Any):
    worker = await house.worker()
    for _ in range(2):
        await house.submit()
    await worker.take(2)
    await house.submit(delay=3600)
    # Of two as urgent, chance or a correction of the server's clock could say which comes first.
    oldest, _ = await house.submit(), await house.submit(priority=4)
    await recounted(house, conn, pending=3, scheduled=1, blocked=0, ready=2, running=2)
    found = await look(house)
    assert found["oldest"]["id"] == oldest
    assert found["workers"][0]["id"] == worker.id
    assert found["workers_total"] == 1


async def test_more_jobs_than_are_counted_are_told_by_the_last_recount(
    house: House, monkeypatch: pytest.MonkeyPatch, conn: Any
):
    await house.put_task("work")
    for _ in range(3):
        await house.submit(delay=3600)
    for _ in range(4):
        await house.submit()
    monkeypatch.setattr(overview, "COUNTED", 2)
    await recounted(house, conn, pending=7, scheduled=3, ready=4)


async def test_each_tenant_sees_its_own_and_a_key_of_none_all_or_one(house: House):
    await finish_some(house, "red")
    await finish_some(house, "blue")
    await house.submit(who="blue", delay=3600)
    await settle(house)
    mine, one, all_of_them = (
        await look(house),
        await look(house, who="root", tenant="blue"),
        await look(house, who="root"),
    )
    assert [sum(found["series"]["failed"]) for found in (mine, one, all_of_them)] == [1, 1, 2]
    assert [found["scheduled"] for found in (mine, one, all_of_them)] == [0, 1, 1]
    assert {group["tenant"] for group in mine["failures"]} == {"red"}
    assert {group["tenant"] for group in all_of_them["failures"]} == {"red", "blue"}
    assert [worker["tenant"] for worker in mine["workers"]] == ["red"]
    assert (await house.get("/v1/overview", tenant="blue")).code == "forbidden"


async def test_failures_are_grouped_by_cause_with_an_example(house: House):
    await finish_some(house)
    await finish_some(house)
    await settle(house)
    (group,) = (await look(house))["failures"]
    assert (group["task"], group["jobs"], group["message"]) == ("work", 2, "Boom: it broke")
    assert (await house.get(f"/v1/jobs/{group['example']}")).json["state"] == "failed"


async def test_a_first_failure_is_told_before_its_hour_has_been_given_it(house: House, conn: Any):
    await finish_some(house)
    await settle(house)
    await conn.execute("delete from flow where span > 10")
    (group,) = (await look(house, who="root"))["failures"]
    assert group["jobs"] == 1


async def test_what_schedules_do_next_is_told_in_order(house: House):
    await house.put_task("work")
    for name, cron in (("later", "0 0 1 1 *"), ("soon", "* * * * *")):
        saved = await house.call("PUT", f"/v1/schedules/{name}", {"name": name, "task": "work", "cron": cron})
        assert saved.status == 201, saved
    ticks = (await look(house))["ticks"]
    assert [tick["schedule"] for tick in ticks] == ["soon", "later"]


async def test_gates_and_limits_in_force_are_counted(house: House):
    await house.put_task("work")
    await house.call("PUT", "/v1/limits/one", {"task": "work", "max_running": 1})
    await house.post("/v1/gates", {"task": "other", "action": "hold", "reason": "test"})
    worker = await house.worker()
    await house.submit()
    await worker.take(1)
    found = await look(house)
    assert (found["gates"], found["limits"], found["limits_full"]) == (1, 1, 1)


async def test_an_unknown_range_is_refused(house: House):
    assert (await house.get("/v1/overview", range="2h")).code == "invalid_input"


async def test_those_who_ask_at_once_share_an_answer(house: House, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(overview, "FRESH_SECONDS", 60.0)
    looks = 0
    flow_list = house.engine.stores.flows.flow_list

    async def counted(*args: Any) -> Any:
        nonlocal looks
        looks += 1
        return await flow_list(*args)

    monkeypatch.setattr(house.engine.stores.flows, "flow_list", counted)
    await asyncio.gather(*(look(house) for _ in range(20)))
    assert looks == 1


# What happens.


class Ear:
    """Reads a stream of events."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self.response = response

    async def next(self) -> tuple[str, dict[str, Any]]:
        async with asyncio.timeout(100):
            name = ""
            while True:
                line = (await self.response.content.readline()).decode()
                assert line, "the stream ended"
                if line.startswith("event: "):
                    name = line[7:].strip()
                elif line.startswith("data: "):
                    return name, msgspec.json.decode(line[6:])

    async def until(self, condition: Any) -> dict[str, Any]:
        """What pulses tell, added up until it is enough."""
        total: dict[str, Any] = {"jobs": []}
        while not condition(total):
            name, pulse = await self.next()
            assert name == "pulse"
            for key, value in pulse.items():
                if isinstance(value, (int, list)):
                    total[key] = total[key] + value if key in total else value
        return total


async def listen(house: House, who: str = "red", **params: str) -> AsyncIterator[Ear]:
    headers = {"authorization": f"Bearer {house.key(who)}"}
    async with house.http.get(f"{house.url}/v1/events", headers=headers, params=params) as response:
        assert response.headers["content-type"] == "text/event-stream"
        ear = Ear(response)
        assert (await ear.next())[0] == "hello"
        yield ear


async def test_pulses_tell_what_happened_and_to_which_jobs(house: House):
    async for ear in listen(house):
        await finish_some(house)
        total = await ear.until(lambda total: total.get("succeeded", 0) >= 2)
        assert (total["submitted"], total["started"], total["failed"]) == (3, 3, 1)
        assert len(set(total["jobs"])) == 3


async def test_pulses_of_another_tenant_are_not_heard(house: House):
    await house.put_task("work")
    async for ear in listen(house):
        await finish_some(house, "blue")
        await house.submit(who="red")
        total = await ear.until(lambda total: total.get("submitted", 0) >= 1)
        assert (total["submitted"], total.get("failed", 0), len(total["jobs"])) == (1, 0, 1)


async def test_what_happens_on_one_server_is_heard_on_another(house: House, neighbour: House):
    async for ear in listen(neighbour, "root"):
        await finish_some(house)
        total = await ear.until(lambda total: total.get("succeeded", 0) >= 2)
        assert total["submitted"] == 3
        assert total["jobs"]


async def test_a_change_of_policy_is_a_pulse(house: House):
    async for ear in listen(house):
        await house.put_task("work")
        await house.call("PUT", "/v1/limits/one", {"task": "work", "max_running": 1})
        assert await ear.until(lambda total: total.get("policy", 0))


async def test_a_stream_ends_when_the_server_stops(house: House, neighbour: House):
    async for ear in listen(neighbour):
        await neighbour.server.stop()
        async with asyncio.timeout(100):
            await ear.response.content.read()


async def test_a_listener_that_went_away_is_forgotten(house: House):
    async for _ in listen(house):
        assert len(house.engine.pulses._listeners) == 1
    await wait_for(lambda: not house.engine.pulses._listeners, what="nobody to listen")
