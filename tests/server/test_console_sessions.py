"""Signing in to the console: what a session is good for, what ends it, and who cannot use another's."""

import asyncio
import re
from typing import Any

import pytest

from horae.engine import belief, signins
from horae.model.roles import Role

from .house import Answer, House

OURS = {"horae-console": "1"}


async def sign_in(house: House, body: dict[str, Any], **headers: str) -> Answer:
    return await house.post("/v1/session", body, key="", headers=OURS | headers)


async def cookie_of(house: House, who: str = "red", role: Role = Role.ADMIN) -> dict[str, str]:
    """The header of a browser that is signed in."""
    answer = await sign_in(house, {"key": house.key(who, role)})
    assert answer.status == 201, answer
    return {"cookie": answer.headers["set-cookie"].partition(";")[0]}


async def ticket_of(house: House, who: str = "red", role: Role = Role.ADMIN) -> str:
    answer = await house.post("/v1/session/tickets", who=who, role=role)
    assert answer.status == 201, answer
    return answer.json["ticket"]


async def signed_in(house: House, cookie: dict[str, str]) -> bool:
    return (await house.get("/v1/session", key="", headers=cookie)).status == 200


async def test_a_key_signs_in_and_the_session_may_what_the_key_may(house: House):
    cookie = await cookie_of(house, role=Role.VIEWER)
    me = (await house.get("/v1/session", key="", headers=cookie)).json
    assert (me["name"], me["role"], me["tenant"]) == ("red-viewer", "viewer", "red")
    assert "jobs:read" in me["permissions"]
    assert "jobs:submit" not in me["permissions"]
    assert (await house.get("/v1/jobs", key="", headers=cookie)).status == 200
    refused = await house.post("/v1/jobs", {"task": "work"}, key="", headers=cookie | OURS)
    assert refused.code == "forbidden"


async def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(house: House):
    answer = await sign_in(house, {"key": house.key()})
    sent = answer.headers["set-cookie"]
    assert re.match(r"horae_session=hs_[\w-]{43};", sent)
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= {part.strip() for part in sent.split(";")}
    assert "Secure" not in sent
    assert answer.headers["cache-control"] == "no-store"
    assert house.key() not in str(answer.headers) + answer.body.decode()


@pytest.mark.parametrize("header", ["x-forwarded-proto", "origin"])
async def test_the_cookie_is_for_https_alone_where_the_browser_comes_by_https(house: House, header: str):
    value = "https" if header != "origin" else house.url.replace("http:", "https:")
    answer = await sign_in(house, {"key": house.key()}, **{header: value})
    assert "Secure" in answer.headers["set-cookie"]


async def test_only_a_hash_of_the_token_is_stored(house: House, conn: Any):
    token = (await cookie_of(house))["cookie"].partition("=")[2]
    (row,) = await conn.fetch("select * from console_session")
    assert token.encode() not in bytes(row["hash"])
    stolen = {"cookie": f"horae_session={bytes(row['hash']).hex()}"}
    assert not await signed_in(house, stolen)


async def test_signing_out_ends_the_session(house: House):
    cookie = await cookie_of(house)
    answer = await house.call("DELETE", "/v1/session", key="", headers=cookie | OURS)
    assert answer.status == 204
    assert "Max-Age=0" in answer.headers["set-cookie"]
    assert not await signed_in(house, cookie)


