"""The ASGI application: finds the route, authorises the caller, calls the handler, maps errors. Nothing else."""

from collections.abc import Iterable
from typing import Final
from urllib.parse import unquote

import asyncpg
import structlog

from horae import failpoints
from horae.engine.engine import Engine
from horae.model.errors import (
    HoraeError,
    InvalidInput,
    MethodNotAllowed,
    NotFound,
    OutcomeUnknown,
    Unauthenticated,
    UnsatisfiableRange,
)
from horae.model.roles import Permission
from horae.server.calls import Answer, Call, Receive, Reply, Scope, Send
from horae.server.protocol import drop
from horae.server.quotas import problem_headers
from horae.server.recognition import recognise
from horae.server.routes import ROUTES, Route
from horae.store.database import LOST
from horae.wire.problems import CONTENT_TYPE, encode_problem

log = structlog.get_logger()
CALLBACKS: Final = "/v1/callbacks/"


class Router:
    """Finds routes by their segments. A route without a permission does not start."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._fixed: dict[tuple[str, str], Route] = {}
        self._shapes: dict[tuple[str, int], list[tuple[list[str], Route]]] = {}
        self._wide: list[Route] = []
        for route in routes:
            if not isinstance(route.permission, Permission):
                raise TypeError(f"{route.method} {route.path} declares no permission")
            if "{" in route.path:
                segments = route.path.split("/")
                self._shapes.setdefault((route.method, len(segments)), []).append((segments, route))
            else:
                self._fixed[route.method, route.path] = route
            if route.wide:
                self._wide.append(route)

    def find(self, method: str, path: str, raw: bytes | None = None) -> tuple[Route, dict[str, str]]:
        """`raw` is the path before decoding: a segment may hold an escaped slash."""
        route = self._fixed.get((method, path))
        if route is not None:
            return route, {}
        parts = path.split("/")
        if raw is not None and b"%" in raw:
            parts = [unquote(part) for part in raw.decode("latin-1").split("/")]
        for segments, shaped in self._shapes.get((method, len(parts)), ()):
            found = _match(segments, parts)
            if found is not None:
                return shaped, found
        for route in self._wide:
            if method == route.method and path.startswith(f"{route.path}/"):
                return route, {}
        raise self._missing(path)

    def _missing(self, path: str) -> HoraeError:
        methods = {m for m, p in self._fixed if p == path}
        parts = path.split("/")
        methods |= {
            method
            for (method, size), shaped in self._shapes.items()
            if size == len(parts) and any(_match(segments, parts) is not None for segments, _ in shaped)
        }
        if methods:
            return MethodNotAllowed(f"{path[:200]} takes {', '.join(sorted(methods))}", allow=sorted(methods))
        return NotFound(f"there is nothing at {path[:200]}; see /docs")


def _match(segments: list[str], parts: list[str]) -> dict[str, str] | None:
    found: dict[str, str] = {}
    for segment, part in zip(segments, parts, strict=True):
        if segment[:1] == "{":
            if not part:
                return None
            found[segment[1:-1]] = part
        elif segment != part:
            return None
    return found


class Application:
    def __init__(self, engine: Engine, routes: Iterable[Route] = ROUTES) -> None:
        self._engine = engine
        self._router = Router(routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close"})
            return
        reply: Answer
        try:
            reply = await self._answer(scope, receive)
        except failpoints.Dropped:
            await drop(receive)
            return
        except Exception as error:  # noqa: BLE001 - the edge: whatever it is becomes a problem document
            reply = self._problem(error, scope["path"])
        await reply.send(send)

    async def _answer(self, scope: Scope, receive: Receive) -> Answer:
        route, path = self._router.find(scope["method"], scope["path"], scope.get("raw_path"))
        call = Call(self._engine, scope, receive, path)
        if route.permission is not Permission.PUBLIC:
            call.recognise = recognise
            call.caller = await recognise(call)
            call.caller.may(route.permission)
        if scope["method"] != "GET" and not route.streamed:
            await call.read_body(route.limit)
        return await route.handler(call)

    def _problem(self, error: Exception, path: str) -> Reply:
        known = self._known(error)
        if known.status >= 500 and not isinstance(error, HoraeError):
            traced = not isinstance(known, OutcomeUnknown)
            log.error("request_failed", path=_without_token(path), error=repr(error), exc_info=traced)
        headers = []
        if "retry_after" in known.extra:
            headers.append((b"retry-after", str(known.extra["retry_after"]).encode()))
        headers += problem_headers(known)
        if "allow" in known.extra:
            headers.append((b"allow", ", ".join(known.extra["allow"]).encode()))
        if isinstance(known, UnsatisfiableRange):
            headers.append((b"content-range", b"bytes */%d" % known.extra["size"]))
        if isinstance(known, Unauthenticated):
            headers.append((b"www-authenticate", b"Bearer"))
        body = encode_problem(known, path)
        return Reply(body, known.status, content_type=CONTENT_TYPE.encode(), headers=headers)

    @staticmethod
    def _known(error: Exception) -> HoraeError:
        if isinstance(error, HoraeError):
            return error
        if isinstance(error, asyncpg.DataError):
            return InvalidInput(f"a value is not acceptable to the database: {str(error)[:200]}")
        if isinstance(error, LOST):
            return OutcomeUnknown("the database went away in the middle; whether this happened is unknown")
        return HoraeError("an error inside the server; its log has the details")


def _without_token(path: str) -> str:
    """The address of a callback is its key: it must not get into a log."""
    return path[: len(CALLBACKS)] if path.startswith(CALLBACKS) else path
