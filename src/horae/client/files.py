"""Fetching the files that a job left: in pieces, through broken connections, checked to their last byte."""

import hashlib
import os
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, TypeVar

from horae.client import calls
from horae.client.calls import Call
from horae.client.retries import Retries, problem
from horae.client.transport import Answer, Broken
from horae.model.errors import HoraeError
from horae.wire.files import FileView

if TYPE_CHECKING:
    from horae.client.client import AsyncClient, Client

C = TypeVar("C", bound="Client | AsyncClient")
Progress = Callable[[int], None]
"""Called with the size of each piece that has arrived."""
_PASSING = frozenset({429, 502, 503, 504})


class Fetching:
    """Where one reader of a file stands; after a break it goes on behind the last byte. No I/O."""

    def __init__(self, file: FileView, url: str, patience: float) -> None:
        self._file = file
        self._url = url
        self._patience = patience
        self._digest = hashlib.sha256()
        self._retries: Retries | None = None
        self.done = 0

    def call(self) -> Call[bytes]:
        return calls.file_content(str(self._file.id), self.done)

    def take(self, piece: Answer | bytes) -> bytes:
        if isinstance(piece, Answer):
            if piece.status in _PASSING:
                raise Broken(f"the server answered {piece.status}", sent=True)
            if piece.status >= 300:
                raise problem(piece)
            return b""
        self._retries = None
        self.done += len(piece)
        self._digest.update(piece)
        return piece

    def is_complete(self) -> bool:
        if self.done < self._file.size:
            return False
        if self.done != self._file.size or self._digest.hexdigest() != self._file.sha256:
            raise HoraeError(f"file {self._file.name}: what arrived is not what was stored; its SHA-256 differs")
        return True

    def after_break(self, broken: Broken) -> float:
        if self._retries is None:
            self._retries = Retries(self.call(), self._url, self._patience)
        return self._retries.after_break(broken)


class Handle(Generic[C]):
    """A file that a job left."""

    def __init__(self, client: C, view: FileView) -> None:
        self._client = client
        self.view = view
        self.id = str(view.id)
        self.name = view.name
        self.size = view.size
        self.sha256 = view.sha256

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name} {self.size} bytes>"


class JobFile(Handle["Client"]):
    """A file, for sync code."""

    def pieces(self) -> Iterator[bytes]:
        return self._client.fetch_file(self.view)

    def read(self) -> bytes:
        return b"".join(self.pieces())

    def save(self, path: str | Path, progress: Progress | None = None) -> Path:
        """Saves it as `path`, or under its own last name in the folder `path`. Returns where."""
        with Saving(path, self.name) as saving:
            for piece in self.pieces():
                saving.write(piece, progress)
        return saving.path

    def address(self, lifetime: str | float = "15m") -> str:
        """A URL that gives the file to whoever has it, for a time."""
        return self._client.file_address(self.id, lifetime).url


class AsyncJobFile(Handle["AsyncClient"]):
    """A file, for coroutines."""

    def pieces(self) -> AsyncIterator[bytes]:
        return self._client.fetch_file(self.view)

    async def read(self) -> bytes:
        return b"".join([piece async for piece in self.pieces()])

    async def save(self, path: str | Path, progress: Progress | None = None) -> Path:
        with Saving(path, self.name) as saving:
            async for piece in self.pieces():
                saving.write(piece, progress)
        return saving.path

    async def address(self, lifetime: str | float = "15m") -> str:
        return (await self._client.file_address(self.id, lifetime)).url


class Saving:
    """A file that appears under its name when it is whole, and not before."""

    def __init__(self, path: str | Path, name: str) -> None:
        given = Path(path)
        # Never the folders of the name: it was made by the job.
        self.path = given / name.rpartition("/")[2] if given.is_dir() else given
        self._part = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")
        self._file: BinaryIO

    def __enter__(self) -> "Saving":
        self._file = self._part.open("wb")
        return self

    def write(self, piece: bytes, progress: Progress | None) -> None:
        self._file.write(piece)
        if progress is not None:
            progress(len(piece))

    def __exit__(self, kind: Any, *_: object) -> None:
        self._file.close()
        if kind is None:
            self._part.replace(self.path)
        else:
            self._part.unlink(missing_ok=True)
