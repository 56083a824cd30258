"""What strangers send to the routes of limits, quotas, gates, actions and schedules.

It is made from the table of routes, so that a new one is tried as soon as it stands there. Whatever is sent, the answer
is no server error, and each refusal a problem document; and a key of one tenant learns nothing of another.
"""

import asyncio
import re
from itertools import product
from typing import Any
from urllib.parse import quote

import msgspec
import pytest

from horae.model.roles import Role
from horae.server.routes import ROUTES, Route
from horae.testing.waiting import wait_for

from .house import Answer, House, end

TAGS = {"actions", "limits", "service levels", "quotas", "queues", "gates", "schedules", "calendars", "tenants"}
ADDED = [route for route in ROUTES if route.tag in TAGS or route.path.endswith(("/move", "/explain", "/drain"))]
BODIED = [route for route in ADDED if route.body is not None]

UUID = "01900000-0000-7000-8000-000000000000"
NASTY: list[Any] = [
    True, -1, 10**30, 1e300, "", "\x00", "💥é'; drop table job; --", "x" * 3000,
    ["\x00"], {"\x00": [10**40]}, "0001-01-01T00:00:00Z", "9999-12-31T23:59:59+14:00",
]  # fmt: skip
TEXTS = [value for value in NASTY if isinstance(value, str)] + ["-1", "99999999999999999999", "x@" + "9" * 30, "nan"]
GARBAGE = [
    b"{", b"[]", b"null", b'"x"', b"5", b"\xff", b"NaN", b'{"colour": 1}', b'{"reason": "\\ud800"}',
    b'{"a":' * 500 + b"1" + b"}" * 500, b"[" * 100_000, b'{"why": "x", "why": "x", "reason": "x", "reason": "x"}',
]  # fmt: skip

RIGHT: dict[str, dict[str, Any]] = {
    "ActionRequest": {"action": "cancel", "filter": {"task": "work"}, "preview": True},
    "DeadLetterRequest": {"preview": True},
    "LimitPut": {"max_running": 1, "task": "nothing"},
    "ServiceLevelPut": {"start_within": "5m", "task": "nothing"},
    "QuotaPut": {"max_pending": 1_000_000},
    "GateCreate": {"reason": "because", "task": "nothing", "expires_in": "1s"},
    "Stop": {"expires_in": "1s"},
    "ScheduleSave": {"name": "there", "task": "work", "cron": "0 3 * * *", "paused": True},
    "PreviewRequest": {"name": "there", "task": "work", "cron": "0 3 * * *"},
    "ScheduleChange": {"set": {"cron": "0 4 * * *"}},
    "BackfillRequest": {"since": "2026-01-01T00:00:00Z", "until": "2026-01-02T00:00:00Z", "dry_run": True},
    "CalendarDefinition": {"name": "there"},
    "ScheduleLimits": {"shortest_interval": "1m"},
    "TenantCreate": {"name": "green"},
    "TenantChange": {"weight": 1},
}
"""By record: a body that is right, of which one field at a time is spoilt. Of those not here all may be left out."""


@pytest.fixture
async def busy(house: House) -> House:
    """Red has one of everything."""
    await house.worker("work")
    for method, path, body in (
        ("PUT", "/v1/limits/there", {"max_running": 5}),
        ("PUT", "/v1/service-levels/there", {"start_within": "5m"}),
        ("PUT", "/v1/quotas/queue/there", {"max_pending": 5}),
        ("PUT", "/v1/calendars/there", {"name": "there", "weekend": ["SAT"]}),
        ("PUT", "/v1/schedules/there", RIGHT["ScheduleSave"]),
        ("POST", "/v1/gates", {"reason": "x", "task": "nothing"}),
    ):
        answer = await house.call(method, path, body)
        assert answer.status in {200, 201}, answer
    return house


def path_of(route: Route, **names: str) -> str:
    known = {"action_id": UUID, "gate_id": "1", "scope": "queue", "backfill": "1", "worker_id": "1"} | names
    return re.sub(r"{(\w+)}", lambda part: quote(known.get(part[1], "there"), safe=""), route.path)


def fault(route: Route, sent: object, answer: Answer, *, refused: bool = False) -> str | None:
    """What is wrong with an answer; a refusal must be a problem document with a code."""
    if answer.status >= 500 or (refused and answer.status < 400) or (answer.status >= 400 and not answer.code):
        return f"{route.method} {route.path} {str(sent)[:120]}: {answer}"
    return None


