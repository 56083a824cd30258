"""Where a redirect leads: judged as if it were a first call, and without what was meant for another host. Pure."""

from collections.abc import Sequence
from typing import Final

import msgspec
from yarl import URL

from horae.model.addresses import Network
from horae.model.errors import Forbidden, InvalidInput
from horae.model.webhooks import ID, SIGNATURE, TIMESTAMP
from horae.worker.web.guard import check_url
from horae.worker.web.request import CALLBACK, Request

STATUSES: Final = frozenset({301, 302, 303, 307, 308})
SAME_METHOD: Final = frozenset({307, 308})
ABOUT_A_BODY: Final = frozenset({"content-type", "content-encoding", "content-language", ID, TIMESTAMP, SIGNATURE})


def redirected(request: Request, status: int, location: str, allowed: Sequence[Network]) -> Request:
    url = check_url(_joined(request.url, location), allowed)
    if request.url.scheme == "https" and url.scheme == "http":
        raise Forbidden(f"{request.shown} redirects from https to http; what was private would travel in the open")
    if status not in SAME_METHOD and request.method != "HEAD":
        request = _as_get(request)
    if url.origin() != request.url.origin():
        request = _for_a_stranger(request, url)
    return msgspec.structs.replace(request, url=url, shown=str(url.with_query(None).with_fragment(None)))


def _joined(base: URL, location: str) -> str:
    try:
        return str(base.join(URL(location)))
    except ValueError as error:
        raise InvalidInput(f"the redirect leads to {location[:200]!r}, which cannot be read: {error}") from error


def _as_get(request: Request) -> Request:
    headers = {name: value for name, value in request.headers.items() if name.lower() not in ABOUT_A_BODY}
    return msgspec.structs.replace(request, method="GET", body=None, headers=headers, secret_body=False)


def _for_a_stranger(request: Request, url: URL) -> Request:
    if CALLBACK in request.headers:
        raise Forbidden(
            f"{request.shown} redirects to {url.origin()}, and a call with a callback follows no redirect to another "
            "host: give the task the last address"
        )
    if request.secret_body:
        raise Forbidden(f"{request.shown} redirects to {url.origin()}, for which the secret in the body is not meant")
    headers = {name: value for name, value in request.headers.items() if name.lower() not in request.confidential}
    return msgspec.structs.replace(request, headers=headers)
