"""Who may do what: API keys, tenants, and the caller they make.

Keys are random, shown once and stored as SHA-256: they carry 256 bits, so no slow hash is needed. A key found good is
remembered for a few seconds; a revoked one stops at once on the server that revoked it, within that time on others.
"""

import hashlib
import secrets
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

import asyncpg
import msgspec
import structlog

from horae.engine.belief import BELIEVED_SECONDS, Belief
from horae.model.durations import parse_duration
from horae.model.errors import AlreadyExists, Forbidden, InvalidInput, NotFound, Unauthenticated
from horae.model.job import DEFAULT_TENANT, check_name
from horae.model.roles import GRANTS, Permission, Role
from horae.store.control import Control

log = structlog.get_logger()

PREFIX: Final = "hk_"
MAX_WEIGHT: Final = 1_000_000.0


class Caller(msgspec.Struct, frozen=True):
    """Who makes a request. `tenant_id` is None for keys that belong to no tenant."""

    key_id: int
    name: str
    role: Role
    tenant_id: int | None
    tenant: str | None
    granted: frozenset[Permission]

    def may(self, permission: Permission) -> None:
        if permission not in self.granted:
            raise Forbidden(f"the key {self.name!r} has the role {self.role}, which lacks {permission}; ask an admin")


class KeyView(msgspec.Struct, frozen=True):
    id: int
    name: str
    role: Role
    tenant: str | None
    prefix: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None


class TenantView(msgspec.Struct, frozen=True):
    id: int
    name: str
    weight: float
    created_at: datetime


