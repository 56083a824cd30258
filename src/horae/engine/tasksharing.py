"""Sharing: other tenants use a tenant's task by its name, as it is now.

Their jobs are theirs, run in their lanes, under their limits, and get their own secrets, unless the owner gave its own
with the task; those go to the workers of the owner and to those that serve all, not to the guest's. A tenant's own task
goes before the one for all tenants, and that before one that it was given: nobody can push a task of his before those.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec
import structlog

from horae.engine.access import Access
from horae.engine.taskrows import SHARED
from horae.engine.tasks import Tasks
from horae.model.errors import InvalidInput, NotFound
from horae.store.tasks import TaskRows

log = structlog.get_logger()

EVERYBODY: Final = "*"
MAX_GUESTS: Final = 1000


class ShareView(msgspec.Struct, frozen=True):
    tenant: str
    with_secrets: bool
    made_at: datetime
    made_by: str


class TaskSharing:
    def __init__(self, rows: TaskRows, tasks: Tasks, access: Access) -> None:
        self._rows = rows
        self._tasks = tasks
        self._access = access

    async def share(
        self, tenant_id: int, name: str, tenants: Sequence[str] | str, by: str, *, with_secrets: bool
    ) -> list[ShareView]:
        await self._check(tenant_id, name)
        guests = await self._guests(tenants)
        if tenant_id in guests:
            raise InvalidInput("tenants: the task is this tenant's own already", field="tenants")
        await self._rows.task_share_put(tenant_id, name, guests, by, with_secrets=with_secrets)
        self._tasks.forget()
        log.info("task_shared", task=name, tenant=tenant_id, guests=tenants, with_secrets=with_secrets, by=by)
        return await self.list_all(tenant_id, name)

    async def unshare(self, tenant_id: int, name: str, tenants: Sequence[str] | str, by: str) -> list[ShareView]:
        """Takes the task back from these tenants; `*` takes it back from all."""
        guests = None if tenants == EVERYBODY else await self._guests(tenants)
        await self._rows.task_share_remove(tenant_id, name, guests)
        self._tasks.forget()
        log.info("task_unshared", task=name, tenant=tenant_id, guests=tenants, by=by)
        return await self.list_all(tenant_id, name)

    async def list_all(self, tenant_id: int, name: str) -> list[ShareView]:
        rows = await self._rows.task_share_list(tenant_id, name)
        return [
            ShareView(row["guest"] or EVERYBODY, row["with_secrets"], row["made_at"], row["made_by"]) for row in rows
        ]

    async def _check(self, tenant_id: int, name: str) -> None:
        if tenant_id == SHARED:
            raise InvalidInput(f"the task {name!r} is for all tenants already; name the tenant whose task is meant")
        current = await self._rows.task_current(tenant_id, name)
        if current["version"] is None:
            raise NotFound(f"there is no task {name!r} of this tenant")
        if current["version"] == 0:
            raise InvalidInput(f"the task {name!r} is a function: only workers that serve all tenants can share it")

    async def _guests(self, tenants: Sequence[str] | str) -> list[int]:
        if tenants == EVERYBODY:
            return [SHARED]
        if isinstance(tenants, str) or not 1 <= len(tenants) <= MAX_GUESTS:
            raise InvalidInput(f'tenants: "*" for all, or a list of 1…{MAX_GUESTS} names', field="tenants")
        return [await self._access.tenant_for(None, tenant) for tenant in dict.fromkeys(tenants)]
