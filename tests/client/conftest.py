"""A scripted HTTP server on a real socket: it answers, keeps silent or hangs up, as the test says, in that order."""

import http.client
import json
import socketserver
import threading
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from horae.client.client import AsyncClient, Client
from horae.client.discovery import Connection
from horae.model.errors import HoraeError
from horae.wire.problems import encode_problem

JOB_ID = "01890a5d-ac96-774b-bcce-b302099a8057"


@dataclass
class Request:
    method: str
    target: str
    headers: Any
    body: bytes
    connection: int

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Reply:
    """`raw` is sent as it is; `hang_up` closes the connection afterwards without having said so."""

    raw: bytes = b""
    hang_up: bool = False
    hold: threading.Event | None = None


@dataclass
class Stub:
    port: int = 0
    script: deque[Reply] = field(default_factory=deque)
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    hung_up: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answer(self, body: Any = None, status: int = 200, *, hang_up: bool = False, **headers: str) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        lines = {"Content-Length": str(len(content))} | {k.replace("_", "-"): v for k, v in headers.items()}
        head = f"HTTP/1.1 {status} X\r\n" + "".join(f"{k}: {v}\r\n" for k, v in lines.items()) + "\r\n"
        self.script.append(Reply(head.encode() + content, hang_up))

    def refuse(self, error: HoraeError, **headers: str) -> None:
        self.answer(encode_problem(error), error.status, **headers)

    def hang_up(self) -> None:
        self.script.append(Reply(hang_up=True))

    def stream(self, *events: bytes) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
        self.script.append(Reply(head + b"".join(events), hang_up=True))

    def submitted(self, job_id: str = JOB_ID) -> None:
        self.answer({"id": job_id, "state": "ready"}, 201)


class Handler(socketserver.StreamRequestHandler):
    server: "Server"

    def handle(self) -> None:
        stub = self.server.stub
        stub.connections += 1
        number = stub.connections
        while line := self.rfile.readline():
            method, target, _ = line.decode().split()
            headers = http.client.parse_headers(self.rfile)
            body = self.rfile.read(int(headers.get("Content-Length", 0)))
            stub.requests.append(Request(method, target, headers, body, number))
            reply = stub.script.popleft() if stub.script else Reply(b"HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n")
            if reply.hold:
                reply.hold.wait(30)
            self.wfile.write(reply.raw)
            if reply.hang_up:
                return

    def finish(self) -> None:
        super().finish()
        self.connection.close()
        self.server.stub.hung_up.set()


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False

    def __init__(self, stub: Stub) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.stub = stub


@pytest.fixture
def stub() -> Iterator[Stub]:
    stub = Stub()
    with Server(stub) as server:
        stub.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield stub
        server.shutdown()
        thread.join()


@pytest.fixture
def client(stub: Stub) -> Iterator[Client]:
    with Client(connection=Connection(stub.url, "secret"), patience=5.0) as client:
        yield client


@pytest.fixture
async def async_client(stub: Stub) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(connection=Connection(stub.url, "secret"), patience=5.0) as client:
        yield client


@pytest.fixture(params=["sync", "async"])
async def ask(request: pytest.FixtureRequest, stub: Stub) -> AsyncIterator[Callable[..., Awaitable[Any]]]:
    """Calls a method of either client by name, so that each behaviour is tested on both."""
    settings: dict[str, Any] = {"connection": Connection(stub.url, "secret"), "patience": 5.0}
    sync, both = Client(**settings), AsyncClient(**settings)

    async def ask(method: str, *args: Any, **kwargs: Any) -> Any:
        answer = getattr(sync if request.param == "sync" else both, method)(*args, **kwargs)
        if hasattr(answer, "__aiter__"):
            return [item async for item in answer]
        if hasattr(answer, "__next__"):
            return list(answer)
        return await answer if hasattr(answer, "__await__") else answer

    yield ask
    sync.close()
    await both.close()


@pytest.fixture
def job() -> dict[str, Any]:
    """A job as the server shows it."""
    at = "2026-01-01T00:00:00Z"
    facts = {"task": "send", "state": "ready", "queue": "default", "tenant": "default", "priority": 5, "params": {}}
    return {"id": JOB_ID, **facts, "run_at": at, "created_at": at}
