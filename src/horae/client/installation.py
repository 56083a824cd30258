"""What the whole installation has, as the clients offer it: tenants, keys, secrets, how things stand. Two faces."""

from horae.client import calls
from horae.client.sender import AsyncSender, Sender
from horae.wire.access import Key, KeyCreate, KeyCreated, KeyPage, Tenant, TenantCreate, TenantPage, Whoami
from horae.wire.console import ConsoleTicket, Overview
from horae.wire.find import FoundPage
from horae.wire.secrets import Rotated, Secret, SecretPage


class InstallationFace(Sender):
    def tenants(self) -> TenantPage:
        return self.send(calls.tenants())

    def create_tenant(self, tenant: TenantCreate) -> Tenant:
        return self.send(calls.create_tenant(tenant))

    def change_tenant(self, name: str, weight: float) -> Tenant:
        return self.send(calls.change_tenant(name, weight))

    def keys(self) -> KeyPage:
        return self.send(calls.keys())

    def create_key(self, key: KeyCreate) -> KeyCreated:
        return self.send(calls.create_key(key))

    def revoke_key(self, key_id: int) -> Key:
        return self.send(calls.revoke_key(key_id))

    def secrets(self, tenant: str | None = None) -> SecretPage:
        """Which there are; values are never shown."""
        return self.send(calls.secrets(tenant))

    def secret(self, name: str, tenant: str | None = None) -> Secret:
        return self.send(calls.secret(name, tenant))

    def set_secret(self, name: str, value: str, tenant: str | None = None) -> Secret:
        return self.send(calls.set_secret(name, value, tenant))

    def delete_secret(self, name: str, tenant: str | None = None, *, force: bool = False) -> None:
        """Refused while tasks use it, unless forced."""
        return self.send(calls.delete_secret(name, tenant, force=force))

    def rotate_tenant_key(self, tenant: str | None = None) -> Rotated:
        """Seals the tenant's secrets with a new key."""
        return self.send(calls.rotate_tenant_key(tenant))

    def rotate_master_key(self) -> Rotated:
        """Wraps all tenants' keys with the first of the servers' master keys."""
        return self.send(calls.rotate_master_key())

    def find(self, text: str, tenant: str | None = None, limit: int | None = None) -> FoundPage:
        """What a text may mean: jobs by the beginning of their id, the rest by any part of their name."""
        return self.send(calls.find(text, tenant, limit))

    def overview(self, time_range: str | None = None, tenant: str | None = None) -> Overview:
        """How things stand, and how they went in the last 15m, 1h, 6h, 1d, 7d or 30d."""
        return self.send(calls.overview(time_range, tenant))

    def console_ticket(self) -> ConsoleTicket:
        """What signs a browser in to the console with this key, once."""
        return self.send(calls.console_ticket())

    def whoami(self) -> Whoami:
        return self.send(calls.whoami())


class AsyncInstallationFace(AsyncSender):
    async def tenants(self) -> TenantPage:
        return await self.send(calls.tenants())

    async def create_tenant(self, tenant: TenantCreate) -> Tenant:
        return await self.send(calls.create_tenant(tenant))

    async def change_tenant(self, name: str, weight: float) -> Tenant:
        return await self.send(calls.change_tenant(name, weight))

    async def keys(self) -> KeyPage:
        return await self.send(calls.keys())

    async def create_key(self, key: KeyCreate) -> KeyCreated:
        return await self.send(calls.create_key(key))

    async def revoke_key(self, key_id: int) -> Key:
        return await self.send(calls.revoke_key(key_id))

    async def secrets(self, tenant: str | None = None) -> SecretPage:
        """Which there are; values are never shown."""
        return await self.send(calls.secrets(tenant))

    async def secret(self, name: str, tenant: str | None = None) -> Secret:
        return await self.send(calls.secret(name, tenant))

    async def set_secret(self, name: str, value: str, tenant: str | None = None) -> Secret:
        return await self.send(calls.set_secret(name, value, tenant))

    async def delete_secret(self, name: str, tenant: str | None = None, *, force: bool = False) -> None:
        """Refused while tasks use it, unless forced."""
        return await self.send(calls.delete_secret(name, tenant, force=force))

    async def rotate_tenant_key(self, tenant: str | None = None) -> Rotated:
        """Seals the tenant's secrets with a new key."""
        return await self.send(calls.rotate_tenant_key(tenant))

    async def rotate_master_key(self) -> Rotated:
        """Wraps all tenants' keys with the first of the servers' master keys."""
        return await self.send(calls.rotate_master_key())

    async def find(self, text: str, tenant: str | None = None, limit: int | None = None) -> FoundPage:
        return await self.send(calls.find(text, tenant, limit))

    async def overview(self, time_range: str | None = None, tenant: str | None = None) -> Overview:
        return await self.send(calls.overview(time_range, tenant))

    async def console_ticket(self) -> ConsoleTicket:
        return await self.send(calls.console_ticket())

    async def whoami(self) -> Whoami:
        return await self.send(calls.whoami())
