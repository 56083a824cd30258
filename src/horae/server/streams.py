"""What jobs tell while they run: output, pieces of results, states; by page or followed as server-sent events."""

import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg

from horae.engine.rows import state_of
from horae.model.errors import InvalidInput
from horae.server.calls import Call, EventStream, Reply, Send, event
from horae.server.views import log_view, partial_view, progress_view
from horae.wire.files import PartialPage
from horae.wire.jobs import JobEvent, LogPage

LOG_PAGE: Final = 200
FOLLOW_SECONDS: Final = 0.3
LOG_CURSOR: Final = re.compile(r"([0-9]{1,9})-(-?[0-9]{1,9})")


class Told(NamedTuple):
    """What is told: the event's name, how a row is shown, and where rows come from."""

    name: str
    view: Callable[[asyncpg.Record], object]
    page: Callable[[int, UUID, tuple[int, int], int], Awaitable[list[asyncpg.Record]]]


class LogText:
    """A job's log, or that of one attempt, as plain text to be kept: sent page by page, whatever its size."""

    def __init__(self, call: Call, job: asyncpg.Record, attempt: int | None) -> None:
        self._call = call
        self._job = job
        self._attempt = attempt

    async def send(self, send: Send) -> None:
        name = f"{self._job['id']}.log".encode()
        headers = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-disposition", b'attachment; filename="' + name + b'"'),
            (b"x-content-type-options", b"nosniff"),
            (b"cache-control", b"private, no-store"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        async for text in self._texts():
            await send({"type": "http.response.body", "body": text.encode("utf-8", "replace"), "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def _texts(self) -> AsyncIterator[str]:
        after = (self._attempt or 0, -1)
        while rows := await self._call.engine.output.log_page(self._job["tenant_id"], self._job["id"], after, LOG_PAGE):
            wanted = [row for row in rows if self._attempt in (None, row["attempt"])]
            yield "".join(row["text"] for row in wanted)
            if len(wanted) < len(rows):
                return
            after = (rows[-1]["attempt"], rows[-1]["seq"])


async def logs(call: Call) -> Reply | EventStream | LogText:
    if _yes(call, "download"):
        row = await call.engine.steer.get(call.caller, call.job_id())
        return LogText(call, row, int(call.query_number("attempt", 0, 0, 2**31 - 1)) or None)
    return await _tell(call, Told("log", log_view, call.engine.output.log_page), LogPage)


async def partial(call: Call) -> Reply | EventStream:
    return await _tell(call, Told("partial", partial_view, call.engine.output.partial_page), PartialPage)


async def _tell(call: Call, told: Told, page: Callable[..., LogPage | PartialPage]) -> Reply | EventStream:
    row = await call.engine.steer.get(call.caller, call.job_id())
    # A browser that connects again asks the address it began with: what it has heard last is later than its cursor.
    after = _read_cursor(call.header(b"last-event-id") or call.query.get("cursor"))
    if _yes(call, "follow"):
        return EventStream(call, _follow(call, row, after, told))
    limit = int(call.query_number("limit", LOG_PAGE, 1, 1000))
    rows = await told.page(row["tenant_id"], row["id"], after, limit)
    return Reply(page([told.view(r) for r in rows], _next_cursor(row, rows, after, limit)))


def _yes(call: Call, name: str) -> bool:
    return call.query.get(name, "").lower() in {"1", "true", "yes"}


def _read_cursor(text: str | None) -> tuple[int, int]:
    """A cursor is attempt-seq; before the first line it is 0--1."""
    if not text:
        return 0, -1
    found = LOG_CURSOR.fullmatch(text)
    if found is None:
        raise InvalidInput("cursor: not one that this log gave", field="cursor")
    return int(found[1]), int(found[2])


def _next_cursor(row: asyncpg.Record, rows: list[asyncpg.Record], after: tuple[int, int], limit: int) -> str | None:
    """None when there is nothing more to come."""
    if len(rows) < limit and state_of(row).ended:
        return None
    last = (rows[-1]["attempt"], rows[-1]["seq"]) if rows else after
    return f"{last[0]}-{last[1]}"


async def _follow(call: Call, job: asyncpg.Record, after: tuple[int, int], told: Told) -> AsyncIterator[bytes | None]:
    job_id, tenant_id = job["id"], job["tenant_id"]
    quiet_since = time.monotonic()
    while True:
        # The state is read before the log, so that nothing printed before the end is missed after it.
        row = await call.engine.steer.get(call.caller, job_id)
        rows = await told.page(tenant_id, job_id, after, LOG_PAGE)
        for r in rows:
            after = (r["attempt"], r["seq"])
            yield event(told.name, told.view(r), f"{after[0]}-{after[1]}")
        if rows:
            quiet_since = time.monotonic()
        elif state_of(row).ended:
            yield event("end", _job_event(call, row))
            return
        elif time.monotonic() - quiet_since > EventStream.KEEP_ALIVE_SECONDS:
            quiet_since = time.monotonic()
            yield None
        if len(rows) < LOG_PAGE:
            await call.engine.watch.wait(tenant_id, str(job_id), FOLLOW_SECONDS)


async def events(call: Call) -> EventStream:
    row = await call.engine.steer.get(call.caller, call.job_id())
    return EventStream(call, _events(call, row))


async def _events(call: Call, row: asyncpg.Record) -> AsyncIterator[bytes | None]:
    seen: tuple[object, ...] | None = None
    quiet_since = time.monotonic()
    while True:
        now = _job_event(call, row)
        what = (now.state, now.attempt, now.progress)
        if what != seen:
            seen, quiet_since = what, time.monotonic()
            yield event("state", now)
        if now.state.ended:
            return
        if time.monotonic() - quiet_since > EventStream.KEEP_ALIVE_SECONDS:
            quiet_since = time.monotonic()
            yield None
        await call.engine.watch.wait(row["tenant_id"], str(row["id"]), FOLLOW_SECONDS)
        row = await call.engine.steer.get(call.caller, row["id"])


def _job_event(call: Call, row: asyncpg.Record) -> JobEvent:
    return JobEvent(row["id"], state_of(row), row["attempt"], call.engine.clock.now(), progress_view(row))
