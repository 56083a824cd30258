"""The worker's calls, and steering workers."""

import asyncio
from typing import Any, Final

import msgspec

from horae import failpoints
from horae.engine.dispatch import Waiter
from horae.engine.fleet import Joining, Load, Steering
from horae.engine.output import Chunk
from horae.engine.sessions import Session
from horae.model.errors import InvalidInput, RepeatedExchange
from horae.model.work import Grant
from horae.server.calls import Call, Reply
from horae.server.views import worker_view
from horae.wire.briefs import Brief, BriefRequest
from horae.wire.workers import (
    CheckpointUpload,
    Drain,
    Exchange,
    Exchanged,
    Heartbeat,
    HeartbeatAnswer,
    Join,
    Joined,
    LogUpload,
    Stale,
    TaskRuns,
    WorkerEvent,
    WorkerHistory,
    WorkerPage,
)

MAX_WAIT: Final = 30.0
MAX_FINISHED: Final = 5000
MAX_PAGE: Final = 1000
MAX_NUMBER: Final = 2**31 - 1
STATES: Final = frozenset({"active", "draining", "left", "lost"})
_join = msgspec.json.Decoder(Join)
_exchange = msgspec.json.Decoder(Exchange)
_heartbeat = msgspec.json.Decoder(Heartbeat)
_logs = msgspec.json.Decoder(LogUpload)
_drain = msgspec.json.Decoder(Drain)
_checkpoint = msgspec.json.Decoder(CheckpointUpload)
_brief = msgspec.json.Decoder(BriefRequest)


async def join(call: Call) -> Reply:
    joining = msgspec.convert(call.read(_join), Joining, from_attributes=True)
    fleet = call.engine.fleet
    worker_id = await fleet.join(call.caller, joining)
    failpoints.reach("join.before_answer")
    return Reply(Joined(worker_id, fleet.lease_seconds, fleet.heartbeat_seconds), 201)


async def exchange(call: Call) -> Reply:
    asked = _decode_exchange(call)
    engine = call.engine
    session = await engine.fleet.session(call.caller, call.number("worker_id"))
    if asked.want > 0 and asked.number and not session.numbers.is_first(asked.number):
        # Not an empty answer: if the first one never arrived, the worker must name the number as lost.
        raise RepeatedExchange(f"exchange {asked.number} came twice: what it was granted the first time counts")
    if asked.lost:
        await engine.fleet.take_back(session.worker_id, asked.lost)
    answer = Exchanged()
    if asked.finished:
        await engine.fleet.progress(session.worker_id, [f.progress for f in asked.finished if f.progress is not None])
        stale = await engine.complete.attempts(session.worker_id, asked.finished)
        answer.stale = [Stale(*fence) for fence in stale]
    answer.cancel = await engine.fleet.orders(session)
    session.free = asked.free or session.whole
    if asked.want > 0 and not session.draining:
        answer.jobs = await engine.dispatch.take(session, asked.number, asked.want)
        if asked.wait > 0 and not (answer.jobs or answer.stale or answer.cancel):
            answer.jobs = await _wait(call, session, asked)
            answer.cancel = await engine.fleet.orders(session)
    answer.drain = session.draining
    failpoints.reach("exchange.before_answer")
    return Reply(answer)


