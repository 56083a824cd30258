"""API keys and tenants."""

from horae.model.roles import Role
from horae.testing.waiting import wait_for

from .house import House


async def test_a_key_is_shown_once_and_only_its_hash_is_kept(house: House, conn):
    created = (await house.post("/v1/keys", {"name": "new", "role": "viewer"})).json
    secret = created["secret"]
    me = (await house.get("/v1/whoami", key=secret)).json
    assert (me["name"], me["role"], me["tenant"]) == ("new", "viewer", "red")
    listed = await house.get("/v1/keys")
    assert secret.encode() not in listed.body
    stored = await conn.fetch("select row_to_json(api_key)::text from api_key")
    assert not any(secret in row[0] for row in stored)


async def test_a_revoked_key_stops_at_once_on_this_server_and_soon_on_others(house: House, neighbour: House):
    created = (await house.post("/v1/keys", {"name": "new", "role": "viewer"})).json
    secret, key_id = created["secret"], created["key"]["id"]
    for server in (house, neighbour):
        assert (await server.get("/v1/whoami", key=secret)).status == 200
    revoked = await house.call("DELETE", f"/v1/keys/{key_id}")
    assert (revoked.status, "revoked_at" in revoked.json) == (200, True)
    assert (await house.get("/v1/whoami", key=secret)).code == "unauthenticated"

    async def refused() -> bool:
        return (await neighbour.get("/v1/whoami", key=secret)).status == 401

    await wait_for(refused)


async def test_a_key_that_has_expired_is_refused(house: House):
    created = (await house.post("/v1/keys", {"name": "brief", "role": "viewer", "expires_in": "1s"})).json
    secret = created["secret"]
    assert (await house.get("/v1/whoami", key=secret)).status == 200

    async def refused() -> bool:
        return (await house.get("/v1/whoami", key=secret)).status == 401

    await wait_for(refused)


async def test_bad_keys_and_tenants_are_refused(house: House):
    good = {"name": "x", "role": "viewer"}
    for bad in (
        {"name": ""},
        {"role": "king"},
        {"role": None},
        {"expires_in": 0},
        {"expires_in": "soon"},
        {"tenant": ""},
    ):
        answer = await house.post("/v1/keys", good | bad, who="root")
        assert answer.status in {400, 404}, (bad, answer)
    for bad in ({"name": ""}, {"name": "a b"}, {"name": "x", "weight": 0}, {"name": "x", "weight": -1}, {}):
        assert (await house.post("/v1/tenants", bad, who="root")).code == "invalid_input", bad


async def test_no_key_can_make_one_stronger_than_itself(house: House):
    for role in set(Role) - {Role.ADMIN}:
        assert (await house.post("/v1/keys", {"name": "x", "role": "admin"}, role=role)).code == "forbidden"
    mine = (await house.post("/v1/keys", {"name": "x", "role": "admin"})).json["key"]
    assert mine["tenant"] == "red"
