"""Actions that lie in wait for programs of one kind, at failpoints: whichever comes by first, acts."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path


class Ambush:
    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @asynccontextmanager
    async def laid(self, name: str, action: str) -> AsyncIterator[Callable[[], bool]]:
        """Says whether it was sprung. Programs see all of it, or nothing."""
        async with self._locks[name]:
            file, whole = self.folder / name, self.folder / f"{name}.new"
            whole.write_text(action)
            whole.rename(file)
            try:
                yield lambda: not file.exists()
            finally:
                file.unlink(missing_ok=True)
