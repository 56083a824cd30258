"""Limits, service levels and quotas as the clients offer them. Two faces over the same calls."""

from horae.client import calls
from horae.client.sender import AsyncSender, Sender
from horae.wire.limits import Limit, LimitPage, LimitPut, LimitUse
from horae.wire.quotas import Quota, QuotaPage
from horae.wire.servicelevels import ServiceLevel, ServiceLevelPage, ServiceLevelPut


class PolicyFace(Sender):
    def limits(self, tenant: str | None = None) -> LimitPage:
        return self.send(calls.limits(tenant))

    def limit(self, name: str, tenant: str | None = None) -> Limit:
        return self.send(calls.limit(name, tenant))

    def limit_use(self, name: str, tenant: str | None = None) -> LimitUse:
        """Who runs under a limit, and who waits behind it."""
        return self.send(calls.limit_use(name, tenant))

    def put_limit(self, name: str, wanted: LimitPut) -> Limit:
        return self.send(calls.put_limit(name, wanted))

    def remove_limit(self, name: str, tenant: str | None = None) -> None:
        self.send(calls.remove_limit(name, tenant))

    def service_levels(self, tenant: str | None = None) -> ServiceLevelPage:
        return self.send(calls.service_levels(tenant))

    def service_level(self, name: str, tenant: str | None = None) -> ServiceLevel:
        return self.send(calls.service_level(name, tenant))

    def put_service_level(self, name: str, wanted: ServiceLevelPut) -> ServiceLevel:
        return self.send(calls.put_service_level(name, wanted))

    def delete_service_level(self, name: str, tenant: str | None = None) -> None:
        self.send(calls.delete_service_level(name, tenant))

    def quotas(self, tenant: str | None = None) -> QuotaPage:
        return self.send(calls.quotas(tenant))

    def set_quota(
        self,
        scope: str,
        name: str,
        *,
        submit_rate: str | float | None = None,
        burst: int | None = None,
        max_pending: int | None = None,
        tenant: str | None = None,
    ) -> Quota:
        limits = {"submit_rate": submit_rate, "burst": burst, "max_pending": max_pending}
        return self.send(calls.set_quota(scope, name, tenant, **limits))

    def remove_quota(self, scope: str, name: str, tenant: str | None = None) -> None:
        return self.send(calls.remove_quota(scope, name, tenant))


class AsyncPolicyFace(AsyncSender):
    async def limits(self, tenant: str | None = None) -> LimitPage:
        return await self.send(calls.limits(tenant))

    async def limit(self, name: str, tenant: str | None = None) -> Limit:
        return await self.send(calls.limit(name, tenant))

    async def limit_use(self, name: str, tenant: str | None = None) -> LimitUse:
        """Who runs under a limit, and who waits behind it."""
        return await self.send(calls.limit_use(name, tenant))

    async def put_limit(self, name: str, wanted: LimitPut) -> Limit:
        return await self.send(calls.put_limit(name, wanted))

    async def remove_limit(self, name: str, tenant: str | None = None) -> None:
        await self.send(calls.remove_limit(name, tenant))

    async def service_levels(self, tenant: str | None = None) -> ServiceLevelPage:
        return await self.send(calls.service_levels(tenant))

    async def service_level(self, name: str, tenant: str | None = None) -> ServiceLevel:
        return await self.send(calls.service_level(name, tenant))

    async def put_service_level(self, name: str, wanted: ServiceLevelPut) -> ServiceLevel:
        return await self.send(calls.put_service_level(name, wanted))

    async def delete_service_level(self, name: str, tenant: str | None = None) -> None:
        await self.send(calls.delete_service_level(name, tenant))

    async def quotas(self, tenant: str | None = None) -> QuotaPage:
        return await self.send(calls.quotas(tenant))

    async def set_quota(
        self,
        scope: str,
        name: str,
        *,
        submit_rate: str | float | None = None,
        burst: int | None = None,
        max_pending: int | None = None,
        tenant: str | None = None,
    ) -> Quota:
        limits = {"submit_rate": submit_rate, "burst": burst, "max_pending": max_pending}
        return await self.send(calls.set_quota(scope, name, tenant, **limits))

    async def remove_quota(self, scope: str, name: str, tenant: str | None = None) -> None:
        return await self.send(calls.remove_quota(scope, name, tenant))
