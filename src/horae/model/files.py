"""Files that jobs leave: what they may be called, and how a part of one is asked for."""

import mimetypes
import re
from typing import Final, NamedTuple
from urllib.parse import quote

from horae.model.errors import InvalidInput, UnsatisfiableRange

MAX_NAME_BYTES: Final = 1024
MAX_NAME_DEPTH: Final = 32
MAX_FILES: Final = 1000
"""Of one attempt."""
_RANGE: Final = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def check_file_name(name: str) -> str:
    """A relative path with forward slashes, as it stood below the output folder."""
    parts = name.split("/")
    if not name.isprintable() or len(name.encode()) > MAX_NAME_BYTES or len(parts) > MAX_NAME_DEPTH:
        raise InvalidInput(f"name: {name[:80]!r} is too long, too deep or not printable", field="name")
    if any(part in ("", ".", "..") for part in parts):
        raise InvalidInput(f"name: {name[:80]!r} is not a path below the output folder", field="name")
    return name


def printable_name(raw: bytes) -> str:
    """A name from a file system as one that is printable UTF-8."""
    text = raw.decode("utf-8", "replace")
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def media_type(name: str) -> str:
    return mimetypes.guess_type(name, strict=False)[0] or "application/octet-stream"


def disposition(name: str) -> str:
    """A Content-Disposition that saves the file under its own last name, and never shows it."""
    last = name.rpartition("/")[2]
    plain = re.sub(r"[^A-Za-z0-9._ -]|^\.+", "_", last)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(last, safe='')}"


class Span(NamedTuple):
    """A part of a file: `length` bytes from `start`."""

    start: int
    length: int


def read_range(header: str | None, size: int) -> Span | None:
    """What a Range header asks for; None means all. Several ranges at once are answered with all, as HTTP allows."""
    found = _RANGE.fullmatch(header.strip()) if header else None
    if found is None or (not found[1] and not found[2]):
        return None
    if not found[1]:
        start, end = max(0, size - int(found[2])), size
    else:
        start, end = int(found[1]), min(size, int(found[2]) + 1) if found[2] else size
    if found[1] and found[2] and int(found[2]) < int(found[1]):
        return None
    if start >= size or end <= start:
        raise UnsatisfiableRange(f"the file has {size} bytes; there is nothing at {header}", size=size)
    return Span(start, end - start)