class Access:
    def __init__(self, control: Control) -> None:
        self._control = control
        self._callers = Belief[Caller]()
        self._used: set[int] = set()
        self._tenants: dict[str, TenantView] = {}
        self.on_revoke: list[Callable[[], None]] = []
        """Whoever remembers what a key may do, and must look again."""

    async def caller(self, token: str) -> Caller:
        """The caller behind a bearer token."""
        return self._callers.get(token) or await self._look_up(token)

    async def _look_up(self, token: str) -> Caller:
        row = await self._control.key_find(_digest(token)) if token.startswith(PREFIX) else None
        if row is None:
            raise Unauthenticated("the API key is unknown, revoked or expired; ask an admin for another")
        caller = caller_of(row)
        expires = row["expires_at"]
        self._callers.put(token, caller, (expires - row["now"]).total_seconds() if expires else BELIEVED_SECONDS)
        self.used(caller)
        return caller

    def used(self, caller: Caller) -> None:
        self._used.add(caller.key_id)

    async def note_use(self) -> int:
        """Writes down which keys were used since the last time."""
        used, self._used = self._used, set()
        if used:
            await self._control.key_touch(sorted(used))
        return len(used)

    async def create_key(
        self, by: Caller | None, name: str, role: Role, tenant: str | None, expires_in: str | float | None
    ) -> tuple[KeyView, str]:
        """A new key and its secret. `by` is None only for the program itself, which makes the first keys."""
        check_name(name, "name")
        # A key of a tenant makes keys of that tenant; a key of none makes them for the tenant it names, or for all.
        everywhere = tenant is None and (by is None or by.tenant_id is None)
        tenant_id = None if everywhere else await self.tenant_for(by, tenant)
        seconds = None if expires_in is None else parse_duration(expires_in, "expires_in").total_seconds()
        if seconds is not None and seconds <= 0:
            raise InvalidInput("expires_in: must be more than 0", field="expires_in")
        secret = PREFIX + secrets.token_urlsafe(32)
        row = await self._control.key_create(tenant_id, name, role.value, secret[:9], _digest(secret), seconds)
        log.info("key_created", key=row["id"], name=name, role=role.value, by=by.name if by else "horae")
        return self._key_view(row, await self._tenant_name(tenant_id)), secret

    async def revoke_key(self, by: Caller, key_id: int) -> KeyView:
        row = await self._control.key_revoke(key_id, by.tenant_id)
        if row is None:
            raise NotFound(f"there is no key {key_id}")
        self._callers.clear()
        for listener in self.on_revoke:
            listener()
        log.info("key_revoked", key=key_id, by=by.name)
        return self._key_view(row, await self._tenant_name(row["tenant_id"]))

    async def list_keys(self, by: Caller) -> list[KeyView]:
        return [self._key_view(row, row["tenant"]) for row in await self._control.key_list(by.tenant_id)]

    async def create_tenant(self, by: Caller | None, name: str, weight: float = 1.0) -> TenantView:
        if by is not None and by.tenant_id is not None:
            raise Forbidden("only a key that belongs to no tenant can create tenants")
        check_name(name, "name")
        check_weight(weight)
        row = await self._control.tenant_create(name, weight)
        if row is None:
            raise AlreadyExists(f"there is a tenant {name!r} already")
        view = TenantView(**dict(row))
        self._tenants[name] = view
        return view

    async def change_tenant(self, by: Caller, name: str, weight: float) -> TenantView:
        if by.tenant_id is not None:
            raise Forbidden("only a key that belongs to no tenant can change a tenant's weight")
        check_weight(weight)
        row = await self._control.tenant_change(name, weight)
        if row is None:
            raise NotFound(f"there is no tenant {name!r}")
        view = TenantView(**dict(row))
        self._tenants[name] = view
        log.info("tenant_changed", tenant=name, weight=weight, by=by.name)
        return view

    async def list_tenants(self, by: Caller) -> list[TenantView]:
        everybody = await self._load_tenants()
        return [t for t in everybody if by.tenant_id is None or t.id == by.tenant_id]

    async def tenant_for(self, by: Caller | None, name: str | None) -> int:
        """The tenant a request is about: the caller's own, or the one named by a caller that belongs to none."""
        if by is not None and by.tenant_id is not None:
            if name is not None and name != by.tenant:
                raise Forbidden(f"the key {by.name!r} belongs to tenant {by.tenant!r}, not {name!r}")
            return by.tenant_id
        wanted = DEFAULT_TENANT if name is None else name
        if wanted not in self._tenants:
            await self._load_tenants()
        if wanted not in self._tenants:
            raise NotFound(f"there is no tenant {wanted!r}")
        return self._tenants[wanted].id

    def tenant_known(self, by: Caller, name: str | None) -> int | None:
        """`tenant_for` without waiting: None when it has to be looked up, or refused."""
        if by.tenant_id is not None:
            return by.tenant_id if name is None or name == by.tenant else None
        tenant = self._tenants.get(DEFAULT_TENANT if name is None else name)
        return tenant.id if tenant else None

    async def tenant_filter(self, by: Caller, name: str | None) -> int | None:
        """The tenant of a list: None means all, for callers that belong to none."""
        if by.tenant_id is None and name is None:
            return None
        return await self.tenant_for(by, name)

    async def all_tenant_ids(self) -> Sequence[int]:
        return [t.id for t in await self._load_tenants()]

    async def _load_tenants(self) -> list[TenantView]:
        self._tenants = {row["name"]: TenantView(**dict(row)) for row in await self._control.tenant_list()}
        return list(self._tenants.values())

    async def _tenant_name(self, tenant_id: int | None) -> str | None:
        if tenant_id is None:
            return None
        return next((t.name for t in await self._load_tenants() if t.id == tenant_id), None)

    def _key_view(self, row: "msgspec.Struct | object", tenant: str | None) -> KeyView:
        values = dict(row)  # type: ignore[call-overload]
        return KeyView(
            values["id"],
            values["name"],
            Role(values["role"]),
            tenant,
            values["prefix"],
            values["created_at"],
            values["expires_at"],
            values["revoked_at"],
            values["last_used_at"],
        )


def caller_of(row: asyncpg.Record) -> Caller:
    """The caller that a row of a key stands for."""
    role = Role(row["role"])
    return Caller(row["id"], row["name"], role, row["tenant_id"], row["tenant"], GRANTS[role])


def check_weight(weight: float) -> None:
    if not 0 < weight <= MAX_WEIGHT:
        raise InvalidInput(f"weight: must be more than 0 and at most {MAX_WEIGHT:g}", field="weight")


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
