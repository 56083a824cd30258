"""Fetching files through connections that break."""

import hashlib
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from uuid import uuid4

import pytest

from horae.client.client import AsyncClient, Client
from horae.client.discovery import Connection
from horae.client.files import JobFile, Saving
from horae.model.errors import HoraeError
from horae.wire.files import FileView

DATA = bytes(range(256)) * 1000


def view(data: bytes = DATA, **changes: object) -> FileView:
    fields = {"id": uuid4(), "name": "a/b.bin", "size": len(data), "sha256": hashlib.sha256(data).hexdigest(),
              "media_type": "x/y", "attempt": 1, "created_at": datetime.now(UTC)}  # fmt: skip
    return FileView(**(fields | changes))  # type: ignore[arg-type]


class Cutter:
    """A server that gives the file in pieces of at most `piece` bytes and cuts the connection after each."""

    def __init__(self, piece: int, status: int | None = None) -> None:
        self.piece = piece
        self.status = status
        self.asked: list[str | None] = []

    def __enter__(self) -> Connection:
        cutter = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                asked = self.headers["Range"]
                cutter.asked.append(asked)
                start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
                self.send_response(cutter.status or (206 if start else 200))
                self.send_header("Content-Length", "0" if cutter.status else str(len(DATA) - start))
                self.end_headers()
                self.wfile.write(DATA[start : start + cutter.piece])
                self.close_connection = True

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the name that http.server asks for
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return Connection(f"http://127.0.0.1:{self._server.server_port}", "hk_x")

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def cutter() -> Iterator[tuple[Cutter, Connection]]:
    made = Cutter(100_000)
    with made as connection:
        yield made, connection


def test_a_fetch_goes_on_behind_the_last_byte_that_came(cutter):
    made, connection = cutter
    with Client(connection=connection) as client:
        assert JobFile(client, view()).read() == DATA
    assert made.asked[0] is None
    assert len(made.asked) >= 3
    assert all(asked.startswith("bytes=") for asked in made.asked[1:])


async def test_the_same_for_coroutines(cutter):
    _, connection = cutter
    async with AsyncClient(connection=connection) as client:
        pieces = [piece async for piece in client.fetch_file(view())]
    assert b"".join(pieces) == DATA


def test_bytes_that_are_not_the_file_are_an_error_and_leave_no_file(cutter, tmp_path: Path):
    _, connection = cutter
    with Client(connection=connection) as client, pytest.raises(HoraeError, match="SHA-256"):
        JobFile(client, view(sha256="0" * 64)).save(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_needs_no_call(tmp_path: Path):
    with Client(connection=Connection("http://127.0.0.1:1", "hk_x")) as client:
        assert JobFile(client, view(b"")).read() == b""


def test_the_folders_of_a_name_are_never_followed(tmp_path: Path):
    assert Saving(tmp_path, "../../etc/cron.d/x").path == tmp_path / "x"
    assert Saving(tmp_path / "new", "../../x").path == tmp_path / "new"


def test_a_break_without_end_is_an_error():
    with Cutter(0) as connection, Client(connection=connection, patience=0.3) as client, pytest.raises(HoraeError):
        JobFile(client, view()).read()


def test_a_refusal_is_the_error_that_it_is():
    with (
        Cutter(0, status=404) as connection,
        Client(connection=connection) as client,
        pytest.raises(HoraeError, match="404"),
    ):
        JobFile(client, view()).read()