def _decode_exchange(call: Call) -> Exchange:
    """Without the checks for strangers' mistakes: workers speak this protocol thousands of times a second."""
    try:
        asked = _exchange.decode(call.body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInput(f"the exchange is not valid: {str(error)[:200]}") from error
    if len(asked.finished) > MAX_FINISHED or asked.want < 0 or len(asked.lost) > MAX_FINISHED:
        raise InvalidInput(f"an exchange carries at most {MAX_FINISHED} ends, and wants 0 or more jobs")
    if not 0 <= asked.number <= MAX_NUMBER:
        raise InvalidInput(f"number: 0…{MAX_NUMBER}")
    return asked


async def _wait(call: Call, session: Session, asked: Exchange) -> list[Grant]:
    """Waits for work, an order, the end of the time, or the worker's going away."""
    dispatch = call.engine.dispatch
    waiter = dispatch.wait(session, asked.number, asked.want)
    gone = asyncio.ensure_future(call.disconnected())
    try:
        with session.nudged() as nudge:
            if session.orders_pending:
                session.nudge()  # An order came between the look and the wait.
            waiting: set[asyncio.Future[Any]] = {waiter.answer, gone, nudge}
            await asyncio.wait(waiting, timeout=min(asked.wait, MAX_WAIT), return_when=asyncio.FIRST_COMPLETED)
        if dispatch.withdraw(waiter):
            return []
        return await _served(call, waiter, gone)
    finally:
        gone.cancel()
        dispatch.withdraw(waiter)


async def _served(call: Call, waiter: Waiter, gone: "asyncio.Future[None]") -> list[Grant]:
    """The grants of a waiter that is being served. If the worker is gone, they are given away again at once.

    These and no others: what the same number was granted through another server may have arrived.
    """
    grants = await waiter.answer
    if gone.done() and grants:
        await call.engine.fleet.hand_back(waiter.session.worker_id, grants)
        return []
    return grants


async def heartbeat(call: Call) -> Reply:
    beat = call.read(_heartbeat)
    fleet = call.engine.fleet
    load = Load(beat.running, beat.queued, beat.cpu, beat.memory)
    session = await fleet.heartbeat(call.caller, call.number("worker_id"), load)
    if beat.lost:
        await fleet.take_back(session.worker_id, beat.lost)
    await fleet.progress(session.worker_id, beat.progress)
    failpoints.reach("heartbeat.before_answer")
    return Reply(HeartbeatAnswer(await fleet.orders(session), session.draining))


async def brief(call: Call) -> Reply:
    asked = call.read(_brief)
    session = await call.engine.fleet.session(call.caller, call.number("worker_id"))
    given = await call.engine.briefs.give(session.worker_id, asked.lane, asked.id, asked.attempt)
    return Reply(msgspec.convert(given, Brief, from_attributes=True))


async def logs(call: Call) -> Reply:
    upload = call.read(_logs)
    session = await call.engine.fleet.session(call.caller, call.number("worker_id"))
    chunks = [Chunk(c.lane, c.id, c.attempt, c.seq, c.stream, c.text) for c in upload.chunks]
    await call.engine.output.append_logs(session.worker_id, chunks)
    return Reply(status=204)


async def checkpoint(call: Call) -> Reply:
    saved = call.read(_checkpoint)
    session = await call.engine.fleet.session(call.caller, call.number("worker_id"))
    await call.engine.output.save_checkpoint(session.worker_id, saved.lane, saved.id, saved.attempt, bytes(saved.data))
    return Reply(status=204)


async def result(call: Call) -> Reply:
    session = await call.engine.fleet.session(call.caller, call.number("worker_id"))
    try:
        msgspec.json.decode(call.body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInput(f"the result is not JSON: {str(error)[:200]}") from error
    await call.engine.output.save_result(session.worker_id, call.job_id(), call.number("attempt"), call.body)
    failpoints.reach("result.before_answer")
    return Reply(status=204)


async def leave(call: Call) -> Reply:
    await call.engine.fleet.leave(call.caller, call.number("worker_id"))
    return Reply(status=204)


async def list_workers(call: Call) -> Reply:
    states = call.query.get("state", "active,draining").split(",")
    if not STATES.issuperset(states):
        raise InvalidInput(f"state: one or more of {', '.join(sorted(STATES))}", field="state")
    tenant_id = await call.engine.access.tenant_filter(call.caller, call.query.get("tenant"))
    limit = int(call.query_number("limit", MAX_PAGE, 1, MAX_PAGE))
    rows, after = await call.engine.fleet.page(tenant_id, states, _cursor(call), limit)
    views = [worker_view(row) for row in rows]
    if call.query.get("runs") == "true":
        runs = await call.engine.fleet.runs(tenant_id)
        for view in views:
            view.runs = [TaskRuns(row["task"], row["jobs"]) for row in runs.get(view.id, ())]
    return Reply(WorkerPage(views, None if after is None else str(after)))


def _cursor(call: Call) -> int | None:
    text = call.query.get("cursor")
    if text is not None and not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise InvalidInput("cursor: not one that this list gave", field="cursor")
    return None if text is None else int(text)


async def get(call: Call) -> Reply:
    return Reply(worker_view(await call.engine.fleet.get(call.caller, call.number("worker_id"))))


async def history(call: Call) -> Reply:
    rows = await call.engine.fleet.history(call.caller, call.number("worker_id"))
    return Reply(WorkerHistory([msgspec.convert(dict(row), WorkerEvent) for row in rows]))


async def drain(call: Call) -> Reply:
    asked = call.read(_drain) if call.body.strip() else Drain()
    worker_id = call.number("worker_id")
    steering = Steering(reason=asked.reason, lasts=asked.lasts)
    view = worker_view(await call.engine.fleet.steer(call.caller, worker_id, "draining", steering))
    if asked.move:
        cleared = await call.engine.relocate.clear(call.caller, worker_id, asked.reason or "its worker is drained")
        view.moving, view.staying = cleared
    return Reply(view)


async def resume(call: Call) -> Reply:
    return Reply(worker_view(await call.engine.fleet.steer(call.caller, call.number("worker_id"), "active")))