async def faults(tries: list[Any]) -> list[str]:
    """Eight at a time."""
    lock = asyncio.Semaphore(8)

    async def one(attempt: Any) -> str | None:
        async with lock:
            return await attempt

    return [found for found in await asyncio.gather(*map(one, tries)) if found is not None]


async def test_no_garbage_for_a_body_is_taken(busy: House):
    async def send(route: Route, body: bytes) -> str | None:
        who = "root" if route.tag == "tenants" else "red"
        answer = await busy.call(route.method, path_of(route, name="red" if who == "root" else "there"), body, who=who)
        return fault(route, body, answer, refused=True)

    assert await faults([send(route, body) for route, body in product(BODIED, GARBAGE)]) == []


async def test_no_field_of_any_body_breaks_the_server(busy: House):
    async def send(route: Route, body: dict[str, Any], who: str) -> str | None:
        answer = await busy.call(route.method, path_of(route), body, who=who, role=Role.ADMIN)
        return fault(route, body, answer)

    tries = []
    for route in BODIED:
        right = RIGHT.get(route.body.__name__, {})
        for field, value in product(msgspec.structs.fields(route.body), NASTY):
            who = "root" if route.tag == "tenants" or route.path.endswith("/limits") else "red"
            tries.append(send(route, right | {field.encode_name: value}, who))
    assert await faults(tries) == []
    assert (await busy.get("/v1/whoami")).status == 200


async def test_no_part_of_a_path_breaks_the_server(busy: House):
    async def send(route: Route, name: str, value: str) -> str | None:
        body = RIGHT.get(getattr(route.body, "__name__", ""), {}) if route.body else None
        return fault(route, value, await busy.call(route.method, path_of(route, **{name: value}), body))

    tries = []
    for route in ADDED:
        for name, value in product(re.findall(r"{(\w+)}", route.path), TEXTS):
            tries.append(send(route, name, value))
    assert await faults(tries) == []


async def test_no_query_breaks_the_server(busy: House):
    async def send(route: Route, name: str, value: str, who: str) -> str | None:
        body = RIGHT.get(getattr(route.body, "__name__", ""), {}) if route.body else None
        answer = await busy.call(route.method, path_of(route), body, who=who, **{name: value})
        return fault(route, (name, value), answer)

    tries = []
    for route in ADDED:
        for name, value, who in product(route.query, TEXTS, ("red", "root")):
            tries.append(send(route, name, value, who))
    assert await faults(tries) == []


async def furnish_blue(house: House) -> dict[str, str]:
    """Blue has one of everything, and each bears the word `indigo`; jobs of both tenants wait in one queue."""
    worker = await house.worker("indigo", who="blue")
    await house.submit("indigo", who="blue", labels={"l": "indigo"}, queue="shared", max_attempts=1)
    (grant,) = await worker.take()
    await worker.finish(end(grant, "error", error={"kind": "Indigo", "message": "indigo"}))
    for number in range(3):
        await house.submit("indigo", who="blue", queue="shared", concurrency_key="indigo", params={"n": number})
    made = {}
    for method, path, body, place in (
        ("PUT", "/v1/limits/indigo", {"max_running": 5, "reason": "indigo"}, ""),
        ("PUT", "/v1/service-levels/indigo", {"start_within": 1, "tier": "indigo", "reason": "indigo"}, ""),
        ("PUT", "/v1/quotas/queue/indigo", {"max_pending": 50}, ""),
        ("PUT", "/v1/calendars/indigo", {"name": "indigo", "days": {"2030-01-01": "indigo"}}, ""),
        ("PUT", "/v1/schedules/indigo", {"name": "indigo", "task": "indigo", "cron": "0 3 * * *"}, ""),
        ("POST", "/v1/gates", {"reason": "indigo", "task": "indigo", "action": "drop"}, "gate_id"),
        ("POST", "/v1/jobs/actions", {"action": "cancel", "reason": "indigo", "filter": {"task": "none"}}, "action_id"),
        ("POST", "/v1/stop", {"reason": "indigo"}, ""),
    ):
        answer = await house.call(method, path, body, who="blue")
        assert answer.status in {200, 201, 202}, answer
        made[place] = str(answer.json.get("id", ""))

    async def done() -> bool:
        return (await house.get(f"/v1/actions/{made['action_id']}", who="blue")).json["state"] == "done"

    await wait_for(done, what="the end of blue's action")
    return {**made, "job_id": grant["id"], "worker_id": str(worker.id), "name": "indigo", "backfill": "1"}


