"""Secrets: set by people, given to jobs, shown to nobody.

Values leave this module by `reveal` only, which serves the briefs of workers. They stand in no log, no error and no
answer. Uses are noted in memory and written down by a duty, so that a job that gets secrets writes nothing.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec
import structlog

from horae.engine.access import Caller
from horae.engine.vault import Vault
from horae.model.errors import InvalidInput, NotFound, SecretInUse
from horae.model.secrets import check_secret_name, check_secret_value
from horae.model.template import is_secret_name
from horae.store.secrets import MAX_USERS, SecretRows, TenantSecrets

log = structlog.get_logger()

MOST: Final = 1000
"""Secrets of one tenant."""


class SecretView(msgspec.Struct, frozen=True):
    tenant: str
    name: str
    version: int
    size: int
    created_at: datetime
    created_by: str
    updated_at: datetime
    updated_by: str
    last_used_at: datetime | None
    used_by: list[str]
    """Tasks whose jobs get it, or whose results it has a place for: the first of them."""


class Secrets:
    def __init__(self, rows: SecretRows, vault: Vault) -> None:
        self._rows = rows
        self._vault = vault
        self._used: set[tuple[int, str]] = set()

    async def set(self, by: Caller, tenant_id: int, name: str, value: str) -> SecretView:
        check_secret_name(name)
        data = check_secret_value(value).encode()

        async def put(secrets: TenantSecrets) -> int:
            key_version, key = await self._vault.newest_key(secrets)
            version = await secrets.secret_version(name) + 1
            if version == 1 and await secrets.secret_count() >= MOST:
                raise InvalidInput(f"the tenant has {MOST} secrets already; delete what is not used")
            sealed = self._vault.seal(key, data, tenant_id, name, version)
            await secrets.secret_put(name, version, key_version, sealed, len(data), by.name)
            return version

        version = await self._rows.locked(tenant_id, put)
        log.info("secret_set", tenant=tenant_id, name=name, version=version, by=by.name)
        return await self.get(tenant_id, name)

    async def list_all(self, tenant_id: int | None) -> list[SecretView]:
        return await self._views(tenant_id, None)

    async def get(self, tenant_id: int, name: str) -> SecretView:
        found = await self._views(tenant_id, name) if is_secret_name(name) else []
        if not found:
            raise NotFound(f"there is no secret {name[:200]!r}; see `horae secret list`")
        return found[0]

    async def delete(self, by: Caller, tenant_id: int, name: str, *, force: bool = False) -> None:
        """Refused while tasks use it, unless forced."""
        view = await self.get(tenant_id, name)
        if view.used_by and not force:
            words = ", ".join(view.used_by[:20])
            raise SecretInUse(f"{name} is used by {words}; change them first, or use force", tasks=view.used_by)
        await self._rows.secret_delete(tenant_id, name)
        log.info("secret_deleted", tenant=tenant_id, name=name, forced=force, by=by.name)

    async def reveal(self, tenant_id: int, names: Sequence[str]) -> dict[str, str]:
        """In clear, for whoever runs the job. A name that is not there is an error that says so."""
        rows = {row["name"]: row for row in await self._rows.secret_get(tenant_id, names)}
        if missing := [name for name in names if name not in rows]:
            words = ", ".join(missing)
            raise NotFound(f"the tenant has no secret {words}; make it with `horae secret set {missing[0]}`")
        self._used.update((tenant_id, name) for name in names)
        return {name: self._vault.open(tenant_id, rows[name]).decode() for name in names}

    async def note_use(self) -> int:
        """Writes down which secrets were used since the last time."""
        used, self._used = self._used, set()
        if used:
            await self._rows.secret_touch(sorted(used))
        return len(used)

    async def _views(self, tenant_id: int | None, name: str | None) -> list[SecretView]:
        rows = await self._rows.secret_list(tenant_id, name)
        return [SecretView(**{**row, "used_by": sorted(set(row["used_by"]))[:MAX_USERS]}) for row in rows]
