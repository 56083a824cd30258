"""Finding things by what somebody types."""

import msgspec

from horae.server.calls import Call, Reply
from horae.wire.find import Found, FoundPage

LIMIT = 8
MAX_LIMIT = 50


async def find(call: Call) -> Reply:
    limit = int(call.query_number("limit", LIMIT, 1, MAX_LIMIT))
    things = await call.engine.find.by_text(call.caller, call.query.get("text", ""), call.query.get("tenant"), limit)
    return Reply(FoundPage([msgspec.convert(thing, Found, from_attributes=True) for thing in things]))
