"""Signing in to the console and out of it."""

from http.cookies import SimpleCookie
from typing import Final

import msgspec

from horae.engine.access import Caller
from horae.engine.signins import SESSION_SECONDS, Signed
from horae.model.errors import Forbidden, InvalidInput
from horae.server.calls import Call, Reply
from horae.server.recognition import COOKIE, check_intended, secure, session_token
from horae.wire.console import ConsoleTicket, Session, SignIn

_sign_in = msgspec.json.Decoder(SignIn)
SIGN_IN_PATH: Final = "/console/sign-in#ticket="


async def sign_in(call: Call) -> Reply:
    asked = call.read(_sign_in)
    # Else another site could sign a user in as somebody else, who then sees what the user does.
    check_intended(call)
    if asked.key is not None and asked.ticket is None:
        token, signed = await call.engine.signins.by_key(asked.key)
    elif asked.ticket is not None and asked.key is None:
        token, signed = await call.engine.signins.by_ticket(asked.ticket)
    else:
        raise InvalidInput("send either a key or a ticket", field="key")
    return Reply(_view(signed.caller, signed), 201, headers=[_cookie(call, token, int(SESSION_SECONDS)), _NO_STORE])


async def get(call: Call) -> Reply:
    signed = None if call.session is None else await call.engine.signins.find(call.session)
    return Reply(_view(call.caller, signed), headers=[_NO_STORE])


async def sign_out(call: Call) -> Reply:
    token = session_token(call)
    if token is not None:
        await call.engine.signins.sign_out(token)
    return Reply(status=204, headers=[_cookie(call, "", 0)])


async def make_ticket(call: Call) -> Reply:
    if call.session is not None:
        raise Forbidden("a session makes no tickets, or it would never end; use the API key")
    ticket = await call.engine.signins.ticket(call.caller)
    view = ConsoleTicket(ticket=ticket.secret, expires_at=ticket.expires_at, path=SIGN_IN_PATH + ticket.secret)
    return Reply(view, 201, headers=[_NO_STORE])


_NO_STORE: Final = (b"cache-control", b"no-store")


def _view(caller: Caller, signed: Signed | None) -> Session:
    return Session(
        name=caller.name,
        role=caller.role,
        tenant=caller.tenant,
        permissions=sorted(caller.granted),
        expires_at=None if signed is None else signed.expires_at,
    )


def _cookie(call: Call, token: str, seconds: int) -> tuple[bytes, bytes]:
    jar: SimpleCookie = SimpleCookie()
    jar[COOKIE] = token
    morsel = jar[COOKIE]
    morsel["path"], morsel["max-age"], morsel["samesite"] = "/", seconds, "Strict"
    morsel["httponly"] = True
    if secure(call):
        morsel["secure"] = True
    return b"set-cookie", morsel.OutputString().encode("latin-1")
