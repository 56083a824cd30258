"""Tasks, tenants and keys."""

import msgspec

from horae.engine.tasks import SHARED
from horae.model.errors import InvalidInput
from horae.model.task import TaskDefinition
from horae.server.calls import Call, Reply
from horae.server.views import key_view, task_view, tenant_view
from horae.wire.access import KeyCreate, KeyCreated, KeyPage, TaskPage, TenantChange, TenantCreate, TenantPage, Whoami

_task = msgspec.json.Decoder(TaskDefinition)
_tenant = msgspec.json.Decoder(TenantCreate)
_tenant_change = msgspec.json.Decoder(TenantChange)
_key = msgspec.json.Decoder(KeyCreate)


async def list_tasks(call: Call) -> Reply:
    tenant_id = await call.engine.access.tenant_filter(call.caller, call.query.get("tenant"))
    return Reply(TaskPage([task_view(task) for task in await call.engine.tasks.list_all(tenant_id)]))


async def get_task(call: Call) -> Reply:
    tenant_id = await call.engine.access.tenant_for(call.caller, call.query.get("tenant"))
    return Reply(task_view(await call.engine.tasks.get(tenant_id, call.path["name"])))


async def put_task(call: Call) -> Reply:
    definition = call.read(_task)
    if definition.name != call.path["name"]:
        raise InvalidInput(f"name: the body says {definition.name!r}, the address {call.path['name']!r}", field="name")
    if call.caller.tenant_id is None and "tenant" not in call.query:
        tenant_id = SHARED
    else:
        tenant_id = await call.engine.access.tenant_for(call.caller, call.query.get("tenant"))
    await call.engine.tasks.register(tenant_id, definition)
    return Reply(task_view(await call.engine.tasks.get(tenant_id, definition.name)))


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
    return Reply(Whoami(call.caller.name, call.caller.role, call.caller.tenant))
