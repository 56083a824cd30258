"""The console's own files: read into memory once, so that no path of a request ever becomes a path on disk.

Its addresses (/console/jobs/…) are the page's own to understand: whatever is no file gets the page. Scripts and styles
carry a hash in their names and never change; the page itself is asked for each time.
"""

import gzip
import mimetypes
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final, NamedTuple

from horae.model.errors import NotFound
from horae.server.calls import Call, Reply

BASE: Final = "/console/"
PAGE: Final = "index.html"
ASSETS: Final = "assets/"
CSP: Final = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    b"connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
GUARDS: Final = [
    (b"content-security-policy", CSP),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
_FOR_EVER: Final = (b"cache-control", b"public, max-age=31536000, immutable")
_EACH_TIME: Final = (b"cache-control", b"no-cache")


class File(NamedTuple):
    body: bytes
    packed: bytes | None
    """The same by gzip."""
    media_type: bytes


@cache
def shipped() -> dict[str, File]:
    """What was built into the package, by path; empty when the console was not built."""
    found: dict[str, bytes] = {}
    folder = files("horae").joinpath("console", "static")
    if folder.is_dir():
        _read(folder, "", found)
    return {
        path: File(body, _packed(body, found.get(f"{path}.gz")), _media_type(path))
        for path, body in found.items()
        if not path.endswith(".gz")
    }


def _packed(body: bytes, packed: bytes | None) -> bytes | None:
    """None for one that an earlier build left behind."""
    return packed if packed is not None and gzip.decompress(packed) == body else None


def _read(folder: Traversable, prefix: str, found: dict[str, bytes]) -> None:
    for entry in folder.iterdir():
        if entry.is_dir():
            _read(entry, f"{prefix}{entry.name}/", found)
        else:
            found[prefix + entry.name] = entry.read_bytes()


def _media_type(path: str) -> bytes:
    guessed = mimetypes.guess_type(path)[0] or "application/octet-stream"
    # What the system's own table says of scripts differs from one machine to the next.
    guessed = "text/javascript" if path.endswith(".js") else guessed
    return guessed.encode() + (b"; charset=utf-8" if guessed.startswith("text/") else b"")


def built() -> bool:
    return PAGE in shipped()


async def home(call: Call) -> Reply:
    return Reply(status=307, headers=[(b"location", BASE.encode()), *GUARDS])


async def serve(call: Call) -> Reply:
    path: str = call.scope["path"]
    if path == BASE.rstrip("/"):
        return await home(call)
    return _answer(call, shipped(), path.removeprefix(BASE))


def _answer(call: Call, there: dict[str, File], path: str) -> Reply:
    if PAGE not in there:
        raise NotFound("the console was not built into this installation: `make console` builds it; the API is at /v1")
    file = there.get(path)
    if file is None:
        if path.startswith(ASSETS):
            # A page older than this server asks for what is gone; the page itself in its place would be an odd script.
            raise NotFound("there is no such file of the console; load the page again")
        path, file = PAGE, there[PAGE]
    headers = [*GUARDS, _FOR_EVER if path.startswith(ASSETS) else _EACH_TIME, (b"vary", b"accept-encoding")]
    body = file.body
    if file.packed is not None and "gzip" in (call.header(b"accept-encoding") or ""):
        body = file.packed
        headers.append((b"content-encoding", b"gzip"))
    return Reply(body, content_type=file.media_type, headers=headers)
