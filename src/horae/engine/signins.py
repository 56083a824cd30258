"""Sign-ins: browsers that act with a key without holding it.

A session is a random token that lives in a cookie and stands for a key; it is stored as its SHA-256 and ends with the
key. A ticket is a token that makes one session, once: `horae up` prints one in an address. As with keys, a session
found good is believed for a few seconds, so one that is over ends at once on the server that was told, and within that
time on others.
"""

import hashlib
import secrets
from datetime import datetime
from typing import Final, NamedTuple

import structlog

from horae.engine.access import Access, Caller, caller_of
from horae.engine.belief import Belief
from horae.model.errors import Forbidden, Unauthenticated
from horae.model.roles import Permission
from horae.store.sessions import ConsoleSessions

log = structlog.get_logger()

SESSION_SECONDS: Final = 7 * 86_400.0
TICKET_SECONDS: Final = 15 * 60.0
MAX_OTHERS: Final = 99
"""Sessions that a key may have beside a new one; the oldest go first."""
SESSION_PREFIX: Final = "hs_"
TICKET_PREFIX: Final = "ht_"


class Signed(NamedTuple):
    """Somebody who is signed in."""

    caller: Caller
    expires_at: datetime


class Ticket(NamedTuple):
    secret: str
    expires_at: datetime


class SignIns:
    def __init__(self, store: ConsoleSessions, access: Access) -> None:
        self._store = store
        self._access = access
        self._known = Belief[Signed]()
        access.on_revoke.append(self._known.clear)

    async def by_key(self, key: str) -> tuple[str, Signed]:
        """Signs in with a key. Returns the token of the session, which nobody else ever sees."""
        caller = await self._access.caller(key)
        if Permission.JOBS_READ not in caller.granted:
            raise Forbidden(f"the key {caller.name!r} is a worker's and sees nothing; sign in with another")
        return await self._open(caller.key_id)

    async def by_ticket(self, ticket: str) -> tuple[str, Signed]:
        key_id = await self._store.ticket_use(_digest(ticket)) if ticket.startswith(TICKET_PREFIX) else None
        if key_id is None:
            raise Unauthenticated(
                "this address has been used, or its time is over; `horae console` makes another, or sign in with a key"
            )
        return await self._open(key_id)

    async def _open(self, key_id: int) -> tuple[str, Signed]:
        token = SESSION_PREFIX + secrets.token_urlsafe(32)
        if await self._store.session_open(_digest(token), key_id, SESSION_SECONDS, MAX_OTHERS) is None:
            raise Unauthenticated("the API key is revoked or expired; ask an admin for another")
        signed = await self.find(token)
        log.info("signed_in", key=key_id, name=signed.caller.name)
        return token, signed

    async def find(self, token: str) -> Signed:
        """Whoever is signed in with this token."""
        return self._known.get(token) or await self._look_up(token)

    async def _look_up(self, token: str) -> Signed:
        row = await self._store.session_find(_digest(token)) if token.startswith(SESSION_PREFIX) else None
        if row is None:
            raise Unauthenticated("you are not signed in any more; sign in again")
        signed = Signed(caller_of(row), row["expires_at"])
        self._known.put(token, signed, (row["expires_at"] - row["now"]).total_seconds())
        self._access.used(signed.caller)
        return signed

    async def sign_out(self, token: str) -> None:
        await self._store.session_close(_digest(token))
        self._known.forget(token)

    async def ticket(self, caller: Caller) -> Ticket:
        """A ticket that signs in as this caller."""
        secret = TICKET_PREFIX + secrets.token_urlsafe(32)
        expires_at = await self._store.ticket_make(_digest(secret), caller.key_id, TICKET_SECONDS)
        if expires_at is None:
            raise Unauthenticated("the API key is revoked or expired; ask an admin for another")
        return Ticket(secret, expires_at)


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
