"""What the server says of itself: health, readiness, and the description of its API."""

from importlib.metadata import version
from importlib.resources import files

from horae.server.calls import Call, Reply

CSP = b"default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'"


async def health(call: Call) -> Reply:
    return Reply({"status": "ok", "version": version("horae"), "now": call.engine.clock.now().isoformat()})


async def ready(call: Call) -> Reply:
    wrong = await call.engine.ready()
    return Reply({"ready": not wrong, "wrong": wrong}, 503 if wrong else 200)


async def openapi(call: Call) -> Reply:
    from horae.server.description import describe

    return Reply(describe())


async def docs(call: Call) -> Reply:
    page = files("horae.server").joinpath("docs.html").read_bytes()
    return Reply(page, content_type=b"text/html; charset=utf-8", headers=[(b"content-security-policy", CSP)])
