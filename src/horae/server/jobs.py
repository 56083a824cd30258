"""Jobs: submit, look, follow."""

from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

import msgspec

from horae import failpoints
from horae.engine.lists import MAX_PAGE, PAGE, JobFilter, states_of
from horae.engine.livelists import LAST_LANE, LivePlace
from horae.engine.rows import state_of
from horae.engine.submit import Submitted
from horae.model.errors import HoraeError, InvalidInput, MalformedBody
from horae.model.job import check_instant
from horae.model.rank import EPOCH, micros
from horae.model.states import State
from horae.server.calls import Call, Reply
from horae.server.decoding import decode, decode_plain
from horae.server.quotas import submit_headers
from horae.server.views import error_view, execution_view, job_view
from horae.store.lists import ExecutionPlace
from horae.wire.jobs import BulkAnswer, BulkItem, ExecutionPage, JobPage, JobRequest, JobResult

MAX_BULK: Final = 10_000
MAX_WAIT: Final = 30.0
MAX_TEXT: Final = 200
ENDED: Final = "ended"
LAST_PLACE: Final = micros(datetime(2300, 1, 1, tzinfo=UTC))
_request = msgspec.json.Decoder(JobRequest)
_items = msgspec.json.Decoder(list[msgspec.Raw])


async def submit(call: Call) -> Reply:
    request = call.read(_request)
    key = call.header(b"idempotency-key")
    if key is None:
        done = await call.engine.submit.one(call.caller, request)
    else:
        done = await call.engine.submit.once(call.caller, request, key, call.body)
    failpoints.reach("submit.before_answer")
    return Reply(done, 200 if done.existing else 201, headers=submit_headers(call, [request]))


async def submit_bulk(call: Call) -> Reply:
    requests: list[JobRequest | HoraeError] = []
    answers = await _submit_plain(call)
    if answers is None:
        requests = [_read(item) for item in _split(call)]
        answers = await call.engine.submit.many(call.caller, requests)
    refused = sum(isinstance(answer, HoraeError) for answer in answers)
    answer = BulkAnswer(len(answers) - refused, refused, [_item(answer) for answer in answers])
    failpoints.reach("bulk.before_answer")
    return Reply(answer, headers=submit_headers(call, requests))


async def _submit_plain(call: Call) -> list[Submitted | HoraeError] | None:
    """The quick way of a bulk of plain jobs; None when this is none, or one of them asks for a closer look."""
    requests = decode_plain(call.body) if _in_lines(call) else None
    if requests is None or len(requests) > MAX_BULK:
        return None
    return await call.engine.submit.plain(call.caller, requests)


def _read(item: bytes) -> JobRequest | HoraeError:
    try:
        return decode(item, _request)
    except HoraeError as error:
        return error


def _in_lines(call: Call) -> bool:
    return (call.header(b"content-type") or "").startswith("application/x-ndjson")


def _split(call: Call) -> list[bytes]:
    """The items of a bulk body, each still to be read: one bad item must not spoil the others."""
    if _in_lines(call):
        items = [line for line in call.body.splitlines() if line.strip()]
    else:
        try:
            items = [bytes(item) for item in _items.decode(call.body)]
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise MalformedBody(f"the body is not a JSON array of jobs: {str(error)[:200]}") from error
    if len(items) > MAX_BULK:
        raise InvalidInput(f"{len(items)} jobs in one request are more than {MAX_BULK}; send several")
    return items


def _item(answer: Submitted | HoraeError) -> BulkItem:
    if isinstance(answer, HoraeError):
        return BulkItem(code=answer.code, detail=answer.detail, retry_after=answer.extra.get("retry_after"))
    return BulkItem(id=answer.id, state=answer.state, existing=answer.existing)


async def get(call: Call) -> Reply:
    return Reply(job_view(await call.engine.steer.get(call.caller, call.job_id())))


async def list_jobs(call: Call) -> Reply:
    query = call.query
    tenant_id = await call.engine.access.tenant_filter(call.caller, query.get("tenant"))
    tenants = await call.engine.access.all_tenant_ids() if tenant_id is None else [tenant_id]
    limit = int(call.query_number("limit", PAGE, 1, MAX_PAGE))
    wanted = job_filter(call)
    if wanted.live:
        rows, after = await call.engine.live_lists.jobs(tenants, wanted, _cursor_live(query.get("cursor")), limit)
        return Reply(JobPage([job_view(row) for row in rows], _live_cursor(after) if after else None))
    page = await call.engine.lists.jobs(tenants, wanted, cursor_id(call), limit)
    return Reply(JobPage([job_view(row) for row in page.rows], str(page.cursor) if page.cursor else None))


def _live_cursor(place: LivePlace) -> str:
    return f"{place.state or ENDED}_{place.first}_{place.last}_{place.place}_{place.id}"


