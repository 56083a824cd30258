"""A registry of one image, as engines pull from it. It counts how often its manifest was asked for."""

import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Registry(ThreadingHTTPServer):
    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.folder = folder
        self.asked = 0

    @property
    def image(self) -> str:
        return f"127.0.0.1:{self.server_port}/small:1"


class _Answers(BaseHTTPRequestHandler):
    server: Registry

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _answer(self, *, with_body: bool) -> None:
        kind, data = "application/json", b"{}"
        if "/manifests/" in self.path:
            data = (self.server.folder / "manifest.json").read_bytes()
            kind = json.loads(data)["mediaType"]
            self.server.asked += with_body
        elif "/blobs/sha256:" in self.path:
            kind, data = "application/octet-stream", (self.server.folder / self.path.rpartition(":")[2]).read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if with_body:
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def registry(image: str, folder: Path) -> Iterator[Registry]:
    subprocess.run(
        ["podman", "save", "--format", "docker-dir", "-o", str(folder), image], check=True, capture_output=True
    )
    server = Registry(folder)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        subprocess.run(["podman", "rmi", "--force", server.image], check=False, capture_output=True)
