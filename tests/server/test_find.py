"""Finding things by what somebody types."""

import pytest

from horae.model.roles import Role
from horae.testing.waiting import wait_for

from .house import House


async def found(house: House, text: str, **more: str) -> list[tuple[str, str]]:
    answer = await house.get("/v1/find", text=text, **more)
    assert answer.status == 200, answer
    return [(item["kind"], item["name"]) for item in answer.json["items"]]


async def test_names_are_found_by_any_part_those_that_begin_so_first(house: House):
    for name in ("mail", "bulk-mail", "Mailing"):
        await house.put_task(name)
    schedule = {"name": "mail-weekly", "task": "mail", "cron": "0 10 * * FRI"}
    assert (await house.post("/v1/schedules", schedule)).status == 201
    await house.worker("mail", name="mailer")
    assert await found(house, "MAIL") == [
        ("task", "mail"), ("task", "Mailing"), ("task", "bulk-mail"), ("schedule", "mail-weekly"), ("worker", "mailer"),
    ]  # fmt: skip
    assert len(await found(house, "mail", limit="1")) == 3
    assert await found(house, "%") == []


async def test_a_job_is_found_by_the_beginning_of_its_id(house: House):
    await house.put_task("mail")
    job_id = await house.submit("mail", delay="1h")
    for text in (job_id, job_id.upper(), job_id[:18], job_id.replace("-", "")[:14]):
        (item,) = (await house.get("/v1/find", text=text)).json["items"]
        assert (item["kind"], item["id"], item["name"], item["tenant"]) == ("job", job_id, "mail", "red")
    assert await found(house, job_id[:7]) == []
    assert await found(house, "ffffffff-ffff") == []


async def test_a_queue_is_found_once_it_has_jobs(house: House):
    await house.put_task("mail")
    await house.submit("mail", queue="letters", delay="1h")

    async def there() -> bool:
        return ("queue", "letters") in await found(house, "lett")

    await wait_for(there, 20, what="the queue")


async def test_a_worker_is_found_by_its_number(house: House):
    worker = await house.worker("mail")
    (item,) = (await house.get("/v1/find", text=str(worker.id))).json["items"]
    assert (item["kind"], item["id"], item["note"]) == ("worker", str(worker.id), "h")


async def test_what_another_tenant_has_is_not_found(house: House):
    await house.put_task("mail", who="blue")
    await house.worker("mail", who="blue", name="mailer")
    job_id = await house.submit("mail", who="blue", delay="1h")
    assert await found(house, "mail") == []
    assert await found(house, job_id) == []
    everything = (await house.get("/v1/find", text=job_id, who="root")).json["items"]
    assert [item["tenant"] for item in everything] == ["blue"]
    assert (await house.get("/v1/find", text="mail", who="root", tenant="red")).json["items"] == []


@pytest.mark.parametrize("text", ["", "  ", "x" * 201, "a\0b"])
async def test_what_cannot_be_looked_for_is_refused(house: House, text: str):
    answer = await house.get("/v1/find", text=text, role=Role.VIEWER)
    assert (answer.code, answer.json["field"]) == ("invalid_input", "text")
