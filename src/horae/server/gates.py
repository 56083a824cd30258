"""Gates and the emergency stop."""

from typing import Final

import asyncpg
import msgspec

from horae.engine.gatepreview import preview as look_ahead
from horae.engine.gates import COUNT_IN_LIST, COUNT_OF_ONE, MAX_GATES, GateOrder
from horae.model.errors import InvalidInput
from horae.model.gates import Action, Kind, Running
from horae.server.calls import Call, Reply
from horae.wire.gates import (
    Gate,
    GateChanges,
    GateCreate,
    GatePage,
    GatePreview,
    GateRelease,
    GateRestore,
    PreviewJob,
    Restored,
    Stop,
    StoppedQueue,
    StopPreview,
)

LARGEST: Final = 10
"""Queues that the preview of a stop names."""

_create = msgspec.json.Decoder(GateCreate)
_changes = msgspec.json.Decoder(GateChanges)
_release = msgspec.json.Decoder(GateRelease)
_restore = msgspec.json.Decoder(GateRestore)
_stop = msgspec.json.Decoder(Stop)


async def list_gates(call: Call) -> Reply:
    over = call.query.get("all") == "true"
    kind = call.query.get("kind")
    if kind is not None and kind not in set(Kind):
        raise InvalidInput(f"kind: one of {', '.join(Kind)}", field="kind")
    rows = await call.engine.gating.list_all(
        call.caller, call.query.get("tenant"), over=over, kind=None if kind is None else Kind(kind)
    )
    return Reply(GatePage([_view(row, COUNT_IN_LIST) for row in rows], more=len(rows) == MAX_GATES))


async def create(call: Call) -> Reply:
    return Reply(_view(await call.engine.gating.create(call.caller, _order(call))), 201)


async def get(call: Call) -> Reply:
    return Reply(_view(await call.engine.gating.get(call.caller, call.number("gate_id"))))


async def change(call: Call) -> Reply:
    asked = call.read(_changes)
    gate = await call.engine.gating.change(call.caller, call.number("gate_id"), asked.reason, asked.expires_in)
    return Reply(_view(gate))


async def release(call: Call) -> Reply:
    asked = call.read(_release) if call.body.strip() else GateRelease()
    return Reply(_view(await call.engine.gating.release(call.caller, call.number("gate_id"), asked.rate)))


async def restore(call: Call) -> Reply:
    asked = call.read(_restore) if call.body.strip() else GateRestore()
    restored, more = await call.engine.gating.restore(
        call.caller, call.number("gate_id"), asked.queue, asked.task, asked.ids
    )
    return Reply(Restored(restored=restored, more=more))


async def preview(call: Call) -> Reply:
    found = await look_ahead(call.engine.stores.gates, call.engine.access, call.caller, _order(call))
    sample = [
        PreviewJob(id=row["id"], task=row["task"], queue=row["queue"], state=state) for row, state in found.sample
    ]
    return Reply(
        GatePreview(
            matching=found.matching, looked_at=found.looked_at, complete=found.complete, sample=sample, note=found.note
        )
    )


async def stop(call: Call) -> Reply:
    asked = call.read(_stop) if call.body.strip() else Stop()
    order = GateOrder(reason=asked.reason, running=asked.running, tenant=asked.tenant, expires_in=asked.expires_in)
    return Reply(_view(await call.engine.gating.stop(call.caller, order)))


async def stop_preview(call: Call) -> Reply:
    tenant = call.query.get("tenant") or call.caller.tenant
    radius = await call.engine.gating.radius(call.caller, tenant)
    rows = radius.rows
    return Reply(
        StopPreview(
            tenant=tenant, pending=sum(row["pending"] for row in rows), running=sum(row["running"] for row in rows),
            workers=radius.workers, tenants=len({row["tenant"] for row in rows}), queues=len(rows),
            largest=[msgspec.convert(dict(row), StoppedQueue) for row in rows[:LARGEST]],
            stops=[_view(row) for row in radius.stops],
        )
    )  # fmt: skip


async def go(call: Call) -> Reply:
    released = await call.engine.gating.release_stop(call.caller, call.query.get("tenant"), call.query.get("rate"))
    return Reply(GatePage([_view(row) for row in released]))


def _order(call: Call) -> GateOrder:
    return msgspec.convert(call.read(_create), GateOrder, from_attributes=True)


def _view(row: asyncpg.Record, bound: int = COUNT_OF_ONE) -> Gate:
    names = set(Gate.__struct_fields__) & set(row.keys())
    values = {name: row[name] for name in names} | {
        "state": _state(row),
        "action": Action(row["action"]),
        "kind": Kind(row["kind"]),
        "running": Running(row["running"]),
        "held_more": row["held"] >= bound,
    }
    return Gate(**values)


def _state(row: asyncpg.Record) -> str:
    if row["released_at"] is None:
        return "closed"
    return "releasing" if row["drained_at"] is None else "over"
