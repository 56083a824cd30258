"""Limits on what runs."""

from uuid import UUID

import msgspec

from horae.engine.limits import LimitSpec, LimitView
from horae.server.calls import Call, Reply
from horae.server.quotas import waiting_views
from horae.wire.limits import Limit, LimitHolder, LimitPage, LimitPut, LimitUse

_put = msgspec.json.Decoder(LimitPut)


async def list_limits(call: Call) -> Reply:
    views = await call.engine.limits.list_all(call.caller, call.query.get("tenant"))
    return Reply(LimitPage([_view(view) for view in views]))


async def get(call: Call) -> Reply:
    return Reply(_view(await call.engine.limits.get(call.caller, call.query.get("tenant"), call.path["name"])))


async def use(call: Call) -> Reply:
    found = await call.engine.limit_use.of(call.caller, call.query.get("tenant"), call.path["name"])
    holders = [
        LimitHolder(
            job_id=UUID(row["id"]), tenant=row["tenant"], queue=row["queue"], task=row["task"],
            worker_id=row["worker_id"], since=row["granted_at"],
        )
        for row in found.holders
    ]  # fmt: skip
    waiting = waiting_views(found.waiting)
    return Reply(LimitUse(limit=_view(found.view), holders=holders, waiting=waiting, more_waiting=found.waiting.more))


async def put(call: Call) -> Reply:
    asked = call.read(_put)
    fields = {name: getattr(asked, name) for name in LimitPut.__struct_fields__ if name not in {"tenant", "each"}}
    spec = LimitSpec(name=call.path["name"], each=tuple(asked.each), **fields)
    return Reply(_view(await call.engine.limits.put(call.caller, asked.tenant, spec)))


async def remove(call: Call) -> Reply:
    await call.engine.limits.remove(call.caller, call.query.get("tenant"), call.path["name"])
    return Reply(status=204)


def _view(view: LimitView) -> Limit:
    rule = view.rule
    return Limit(
        name=rule.name, tenant=view.tenant, queue=rule.queue, task=rule.task, key=rule.key, each=list(rule.each),
        max_running=rule.max_running, rate=rule.rate, burst=rule.burst, running=view.running or 0,
        groups=view.groups or 0, of_task=view.of_task, made_by=view.made_by, made_at=view.made_at, reason=view.reason,
    )  # fmt: skip