NOWHERE = {"job_id": UUID, "worker_id": "999999", "gate_id": "999999", "action_id": UUID, "name": "violet",
           "backfill": "999999", "tenant": "nobody"}  # fmt: skip
"""The same names for things that nobody has."""


async def test_what_another_tenant_has_is_answered_like_what_nobody_has(house: House):
    theirs = await furnish_blue(house) | {"tenant": "blue"}
    wrong = []
    for route in ROUTES:
        if route.method != "GET" or route.path.endswith(("/openapi.json", "/docs", "/events", "/readyz")):
            continue
        for query in ((), ("tenant",)):
            there, nowhere = [
                await house.get(path_of(route, **names), **{name: names[name] for name in query})
                for names in (theirs, NOWHERE)
            ]
            seen = there.body.decode()
            for echo in ("/indigo", "'indigo'"):  # What the caller asked for may come back to it.
                seen = seen.replace(echo, "")
            if there.status != nowhere.status or (there.status >= 400 and there.code != nowhere.code):
                wrong.append(f"{route.path} {query}: {there}, but {nowhere}")
            if "indigo" in seen.lower():
                wrong.append(f"{route.path} {query} tells: {there}")
    assert wrong == []


async def test_why_a_job_waits_behind_another_tenants_names_none_of_its_things(house: House):
    await furnish_blue(house)
    await house.call("PUT", "/v1/limits/all", {"max_running": 0, "queue": "shared"}, who="root")
    await house.worker("work")
    own = await house.submit(queue="shared")
    answer = await house.get(f"/v1/jobs/{own}/explain")
    assert answer.json["reasons"]
    assert b"indigo" not in answer.body.lower()
    assert b"blue" not in answer.body.lower()


async def test_a_tenant_changes_nothing_of_another_by_any_route(house: House):
    theirs = await furnish_blue(house)
    await house.worker("work")
    before = await everything(house, theirs)
    for route in ADDED:
        if route.method == "GET":
            continue
        body = RIGHT.get(getattr(route.body, "__name__", ""), {}) if route.body else None
        if body and "name" in body:
            body = body | {"name": "indigo"}
        for query in ({}, {"tenant": "blue"}):
            answer = await house.call(route.method, path_of(route, **theirs), body, **query)
            assert answer.status < 500, (route, answer)
    assert await everything(house, theirs) == before


async def everything(house: House, theirs: dict[str, str]) -> dict[str, Any]:
    """What blue sees of its own, but for what moves by itself."""
    found = {}
    for route in ADDED:
        if route.method == "GET" and route.path.split("/")[2] not in {"queues", "tenants"}:
            # A forecast and an agenda begin at the present unless they are told.
            query = {"since": "2030-01-01T00:00:00Z"} if route.path.endswith(("/forecast", "/agenda")) else {}
            found[route.path] = (await house.get(path_of(route, **theirs), who="blue", **query)).json
    return found


async def test_a_rule_of_seconds_whose_ticks_would_be_moved_for_ever_is_refused_at_once(busy: House):
    week = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"]
    assert (await busy.call("PUT", "/v1/calendars/never", {"name": "never", "weekend": week})).status == 200
    for cron, more in (
        ("* * * * * *", {"calendars": ["never"], "on_blocked": "next"}),
        ("* * * * * *", {"calendars": ["never"], "on_blocked": "previous"}),
        ("* * * * 1 *", {"calendars": ["never"], "on_blocked": "next"}),
        ("* * * * * *", {"windows": [{"days": "MON", "start": "08:00", "end": "09:00"}], "outside": "defer"}),
    ):
        async with asyncio.timeout(60):
            answer = await busy.post("/v1/schedules/preview", {"name": "p", "task": "work", "cron": cron, **more})
        assert answer.code == "invalid_input", answer
        assert answer.json["field"] in {"on_blocked", "outside"}
    hourly = {"name": "p", "task": "work", "cron": "0 * * * *", "calendars": ["never"], "on_blocked": "next"}
    assert (await busy.post("/v1/schedules/preview", hourly)).status == 200
