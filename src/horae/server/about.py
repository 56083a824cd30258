"""What the server says of itself: health, readiness, and the description of its API."""

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files

from horae.release import own_version
from horae.server.calls import Call, Reply


async def health(call: Call) -> Reply:
    return Reply({"status": "ok", "version": own_version(), "now": call.engine.clock.now().isoformat()})


async def ready(call: Call) -> Reply:
    wrong = await call.engine.ready()
    return Reply({"ready": not wrong, "wrong": wrong}, 503 if wrong else 200)


async def openapi(call: Call) -> Reply:
    from horae.server.description import describe

    return Reply(describe())


async def docs(call: Call) -> Reply:
    page, policy = _docs()
    return Reply(page, content_type=b"text/html; charset=utf-8", headers=[(b"content-security-policy", policy)])


@cache
def _docs() -> tuple[bytes, bytes]:
    """The page, and a policy that lets its own script and style run and no others: the console has the same origin."""
    page = files("horae.server").joinpath("docs.html").read_bytes()
    hashes = {
        tag: b"'sha256-" + b64encode(sha256(inside).digest()) + b"'"
        for tag, inside in re.findall(rb"<(script|style)>(.*?)</", page, re.DOTALL)
    }
    return page, (
        b"default-src 'none'; script-src %b; style-src %b; connect-src 'self'; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'" % (hashes[b"script"], hashes[b"style"])
    )