async def test_a_revoked_key_ends_its_sessions_at_once_and_on_other_servers_soon(
    house: House, neighbour: House, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(belief, "BELIEVED_SECONDS", 0.0)
    made = await house.post("/v1/keys", {"name": "spare", "role": "viewer"})
    answer = await sign_in(house, {"key": made.json["secret"]})
    cookie = {"cookie": answer.headers["set-cookie"].partition(";")[0]}
    assert await signed_in(house, cookie)
    assert await signed_in(neighbour, cookie)
    await house.call("DELETE", f"/v1/keys/{made.json['key']['id']}")
    assert not await signed_in(house, cookie)
    assert not await signed_in(neighbour, cookie)


async def test_a_revoked_key_ends_what_this_server_remembers_of_its_sessions(house: House):
    made = await house.post("/v1/keys", {"name": "spare", "role": "viewer"})
    answer = await sign_in(house, {"key": made.json["secret"]})
    cookie = {"cookie": answer.headers["set-cookie"].partition(";")[0]}
    assert await signed_in(house, cookie)  # and now it is remembered
    await house.call("DELETE", f"/v1/keys/{made.json['key']['id']}")
    assert not await signed_in(house, cookie)


async def test_a_revoked_key_ends_a_stream(house: House, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("horae.server.calls.EventStream.RECOGNISE_SECONDS", 0.05)
    made = await house.post("/v1/keys", {"name": "spare", "role": "viewer"})
    headers = {"authorization": f"Bearer {made.json['secret']}"}
    async with house.http.get(f"{house.url}/v1/events", headers=headers) as stream:
        assert (await stream.content.readline()) == b"event: hello\n"
        await house.call("DELETE", f"/v1/keys/{made.json['key']['id']}")
        async with asyncio.timeout(100):
            await stream.content.read()


async def test_a_session_ends_with_its_time(house: House, conn: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(belief, "BELIEVED_SECONDS", 0.0)
    cookie = await cookie_of(house)
    await conn.execute("update console_session set expires_at = clock_timestamp() - interval '1 second'")
    assert not await signed_in(house, cookie)
    await cookie_of(house)
    assert await conn.fetchval("select count(*) from console_session") == 1


async def test_a_session_ends_no_later_than_its_key(house: House):
    made = await house.post("/v1/keys", {"name": "short", "role": "viewer", "expires_in": "1h"})
    answer = await sign_in(house, {"key": made.json["secret"]})
    assert answer.json["expires_at"] == made.json["key"]["expires_at"]


async def test_a_key_has_so_many_sessions_and_the_oldest_go_first(
    house: House, monkeypatch: pytest.MonkeyPatch, conn: Any
):
    monkeypatch.setattr(signins, "MAX_OTHERS", 2)
    monkeypatch.setattr(belief, "BELIEVED_SECONDS", 0.0)
    cookies = [await cookie_of(house) for _ in range(4)]
    assert [await signed_in(house, cookie) for cookie in cookies] == [False, True, True, True]
    assert await signed_in(house, await cookie_of(house, "blue"))
    assert await conn.fetchval("select count(*) from console_session") == 4


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({}, id="no header"),
        pytest.param({"horae-console": "0"}, id="another value"),
        pytest.param(OURS | {"sec-fetch-site": "cross-site"}, id="another site"),
        pytest.param(OURS | {"sec-fetch-site": "same-site"}, id="another port of this host"),
        pytest.param(OURS | {"origin": "http://evil.example"}, id="another origin"),
        pytest.param(OURS | {"origin": "null"}, id="no origin"),
        pytest.param(OURS | {"origin": "http://127.0.0.1:1"}, id="another port"),
    ],
)
async def test_what_another_page_makes_the_browser_send_changes_nothing(house: House, headers: dict[str, str]):
    await house.put_task("work")
    cookie = await cookie_of(house)
    answer = await house.post("/v1/jobs", {"task": "work"}, key="", headers=cookie | headers)
    assert answer.code == "forbidden"
    assert (await house.get("/v1/jobs")).json["items"] == []
    assert (await house.post("/v1/session", {"key": house.key()}, key="", headers=headers)).code == "forbidden"
    assert (await house.call("DELETE", "/v1/session", key="", headers=cookie | headers)).code == "forbidden"
    assert await signed_in(house, cookie)


async def test_our_own_page_may_change_what_its_user_may(house: House):
    await house.put_task("work")
    cookie = await cookie_of(house)
    ours = cookie | OURS | {"origin": house.url, "sec-fetch-site": "same-origin"}
    assert (await house.post("/v1/jobs", {"task": "work"}, key="", headers=ours)).status == 201


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_another_page_reads_nothing_with_the_session(house: House, site: str):
    cookie = await cookie_of(house)
    answer = await house.get("/v1/jobs", key="", headers=cookie | {"sec-fetch-site": site})
    assert answer.code == "unauthenticated"
    assert (await house.get("/v1/jobs", key="", headers=cookie | {"sec-fetch-site": "none"})).status == 200


async def test_a_session_is_no_key_and_a_key_is_no_session(house: House):
    token = (await cookie_of(house))["cookie"].partition("=")[2]
    assert (await house.get("/v1/session", key=token)).code == "unauthenticated"
    assert not await signed_in(house, {"cookie": f"horae_session={house.key()}"})
    assert not await signed_in(house, {"cookie": f"horae_session={await ticket_of(house)}"})


@pytest.mark.parametrize("cookie", ["", "horae_session=", "horae_session=hs_x", "a=b; ;;=", 'horae_session="', "é=1"])
async def test_a_broken_cookie_is_nobody(house: House, cookie: str):
    assert (await house.get("/v1/session", key="", headers={"cookie": cookie})).code == "unauthenticated"


@pytest.mark.parametrize("others", ['{"a":1}; {}', "a b=c; {}; =;", '{}; q="', "horae_session=; {}", "{}; {}"])
async def test_odd_cookies_of_others_do_no_harm(house: House, others: str):
    cookie = (await cookie_of(house))["cookie"]
    assert await signed_in(house, {"cookie": others.replace("{}", cookie)})


async def test_of_two_sessions_that_a_browser_sends_neither_counts(house: House):
    mine, planted = [(await cookie_of(house, who))["cookie"] for who in ("red", "blue")]
    assert not await signed_in(house, {"cookie": f"{planted}; {mine}"})


async def test_a_key_in_the_request_goes_before_the_cookie(house: House):
    cookie = await cookie_of(house, "blue")
    assert (await house.get("/v1/whoami", who="red", headers=cookie)).json["tenant"] == "red"
    assert (await house.get("/v1/whoami", key="hk_wrong", headers=cookie)).code == "unauthenticated"


async def test_a_ticket_signs_in_once(house: House):
    ticket = await ticket_of(house, "blue", Role.OPERATOR)
    answer = await sign_in(house, {"ticket": ticket})
    assert (answer.json["name"], answer.json["tenant"]) == ("blue-operator", "blue")
    again = await sign_in(house, {"ticket": ticket})
    assert again.code == "unauthenticated"
    assert "set-cookie" not in again.headers


async def test_of_many_that_use_a_ticket_at_once_one_gets_in(house: House, neighbour: House):
    ticket = await ticket_of(house)
    answers = await asyncio.gather(*(sign_in(one, {"ticket": ticket}) for one in (house, neighbour) * 10))
    assert sorted(answer.status for answer in answers) == [201] + [401] * 19


async def test_a_ticket_whose_time_is_over_signs_nobody_in(house: House, conn: Any):
    ticket = await ticket_of(house)
    await conn.execute("update console_ticket set expires_at = clock_timestamp() - interval '1 second'")
    assert (await sign_in(house, {"ticket": ticket})).code == "unauthenticated"


async def test_a_ticket_of_a_revoked_key_signs_nobody_in(house: House):
    made = await house.post("/v1/keys", {"name": "spare", "role": "viewer"})
    ticket = (await house.post("/v1/session/tickets", key=made.json["secret"])).json["ticket"]
    await house.call("DELETE", f"/v1/keys/{made.json['key']['id']}")
    assert (await sign_in(house, {"ticket": ticket})).code == "unauthenticated"


async def test_a_session_cannot_prolong_itself_by_a_ticket(house: House):
    cookie = await cookie_of(house)
    assert (await house.post("/v1/session/tickets", key="", headers=cookie | OURS)).code == "forbidden"


async def test_a_workers_key_does_not_sign_in(house: House):
    assert (await sign_in(house, {"key": house.key("red", Role.WORKER)})).code == "forbidden"


@pytest.mark.parametrize("body", [{}, {"key": "a", "ticket": "b"}, {"key": None}])
async def test_a_sign_in_is_by_a_key_or_by_a_ticket(house: House, body: dict[str, Any]):
    assert (await sign_in(house, body)).code == "invalid_input"


async def test_whoami_tells_what_the_role_may_do(house: House):
    me = (await house.get("/v1/whoami", role=Role.VIEWER)).json
    assert me["permissions"] == sorted(me["permissions"])
    assert "jobs:read" in me["permissions"]
    assert "keys:manage" not in me["permissions"]
