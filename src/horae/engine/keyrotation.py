"""New keys under old secrets.

Each step leaves everything readable: a key goes only when nothing needs it any more. So whatever stops a rotation, to
run it again completes it. Values are in memory for the moment between the two keys, and nowhere else.
"""

from typing import Final

import structlog

from horae.engine.access import Caller
from horae.engine.vault import Vault
from horae.model.errors import Forbidden
from horae.store.secrets import SecretRows, TenantSecrets

log = structlog.get_logger()

_BATCH: Final = 100


class KeyRotation:
    def __init__(self, rows: SecretRows, vault: Vault) -> None:
        self._rows = rows
        self._vault = vault

    async def tenant(self, by: Caller, tenant_id: int) -> int:
        """A new data key for a tenant; returns how many secrets were sealed anew."""
        await self._rows.locked(tenant_id, self._add_key)
        resealed = 0
        while done := await self._rows.locked(tenant_id, self._reseal):
            resealed += done
        log.info("tenant_key_rotated", tenant=tenant_id, secrets=resealed, by=by.name)
        return resealed

    async def _add_key(self, secrets: TenantSecrets) -> None:
        newest = await secrets.tenant_key_newest()
        version = newest["version"] if newest else 0
        # One that was stopped half-way is completed with the key that it had begun with.
        if not await secrets.secret_outdated(version, 1):
            await self._vault.add_key(secrets, version + 1)

    async def _reseal(self, secrets: TenantSecrets) -> int:
        """One batch under the newest key; once nothing is left, the older keys go."""
        key_version, key = await self._vault.newest_key(secrets)
        rows = await secrets.secret_outdated(key_version, _BATCH)
        for row in rows:
            value = self._vault.open(secrets.tenant_id, row)
            sealed = self._vault.seal(key, value, secrets.tenant_id, row["name"], row["version"])
            await secrets.secret_reseal(row["name"], row["version"], key_version, sealed)
        if not rows:
            await secrets.tenant_key_drop(key_version)
        return len(rows)

    async def master(self, by: Caller) -> int:
        """Wraps all tenants' keys with the first master key; returns how many there were to wrap."""
        if by.tenant_id is not None:
            raise Forbidden("the master key is changed by a key that belongs to no tenant")
        keys, rewrapped = self._vault.keys, 0
        while rows := await self._rows.tenant_key_foreign(keys.current, _BATCH):
            for row in rows:
                tenant_id, version, before = row["tenant_id"], row["version"], row["wrapped"]
                wrapped = keys.wrap(keys.unwrap(row["master"], before, tenant_id, version), tenant_id, version)
                rewrapped += await self._rows.tenant_key_rewrap(tenant_id, version, keys.current, wrapped, before)
        log.info("master_key_rotated", master=keys.current, keys=rewrapped, by=by.name)
        return rewrapped
