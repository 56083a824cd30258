"""What an answer, or the lack of one, means for the job. Pure."""

import base64
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

import msgspec

from horae.model.httpchecks import read_statuses
from horae.model.kinds import HttpCall
from horae.model.states import End
from horae.model.work import JobError, Usage
from horae.worker.errands.errand import Outcome
from horae.worker.web.calls import EXCERPT_BYTES, Answer

CHOSEN: Final = ("content-type", "etag", "last-modified", "link", "location", "x-request-id")
"""The headers of an answer that are kept with the result."""
MAX_RETRY_AFTER: Final = 86_400.0
EXCERPT: Final = 500
USAGE: Final = Usage(isolation="guarded")
_encoder: Final = msgspec.json.Encoder()


def is_among(status: int, statuses: list[str]) -> bool:
    return any(status in read_statuses(text) for text in statuses)


def of_answer(call: HttpCall, answer: Answer, now: datetime) -> Outcome:
    if is_among(answer.status, call.expect):
        if call.callback:
            return Outcome(end=End.PARKED, usage=USAGE)
        return Outcome(result=_result(answer), usage=USAGE)
    again = is_among(answer.status, call.retry_on)
    return failed(
        End.ERROR if again else End.FATAL,
        f"http_{answer.status}",
        f"{answer.request.method} {answer.request.shown} answered {answer.status} {readable(answer.reason)}".strip()
        + _excerpt(answer),
        retry_after(answer.headers, now) if again else None,
    )


def readable(text: str) -> str:
    """Bytes of a service that are no UTF-8 come as lone surrogates, which nothing else could take."""
    return text.encode(errors="surrogateescape").decode(errors="replace")


def failed(end: End, kind: str, message: str, after: float | None = None) -> Outcome:
    return Outcome(end=end, error=JobError(kind, message), retry_after=after, usage=USAGE)


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that the service asks to be left alone, bounded; None when it says nothing that can be read.

    An instant is counted from the service's own clock, if its answer tells the time.
    """
    text = headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:20]), MAX_RETRY_AFTER)
    at = _instant(text)
    if at is None:
        return None
    seconds = (at - (_instant(headers.get("Date", "")) or now)).total_seconds()
    return min(max(seconds, 0.0), MAX_RETRY_AFTER)


def _instant(text: str) -> datetime | None:
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return None
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def _result(answer: Answer) -> bytes:
    headers = {name: readable(answer.headers[name]) for name in CHOSEN if name in answer.headers}
    return _encoder.encode({"status": answer.status, "headers": headers, **_told_body(answer)})


def _told_body(answer: Answer) -> dict[str, Any]:
    """JSON as JSON, text as text, anything else as base64."""
    if not answer.body:
        return {"body": None}
    try:
        msgspec.json.decode(answer.body)
        return {"body": msgspec.Raw(answer.body)}
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return {"body": answer.body.decode(answer.charset)}
    except (UnicodeDecodeError, LookupError):
        return {"body": None, "body_base64": base64.b64encode(answer.body).decode()}


def _excerpt(answer: Answer) -> str:
    text = " ".join(answer.body.decode(errors="replace").split())
    if len(text) > EXCERPT or len(answer.body) >= EXCERPT_BYTES:
        text = text[:EXCERPT] + "…"  # So that who masks it knows that there may be half a secret.
    return f": {text}" if text else ""
