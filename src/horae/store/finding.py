"""Finding things by a part of their name or id."""

from uuid import UUID

from horae.store.database import Database, Rows


class Finding:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def find_tasks(self, tenant_id: int | None, text: str, rows: int) -> Rows:
        return await self._database.fetch("find_tasks", tenant_id, text, rows)

    async def find_schedules(self, tenant_id: int | None, text: str, rows: int) -> Rows:
        return await self._database.fetch("find_schedules", tenant_id, text, rows)

    async def find_workers(self, tenant_id: int | None, text: str, rows: int) -> Rows:
        return await self._database.fetch("find_workers", tenant_id, text, rows)

    async def find_queues(self, tenant_id: int | None, text: str, rows: int) -> Rows:
        return await self._database.fetch("find_queues", tenant_id, text, rows)

    async def find_jobs(self, tenant_id: int | None, lowest: UUID, highest: UUID, rows: int) -> Rows:
        return await self._database.fetch("find_jobs", tenant_id, lowest, highest, rows)
