"""The program `horae`, run in this process or as a process of its own, in a home folder that is empty."""

import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import asyncpg
import msgspec
import pytest

from horae.cli.program import run


class Ran(NamedTuple):
    code: int
    out: str
    err: str


class Seen(NamedTuple):
    method: str
    target: str
    headers: dict[str, str]
    body: bytes


class Script:
    """What a scripted server answers, and what it was asked."""

    def __init__(self) -> None:
        self.answers: dict[tuple[str, str], list[tuple[int, bytes]]] = {}
        self.seen: list[Seen] = []
        self.url = ""

    def on(self, method: str, path: str, document: Any, status: int = 200) -> None:
        """The answers to one path come in the order they were given; the last one stays."""
        body = document if isinstance(document, bytes) else msgspec.json.encode(document)
        self.answers.setdefault((method, path), []).append((status, body))

    def problem(self, method: str, path: str, status: int, code: str, detail: str) -> None:
        self.on(method, path, {"type": "about:blank", "status": status, "code": code, "detail": detail}, status)

    def answer(self, seen: Seen) -> tuple[int, bytes]:
        self.seen.append(seen)
        left = self.answers.get((seen.method, seen.target.partition("?")[0]))
        if not left:
            return 404, msgspec.json.encode({"code": "not_found", "detail": f"nothing scripted for {seen.target}"})
        return left.pop(0) if len(left) > 1 else left[0]


@pytest.fixture
def script() -> Iterator[Script]:
    script = Script()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, answer = script.answer(Seen(self.command, self.path, dict(self.headers), body))
            self.send_response(status)
            kind = "text/event-stream" if answer.startswith((b"event:", b"id:")) else "application/json"
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = _any  # noqa: N815 the names that http.server asks for

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 the name that http.server asks for
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        script.url = f"http://127.0.0.1:{server.server_address[1]}"
        yield script
        server.shutdown()
        thread.join()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, and neither settings nor a data folder from whoever runs the tests."""
    for name in list(os.environ):
        if name.startswith(("HORAE_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    # Root's default folder does not lie in its home.
    monkeypatch.setenv("HORAE_DATA", str(tmp_path / "share/horae"))
    return tmp_path


Horae = Callable[..., Ran]


@pytest.fixture
def horae(home: Path, capsys: pytest.CaptureFixture[str]) -> Horae:
    """Runs a command in this process."""

    def command(*arguments: str) -> Ran:
        code = run(arguments)
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return command


@pytest.fixture
def client(horae: Horae, script: Script, monkeypatch: pytest.MonkeyPatch) -> Horae:
    """Runs a command against the scripted server."""
    monkeypatch.setenv("HORAE_URL", script.url)
    monkeypatch.setenv("HORAE_KEY", "hk_test")
    return horae


def program(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs a command as a process of its own."""
    command = [sys.executable, "-m", "horae.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, **options)


@pytest.fixture
async def empty_database(cluster_dsn: str) -> AsyncIterator[str]:
    """The DSN of a database without Horae's schema."""
    name = f"empty_{uuid4().hex}"
    connection = await asyncpg.connect(cluster_dsn)
    await connection.execute(f"create database {name}")
    yield cluster_dsn.replace("@/horae?", f"@/{name}?")
    await connection.execute(f"drop database {name} with (force)")
    await connection.close()
