"""The measurements' own eye on the database: a connection beside Horae's, used before and after, hardly during."""

import re
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal, Self

import asyncpg
import asyncpg.transaction

_NAME: Final = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)


@cache
def queries() -> Mapping[str, str]:
    parts = _NAME.split(files("horae.bench").joinpath("queries.sql").read_text(encoding="utf-8"))[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


class Probe:
    def __init__(self, connection: "asyncpg.Connection[asyncpg.Record]") -> None:
        self._connection = connection

    @classmethod
    async def open(cls, dsn: str) -> Self:
        return cls(await asyncpg.connect(dsn, server_settings={"search_path": "horae", "application_name": "bench"}))

    async def close(self) -> None:
        await self._connection.close()

    async def fetch(self, name: str, *arguments: object) -> list[asyncpg.Record]:
        return await self._connection.fetch(queries()[name], *arguments)

    async def value(self, name: str, *arguments: object) -> Any:
        return await self._connection.fetchval(queries()[name], *arguments)

    def transaction(self, isolation: Literal["repeatable_read"]) -> "asyncpg.transaction.Transaction":
        return self._connection.transaction(isolation=isolation)

    async def now(self) -> datetime:
        now: datetime = await self.value("now")
        return now
