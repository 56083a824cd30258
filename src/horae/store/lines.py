"""Jobs that live, in the order in which they stand."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from horae.model.merge import Standing
from horae.model.rank import micros
from horae.model.states import State
from horae.store.database import Database, Rows

LANES: Final = {State.READY: "lanes_ready", State.BLOCKED: "lanes_blocked", State.RUNNING: "lanes_lease"}
LINES: Final = {State.READY: "line_ready", State.BLOCKED: "line_blocked", State.RUNNING: "line_lease"}


class Due(NamedTuple):
    """What falls due, among the scheduled jobs that were looked at."""

    jobs: list[Standing]
    looked: int
    last: Standing | None
    """Where the look ended."""


class Lines:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def lanes(self, state: State, first: int, last: int, most: int) -> list[int]:
        """Those that have jobs in a state, by number."""
        return [row["lane_id"] for row in await self._database.fetch(LANES[state], first, last, most)]

    async def line(
        self, state: State, lanes: Sequence[int], after: tuple[int, UUID], rows: int
    ) -> list[tuple[int, Standing]]:
        """The next jobs of each of these lanes."""
        found = await self._database.fetch(LINES[state], lanes, *after, rows)
        return [(row["lane_id"], Standing(row["place"], row["id"], row["tenant_id"])) for row in found]

    async def due(self, after: tuple[datetime, UUID], lanes: Sequence[int] | None, look_at: int, rows: int) -> Due:
        return _due(await self._database.fetch("line_due", *after, lanes, look_at, rows))

    async def due_few(self, after: tuple[datetime, UUID], lanes: Sequence[int], look_at: int, rows: int) -> Due:
        """The same by the lanes, whose jobs are looked at in no order: they must be fewer than `look_at`."""
        return _due(await self._database.fetch("line_due_few", *after, lanes, look_at, rows))


def _due(rows: Rows) -> Due:
    found = [Standing(micros(row["run_at"]), row["id"], row["tenant_id"]) for row in rows]
    return Due(found[:-1], rows[-1]["looked"], found[-1]) if rows else Due([], 0, None)
