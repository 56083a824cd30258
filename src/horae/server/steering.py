"""Steering single jobs: change, cancel, retry, clone."""

from typing import Any

import msgspec

from horae import failpoints
from horae.model.states import State
from horae.server.calls import Call, Reply
from horae.server.views import job_view
from horae.wire.jobs import JobChanges, Move

_changes = msgspec.json.Decoder(JobChanges)
_move = msgspec.json.Decoder(Move)


def _given(call: Call) -> dict[str, Any]:
    """What the body changes: only the fields that are in it."""
    changes = call.read(_changes) if call.body.strip() else JobChanges()
    return {name: value for name, value in msgspec.structs.asdict(changes).items() if value is not None}


async def _job(call: Call, status: int = 200) -> Reply:
    return Reply(job_view(await call.engine.steer.get(call.caller, call.job_id())), status)


async def change(call: Call) -> Reply:
    await call.engine.steer.change(call.caller, call.job_id(), _given(call))
    return await _job(call)


async def cancel(call: Call) -> Reply:
    state = await call.engine.steer.cancel(call.caller, call.job_id(), call.query.get("reason", ""))
    failpoints.reach("cancel.before_answer")
    return await _job(call, 202 if state is State.RUNNING else 200)


async def retry(call: Call) -> Reply:
    await call.engine.steer.retry(call.caller, call.job_id(), _given(call))
    return await _job(call)


async def move(call: Call) -> Reply:
    asked = call.read(_move) if call.body.strip() else Move()
    await call.engine.relocate.move(call.caller, call.job_id(), asked.reason, force=asked.force)
    return await _job(call, 202)


async def clone(call: Call) -> Reply:
    return Reply(await call.engine.steer.clone(call.caller, call.job_id(), _given(call)), 201)
