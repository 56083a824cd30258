"""Calls back. No key is needed: the token in the path is the authority, for one attempt of one job."""

import msgspec

from horae import failpoints
from horae.model.callbacks import CallbackReport
from horae.server.calls import Call, Reply
from horae.wire.callbacks import CallbackAccepted

_report = msgspec.json.Decoder(CallbackReport)


async def report(call: Call) -> Reply:
    address, _ = call.scope.get("client") or ("", 0)
    accepted = await call.engine.callbacks.report(call.path["token"], call.read(_report), address)
    failpoints.reach("callback.before_answer")
    return Reply(msgspec.convert(accepted, CallbackAccepted, from_attributes=True))
