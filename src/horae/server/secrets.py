"""Secrets: set, list and delete them, and give them new keys. Their values only ever come in."""

import msgspec

from horae.engine.secrets import SecretView
from horae.model.roles import Permission
from horae.server.calls import Call, Reply
from horae.wire.secrets import Rotated, Secret, SecretPage, SecretPut

_put = msgspec.json.Decoder(SecretPut)


async def list_secrets(call: Call) -> Reply:
    tenant_id = await call.engine.access.tenant_filter(call.caller, call.query.get("tenant"))
    return Reply(SecretPage([_shown(call, view) for view in await call.engine.secrets.list_all(tenant_id)]))


async def get(call: Call) -> Reply:
    return Reply(_shown(call, await call.engine.secrets.get(await _tenant(call), call.path["name"])))


async def put(call: Call) -> Reply:
    asked = call.read(_put)
    view = await call.engine.secrets.set(call.caller, await _tenant(call), call.path["name"], asked.value)
    return Reply(_shown(call, view))


async def delete(call: Call) -> Reply:
    force = call.query.get("force") == "true"
    await call.engine.secrets.delete(call.caller, await _tenant(call), call.path["name"], force=force)
    return Reply(status=204)


async def rotate_tenant(call: Call) -> Reply:
    return Reply(Rotated(await call.engine.key_rotation.tenant(call.caller, await _tenant(call))))


async def rotate_master(call: Call) -> Reply:
    return Reply(Rotated(await call.engine.key_rotation.master(call.caller)))


async def _tenant(call: Call) -> int:
    return await call.engine.access.tenant_for(call.caller, call.query.get("tenant"))


def _shown(call: Call, view: SecretView) -> Secret:
    if Permission.SECRETS_WRITE in call.caller.granted:
        return msgspec.convert(view, Secret, from_attributes=True)
    return Secret(tenant=view.tenant, name=view.name)
