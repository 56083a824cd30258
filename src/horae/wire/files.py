"""Files that jobs left, and pieces of results that they give while they run."""

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec


class FileStored(msgspec.Struct):
    id: UUID


class FileView(msgspec.Struct, kw_only=True, omit_defaults=True):
    id: UUID
    name: str
    """Its path below the job's output folder."""
    size: int
    sha256: str
    media_type: str
    attempt: int
    created_at: datetime
    expires_at: datetime | None = None
    """None: it is kept as long as the job."""


class FilePage(msgspec.Struct):
    items: list[FileView]


class AddressRequest(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    lifetime: str | float = "15m"
    """At most a week."""


class FileAddress(msgspec.Struct):
    url: str
    """Of object storage itself, or a path of this server. Whoever has it can read the file until then."""
    expires_at: datetime


class Partial(msgspec.Struct):
    """A piece of a result, given while the job runs."""

    attempt: int
    seq: int
    at: datetime
    data: Any


class PartialPage(msgspec.Struct, omit_defaults=True):
    items: list[Partial]
    next_cursor: str | None = None
