"""Tenants and keys."""

import msgspec

from horae.server.calls import Call, Reply
from horae.server.views import key_view, tenant_view
from horae.wire.access import KeyCreate, KeyCreated, KeyPage, TenantChange, TenantCreate, TenantPage, Whoami

_tenant = msgspec.json.Decoder(TenantCreate)
_tenant_change = msgspec.json.Decoder(TenantChange)
_key = msgspec.json.Decoder(KeyCreate)


async def list_tenants(call: Call) -> Reply:
    return Reply(TenantPage([tenant_view(t) for t in await call.engine.access.list_tenants(call.caller)]))


async def create_tenant(call: Call) -> Reply:
    asked = call.read(_tenant)
    return Reply(tenant_view(await call.engine.access.create_tenant(call.caller, asked.name, asked.weight)), 201)


async def change_tenant(call: Call) -> Reply:
    asked = call.read(_tenant_change)
    return Reply(tenant_view(await call.engine.access.change_tenant(call.caller, call.path["name"], asked.weight)))


async def list_keys(call: Call) -> Reply:
    return Reply(KeyPage([key_view(key) for key in await call.engine.access.list_keys(call.caller)]))


async def create_key(call: Call) -> Reply:
    asked = call.read(_key)
    key, secret = await call.engine.access.create_key(
        call.caller, asked.name, asked.role, asked.tenant, asked.expires_in
    )
    return Reply(KeyCreated(key=key_view(key), secret=secret), 201)


async def revoke_key(call: Call) -> Reply:
    return Reply(key_view(await call.engine.access.revoke_key(call.caller, call.number("key_id"))))


async def whoami(call: Call) -> Reply:
    return Reply(Whoami(call.caller.name, call.caller.role, call.caller.tenant, sorted(call.caller.granted)))
