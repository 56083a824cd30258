"""Who calls: a program by its key, or a browser by the cookie of its session.

A browser sends the cookie whether or not its user wants the request, so one that changes something must prove that our
own page made it: by a header that no other site's page can send unasked, and by where the browser says it comes from.
SameSite=Strict keeps other sites out already; pages of other ports of this host are of the same site, and these checks
keep them out too.
"""

from typing import Final
from urllib.parse import urlsplit

from horae.engine.access import Caller
from horae.model.errors import Forbidden, Unauthenticated
from horae.server.calls import Call

COOKIE: Final = "horae_session"
SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})


async def recognise(call: Call) -> Caller:
    header = call.header(b"authorization")
    if header is not None:
        return await call.engine.access.caller(_key(header))
    token = session_token(call)
    if token is None:
        raise Unauthenticated("no API key was sent: put `Authorization: Bearer KEY` into the request")
    if call.scope["method"] not in SAFE:
        check_intended(call)
    elif not _from_here(call):
        raise Unauthenticated("a page of another site cannot use the session of the console; send an API key")
    signed = await call.engine.signins.find(token)
    call.session = token
    return signed.caller


def _key(header: str) -> str:
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise Unauthenticated("the Authorization header is not `Bearer KEY`")
    return token.strip()


def session_token(call: Call) -> str | None:
    """Whatever else is in the cookies: other programs on the same host leave odd things there.

    One of them may also have put a session there, to have the user act in it: of two different ones, neither counts.
    """
    headers = (str(value, "latin-1") for key, value in call.scope["headers"] if key == b"cookie")
    pairs = [part.strip().partition("=") for header in headers for part in header.split(";")]
    tokens = {value for name, _, value in pairs if name == COOKIE and value}
    return tokens.pop() if len(tokens) == 1 else None


def check_intended(call: Call) -> None:
    """Refuses what a page other than ours may have made the browser send."""
    if call.header(b"horae-console") != "1":
        raise Forbidden("a request that is signed in by cookie must carry the header `Horae-Console: 1`")
    if not _from_here(call):
        raise Forbidden("the request comes from a page of another site; the session of the console is not for it")


def _from_here(call: Call) -> bool:
    """Whether the browser says that the request comes from our own page, or that its user typed the address."""
    site, origin = call.header(b"sec-fetch-site"), call.header(b"origin")
    if site is not None and site not in ("same-origin", "none"):
        return False
    return origin is None or urlsplit(origin).netloc == (call.header(b"host") or "")


def secure(call: Call) -> bool:
    """Whether the browser reaches us by HTTPS, through whatever stands in front of us."""
    origin = call.header(b"origin") or ""
    return "https" in (call.scope.get("scheme"), call.header(b"x-forwarded-proto"), urlsplit(origin).scheme)
