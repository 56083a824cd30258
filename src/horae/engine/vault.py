"""One tenant's data key, and what it seals."""

import asyncpg

from horae.engine.masterkeys import MasterKeys, new_key, open_sealed, seal
from horae.store.secrets import TenantSecrets


class Vault:
    def __init__(self, keys: MasterKeys) -> None:
        self.keys = keys

    async def newest_key(self, secrets: TenantSecrets) -> tuple[int, bytes]:
        """The data key that seals what is set now, with its version; made when the tenant has none yet."""
        row = await secrets.tenant_key_newest()
        if row is None:
            return await self.add_key(secrets, 1)
        return row["version"], self.keys.unwrap(row["master"], row["wrapped"], secrets.tenant_id, row["version"])

    async def add_key(self, secrets: TenantSecrets, version: int) -> tuple[int, bytes]:
        key = new_key()
        await secrets.tenant_key_add(version, self.keys.current, self.keys.wrap(key, secrets.tenant_id, version))
        return version, key

    def seal(self, key: bytes, value: bytes, tenant_id: int, name: str, version: int) -> bytes:
        return seal(key, value, "secret", tenant_id, name, version)

    def open(self, tenant_id: int, row: asyncpg.Record) -> bytes:
        key = self.keys.unwrap(row["master"], row["wrapped"], tenant_id, row["key_version"])
        return open_sealed(key, row["sealed"], "secret", tenant_id, row["name"], row["version"])
