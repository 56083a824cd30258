"""Circuit breakers in the store."""

from collections.abc import Sequence
from uuid import uuid4

from horae.model.gates import Action, Gate, Kind, Running, rate_group
from horae.store.database import Database, Rows, Transaction
from horae.store.policy import policy_touch


class Breakers:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def breaker_tasks(self) -> Rows:
        return await self._database.fetch("breaker_tasks")

    async def breaker_ends(self, tasks: Sequence[str], seconds: float) -> Rows:
        return await self._database.fetch("breaker_ends", tasks, seconds)

    async def breaker_gates(self) -> Rows:
        return await self._database.fetch("breaker_gates")

    async def close(self, tenant_id: int, task: str, pause: float, reason: str, previous: int | None) -> int | None:
        """Holds a task, and ends its `previous` gate if that still lets out a backlog. None: it is held already."""
        request = uuid4()

        async def work(tx: Transaction) -> int | None:
            await policy_touch(tx)
            made = await tx.fetchrow(
                "gate_create", tenant_id, None, task, None, None, Action.HOLD.value, Running.LEAVE.value,
                Kind.BREAKER.value, pause, Kind.BREAKER.value, reason, None, request,
            )  # fmt: skip
            if made is None:
                return None
            if previous is not None:
                await tx.fetch("gate_drain", previous)
            group = rate_group(Gate(id=made["id"], action=Action.HOLD, probe_seconds=pause))
            if group is not None:
                await tx.fetch("breaker_pause", group.id)
            return int(made["id"])

        return await self._database.atomically(work)
