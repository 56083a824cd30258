"""Quotas: set, list and remove them. A tenant's admin decides on its users and queues; on tenants, only a key of none.

A change is effective within about a second, when the servers look.
"""

import asyncpg
import structlog

from horae.engine.access import Access, Caller
from horae.model.errors import Forbidden, InvalidInput, NotFound
from horae.model.quota import ANY_TENANT, Scope, make_quota
from horae.store.quotas import Quotas as QuotaStore

log = structlog.get_logger()


class Quotas:
    def __init__(self, quotas: QuotaStore, access: Access) -> None:
        self._quotas = quotas
        self._access = access

    async def put(
        self,
        by: Caller,
        scope: str,
        name: str,
        tenant: str | None,
        submit_rate: str | float | None = None,
        burst: int | None = None,
        max_pending: int | None = None,
    ) -> asyncpg.Record:
        kind, tenant_id = await self._place(by, scope, name, tenant)
        quota = make_quota(kind, tenant_id, name, submit_rate, burst, max_pending)
        log.info("quota_set", scope=scope, name=name, tenant=tenant_id, by=by.name)
        return await self._quotas.quota_put(quota, by.name)

    async def remove(self, by: Caller, scope: str, name: str, tenant: str | None) -> None:
        kind, tenant_id = await self._place(by, scope, name, tenant)
        if not await self._quotas.quota_remove(kind.value, tenant_id, name):
            raise NotFound(f"there is no quota of {scope} {name!r}; see `horae quota list`")
        log.info("quota_removed", scope=scope, name=name, tenant=tenant_id, by=by.name)

    async def list_all(self, tenant_id: int | None) -> list[asyncpg.Record]:
        return await self._quotas.quota_list(tenant_id)

    async def _place(self, by: Caller, scope: str, name: str, tenant: str | None) -> tuple[Scope, int]:
        """What a quota is about, if the caller may decide it."""
        if scope not in set(Scope):
            raise InvalidInput(f"scope: {scope[:40]!r} is none of {', '.join(Scope)}", field="scope")
        kind = Scope(scope)
        if kind is Scope.TENANT:
            if by.tenant_id is not None:
                raise Forbidden("a tenant's quota is set by a key that belongs to no tenant")
            return kind, await self._access.tenant_for(by, name)
        if by.tenant_id is None and tenant is None:
            return kind, ANY_TENANT
        return kind, await self._access.tenant_for(by, tenant)
