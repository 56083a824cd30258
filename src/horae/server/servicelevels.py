"""Service levels."""

import msgspec

from horae.engine.servicelevels import Kept, LevelSpec, LevelView
from horae.server.calls import Call, Reply
from horae.wire.servicelevels import Attainment, LateJob, ServiceLevel, ServiceLevelPage, ServiceLevelPut, WorstTask

_put = msgspec.json.Decoder(ServiceLevelPut)


async def list_levels(call: Call) -> Reply:
    views = await call.engine.service_levels.list_all(call.caller, call.query.get("tenant"))
    return Reply(ServiceLevelPage([_view(view) for view in views]))


async def get(call: Call) -> Reply:
    return Reply(_view(await call.engine.service_levels.get(call.caller, call.query.get("tenant"), call.path["name"])))


async def put(call: Call) -> Reply:
    asked = call.read(_put)
    fields = {name: getattr(asked, name) for name in ServiceLevelPut.__struct_fields__ if name != "tenant"}
    spec = LevelSpec(name=call.path["name"], **fields)
    return Reply(_view(await call.engine.service_levels.put(call.caller, asked.tenant, spec)))


async def delete(call: Call) -> Reply:
    await call.engine.service_levels.delete(call.caller, call.query.get("tenant"), call.path["name"])
    return Reply(status=204)


def _view(view: LevelView) -> ServiceLevel:
    level = view.level
    hour, day, month = (_attainment(view.spans.get(span), level.target) for span in ("hour", "day", "month"))
    return ServiceLevel(
        name=level.name, tenant=view.tenant, task=level.task, tier=level.tier, start_within=level.start_within,
        target=level.target, priority=level.priority, off_peak=level.off_peak, hour=hour, day=day, month=month,
        at_risk=view.at_risk, late=view.late,
        worst_tasks=[WorstTask(**msgspec.structs.asdict(task)) for task in view.worst],
        latest_jobs=[LateJob(**msgspec.structs.asdict(job)) for job in view.latest],
        made_by=view.made_by, made_at=view.made_at, reason=view.reason,
    )  # fmt: skip


def _attainment(sums: Kept | None, target: float) -> Attainment:
    kept, broken = (0, 0) if sums is None else (sums.kept, sums.broken)
    share = kept / (kept + broken) if kept + broken else None
    return Attainment(kept=kept, broken=broken, share=share, met=None if share is None else share >= target)