def _cursor_live(text: str | None) -> LivePlace | None:
    if text is None:
        return None
    try:
        state, first, last, place, job_id = text.split("_")
        lanes, at = (_number(first, LAST_LANE), _number(last, LAST_LANE)), _number(place, LAST_PLACE)
        return LivePlace(None if state == ENDED else State(state), *lanes, at, UUID(job_id))
    except ValueError:
        raise InvalidInput("cursor: not one that this list gave", field="cursor") from None


def _number(text: str, highest: int) -> int:
    number = int(text)
    if not 0 <= number <= highest:
        raise ValueError(number)
    return number


def job_filter(call: Call) -> JobFilter:
    query = call.query
    status = query.get("status")
    labels = []
    for text in call.query_all("label"):
        name, found, value = text.partition(":")
        if not found:
            raise InvalidInput("label: write it as name:value", field="label")
        labels.append((name, value))
    worker = int(call.query_number("worker", 0, 0, 2**31 - 1)) if "worker" in query else None
    return JobFilter(
        states=read_states(status) if status else None,
        user=query.get("user"),
        task=query.get("task"),
        queue=query.get("queue"),
        worker_id=worker,
        labels=tuple(labels),
        since=call.query_instant("since"),
        until=call.query_instant("until"),
        dead="cause" in query,
        cause=query.get("cause"),
        text=read_text(query.get("text"), "text"),
    )


def read_text(text: str | None, field: str) -> str | None:
    """What is searched for; nothing is the same as not asking."""
    if text is not None and ("\x00" in text or len(text) > MAX_TEXT):
        raise InvalidInput(f"{field}: 1…{MAX_TEXT} characters, without NUL", field=field)
    return text or None


def read_states(status: str) -> frozenset[State]:
    try:
        return states_of(status)
    except ValueError:
        names = ", ".join(["pending", *State])
        raise InvalidInput(f"status: {status[:40]!r} is none of {names}", field="status") from None


def cursor_id(call: Call) -> UUID | None:
    text = call.query.get("cursor")
    if text is None:
        return None
    try:
        return UUID(text)
    except ValueError:
        raise InvalidInput("cursor: not one that this list gave", field="cursor") from None


async def explain(call: Call) -> Reply:
    return Reply(await call.engine.explain.of(call.caller, call.job_id()))


async def timeline(call: Call) -> Reply:
    return Reply(await call.engine.explain.timeline(call.caller, call.job_id()))


async def executions(call: Call) -> Reply:
    row = await call.engine.steer.get(call.caller, call.job_id())
    rows = await call.engine.steer.executions(row)
    return Reply(ExecutionPage([execution_view(r) for r in rows]))


async def executions_by_worker(call: Call) -> Reply:
    if "worker_id" not in call.query:
        raise InvalidInput("worker_id: say whose executions", field="worker_id")
    worker_id = int(call.query_number("worker_id", 0, 0, 2**31 - 1))
    limit = int(call.query_number("limit", PAGE, 1, MAX_PAGE))
    place = _cursor_execution(call.query.get("cursor"))
    tenant_id = call.caller.tenant_id
    rows = [] if place else await call.engine.lists.executions_running(worker_id, tenant_id)
    ended, after = await call.engine.lists.executions_of_worker(worker_id, tenant_id, place, limit)
    items = [execution_view(row) for row in [*rows, *ended]]
    cursor = f"{micros(after.ended_at)}_{after.id}_{after.attempt}" if after else None
    return Reply(ExecutionPage(items, cursor))


def _cursor_execution(text: str | None) -> ExecutionPlace | None:
    if text is None:
        return None
    try:
        at, job_id, attempt = text.split("_")
        ended_at = check_instant(EPOCH + timedelta(microseconds=int(at)), "cursor")
        return ExecutionPlace(ended_at, UUID(job_id), int(attempt))
    except (ValueError, OverflowError, InvalidInput):
        raise InvalidInput("cursor: not one that this list gave", field="cursor") from None


async def result(call: Call) -> Reply:
    job_id = call.job_id()
    wait = call.query_number("wait", 0, 0, 3600)
    row = await call.engine.steer.get(call.caller, job_id)
    await call.engine.lifetimes.check(row)
    ended = await call.engine.output.result(row["tenant_id"], job_id, min(wait, MAX_WAIT))
    if ended is None:
        state = state_of(await call.engine.steer.get(call.caller, job_id))
        if not state.ended:
            return Reply(JobResult(id=job_id, state=state))
        # It ended between the two looks: the first one's answer would lack the result.
        return await result(call)
    value: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    if ended.state is State.SUCCEEDED:
        value = msgspec.Raw((ended.result or "null").encode())
    return Reply(JobResult(id=job_id, state=ended.state, result=value, error=error_view(ended.error)))
