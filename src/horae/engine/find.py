"""Find: what a few typed characters may mean. Names are found by any part of them, jobs by how their id begins."""

import re
from collections.abc import Awaitable, Callable
from typing import Final
from uuid import UUID

import msgspec

from horae.engine.access import Access, Caller
from horae.model.errors import InvalidInput
from horae.model.roles import Permission
from horae.store.database import Rows
from horae.store.finding import Finding

MAX_TEXT: Final = 200
SHORTEST_ID: Final = 8
"""Digits of an id from which on it is looked for: they are the time, to about a minute."""
_ID: Final = re.compile(rf"[0-9a-f]{{{SHORTEST_ID},32}}")


class FoundThing(msgspec.Struct, frozen=True):
    kind: str
    name: str
    tenant: str | None
    id: str | None = None
    note: str | None = None


class Find:
    def __init__(self, store: Finding, access: Access) -> None:
        self._store = store
        self._access = access

    async def by_text(self, by: Caller, text: str, tenant: str | None, limit: int) -> list[FoundThing]:
        """At most `limit` of each kind that the caller may see: jobs first, since an id means one thing only."""
        wanted = text.strip().lower()
        if not wanted or len(wanted) > MAX_TEXT or "\x00" in wanted:
            raise InvalidInput(f"text: 1…{MAX_TEXT} characters to look for", field="text")
        tenant_id = await self._access.tenant_filter(by, tenant)
        found = await self._jobs(by, tenant_id, wanted, limit)
        for kind, permission, look in self._kinds():
            if permission in by.granted:
                found += _things(kind, await look(tenant_id, wanted, limit))
        return found

    def _kinds(self) -> tuple[tuple[str, Permission, Callable[[int | None, str, int], Awaitable[Rows]]], ...]:
        return (
            ("task", Permission.TASKS_READ, self._store.find_tasks),
            ("schedule", Permission.SCHEDULES_READ, self._store.find_schedules),
            ("queue", Permission.JOBS_READ, self._store.find_queues),
            ("worker", Permission.WORKERS_READ, self._store.find_workers),
        )

    async def _jobs(self, by: Caller, tenant_id: int | None, wanted: str, limit: int) -> list[FoundThing]:
        bounds = id_bounds(wanted)
        if bounds is None or Permission.JOBS_READ not in by.granted:
            return []
        return _things("job", await self._store.find_jobs(tenant_id, *bounds, limit))


def id_bounds(text: str) -> tuple[UUID, UUID] | None:
    """The lowest and the highest id that begin like this; None when no id does, or too many."""
    digits = text.replace("-", "")
    if not _ID.fullmatch(digits):
        return None
    return UUID(digits.ljust(32, "0")), UUID(digits.ljust(32, "f"))


def _things(kind: str, rows: Rows) -> list[FoundThing]:
    return [
        FoundThing(kind, row["name"], row["tenant"], row.get("id"), (row.get("note") or "").split("\n", 1)[0] or None)
        for row in rows
    ]
