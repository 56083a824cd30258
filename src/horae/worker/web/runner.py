"""Runs jobs that are HTTP calls.

A job of this kind has no process and no folder: it is one request, made by the agent itself behind the guard. What the
service is told, what its answer means and where it may be are each a module of their own; here they are put together.
"""

import asyncio
import ssl
import time
import zlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import aiohttp

from horae import failpoints
from horae.model.addresses import read_networks
from horae.model.errors import Forbidden, HoraeError, InvalidInput
from horae.model.kinds import HttpCall, Kind
from horae.model.states import End
from horae.model.work import JobError
from horae.worker.errands.errand import Errand, Outcome, Readiness, StopOrder
from horae.worker.errands.quarters import Quarters
from horae.worker.web.calls import Answer, Calls
from horae.worker.web.outcomes import USAGE, failed, is_among, of_answer, readable
from horae.worker.web.request import Request, make_request
from horae.worker.web.resolving import LookUp, look_up

DEFAULT_SECONDS: Final = 300.0
"""How long a call may take when its job says nothing."""


class HttpRunner:
    kind = Kind.HTTP

    def __init__(
        self,
        quarters: Quarters | None = None,
        *,
        server_url: str = "",
        allow_networks: Sequence[str] = (),
        looked_up: LookUp = look_up,
    ) -> None:
        """`quarters` is what every runner is given; calls need none of it."""
        self._server_url = server_url
        self._allowed = read_networks(allow_networks)
        self._calls = Calls(self._allowed, looked_up)

    async def prepare(self) -> Readiness:
        return Readiness(ready=True, isolation=USAGE.isolation)

    async def close(self) -> None:
        await self._calls.close()

    async def run(self, errand: Errand) -> Outcome:
        work = asyncio.ensure_future(self._run(errand))
        try:
            waiting: set[asyncio.Future[Any]] = {work, errand.stop}
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            return work.result() if work.done() else _stopped(errand.stop.result())
        finally:
            work.cancel()
            await asyncio.wait({work})

    async def _run(self, errand: Errand) -> Outcome:
        call = errand.brief.task.http
        if call is None:
            return failed(End.FATAL, "http_invalid", f"the task {errand.brief.task.name} is not an HTTP call")
        try:
            request = make_request(call, errand.grant, errand.brief, self._server_url, self._allowed)
        except HoraeError as error:
            return _refused(errand, call.method, call.url, error)
        began = time.monotonic()
        outcome, word = await self._called(call, request, errand.grant.timeout or DEFAULT_SECONDS)
        failpoints.reach("web.after_call")
        took = (time.monotonic() - began) * 1000
        errand.write("system", f"{request.method} {request.shown} → {word}, {took:.0f} ms\n".encode())
        return outcome

    async def _called(self, call: HttpCall, request: Request, seconds: float) -> tuple[Outcome, str]:
        """What came of it, and in a word."""
        try:
            async with asyncio.timeout(seconds) as timer:
                answer = await self._make(call, request)
        except TimeoutError as error:
            if timer.expired():
                text = f"{request.method} {request.shown} had no whole answer within {seconds:g} s"
                return failed(End.TIMEOUT, "timeout", text), "no answer in time"
            return _unanswered(request, error)
        except HoraeError as error:
            return failed(End.FATAL, _kind(error), error.detail), f"refused: {error.detail}"
        except (aiohttp.ClientError, zlib.error, OSError) as error:
            return _unanswered(request, error)
        return of_answer(call, answer, datetime.now(UTC)), str(answer.status)

    async def _make(self, call: HttpCall, request: Request) -> Answer:
        return await self._calls.make(
            request, call.redirects, lambda status: is_among(status, call.expect) and not call.callback
        )


def _refused(errand: Errand, method: str, url: str, error: HoraeError) -> Outcome:
    errand.write("system", f"{method} {url} was not made: {error.detail}\n".encode())
    return failed(End.FATAL, _kind(error), error.detail)


def _kind(error: HoraeError) -> str:
    if isinstance(error, Forbidden):
        return "http_refused"
    return "http_invalid" if isinstance(error, InvalidInput) else f"http_{error.code}"


def _unanswered(request: Request, error: BaseException) -> tuple[Outcome, str]:
    """Nobody knows what the service did: another attempt tells, with the same idempotency key."""
    kind = "http_tls" if isinstance(error, ssl.SSLError | aiohttp.ClientSSLError) else "http_unanswered"
    text = " ".join(readable(str(error)).replace(" ssl:default", "").split())[:500] or type(error).__name__
    return failed(End.ERROR, kind, f"{request.method} {request.shown} got no answer: {text}"), f"no answer: {text}"


def _stopped(order: StopOrder) -> Outcome:
    return Outcome(end=order.end, error=JobError(order.end.value, order.text), usage=USAGE)
