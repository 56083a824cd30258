"""Files of jobs: uploaded by workers, listed, fetched whole or in part, and given away by signed address."""

from collections.abc import AsyncIterator
from uuid import UUID

import asyncpg
import msgspec

from horae.engine.files import Upload
from horae.model.errors import InvalidInput, NotFound
from horae.model.files import Span, disposition, read_range
from horae.server.calls import Call, Reply, Send
from horae.wire.files import AddressRequest, FileAddress, FilePage, FileStored, FileView

_address = msgspec.json.Decoder(AddressRequest)
_GUARDS = [
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"sandbox; default-src 'none'"),
    (b"cache-control", b"private, no-store"),
    (b"accept-ranges", b"bytes"),
]
"""Whatever a job wrote, no browser shall run it in our name."""


class Download:
    """A file's bytes, or a part of them, as they come from object storage."""

    def __init__(self, row: asyncpg.Record, span: Span | None, first: bytes, pieces: AsyncIterator[bytes]) -> None:
        self._row = row
        self._span = span
        self._first = first
        self._pieces = pieces

    async def send(self, send: Send) -> None:
        status, headers = self._head()
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": self._first, "more_body": True})
        async for piece in self._pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    def _head(self) -> tuple[int, list[tuple[bytes, bytes]]]:
        size, span = self._row["size"], self._span
        headers = [
            (b"content-type", self._row["media_type"].encode("latin-1", "replace")),
            (b"content-disposition", disposition(self._row["name"]).encode("latin-1")),
            (b"content-length", b"%d" % (size if span is None else span.length)),
            (b"etag", b'"' + self._row["sha256"].hex().encode() + b'"'),
            *_GUARDS,
        ]
        if span is None:
            return 200, headers
        last = span.start + span.length - 1
        return 206, [*headers, (b"content-range", b"bytes %d-%d/%d" % (span.start, last, size))]


async def upload(call: Call) -> Reply:
    session = await call.engine.fleet.session(call.caller, call.number("worker_id"))
    size = int(call.query_number("size", -1, 0, 2**53))
    if size < 0:
        raise InvalidInput("size: say how many bytes the file has", field="size")
    announced = Upload(call.query.get("name", ""), size, call.query.get("sha256", ""))
    file_id = await call.engine.files.save(
        session.worker_id, call.job_id(), call.number("attempt"), announced, call.pieces()
    )
    return Reply(FileStored(file_id), 201)


async def list_files(call: Call) -> Reply:
    row = await call.engine.steer.get(call.caller, call.job_id())
    files = await call.engine.files.of_job(row["tenant_id"], row["id"])
    return Reply(FilePage([_view(file) for file in files]))


async def download(call: Call) -> Download:
    return await _part(call, await call.engine.files.find(call.caller, _file_id(call)))


async def address(call: Call) -> Reply:
    asked = call.read(_address) if call.body.strip() else AddressRequest()
    return Reply(FileAddress(*await call.engine.files.address(call.caller, _file_id(call), asked.lifetime)))


async def signed(call: Call) -> Download:
    expires, signature = call.query.get("expires", ""), call.query.get("signature", "")
    if not expires.isascii() or not expires.isdigit() or len(expires) > 12:
        raise NotFound("the address is not one that was given; ask for another")
    return await _part(call, await call.engine.files.signed(_file_id(call), expires, signature))


async def _part(call: Call, row: asyncpg.Record) -> Download:
    span = read_range(call.header(b"range"), row["size"])
    pieces = call.engine.files.read(row, span or Span(0, row["size"]))
    # The first piece comes before the head: a store that is away must still become an error.
    return Download(row, span, await anext(pieces, b""), pieces)


def _file_id(call: Call) -> UUID:
    text = call.path["file_id"]
    try:
        return UUID(text)
    except ValueError:
        raise NotFound(f"there is no file {text[:80]!r}: a file's id is a UUID") from None


def _view(row: asyncpg.Record) -> FileView:
    return FileView(
        id=row["id"],
        name=row["name"],
        size=row["size"],
        sha256=row["sha256"].hex(),
        media_type=row["media_type"],
        attempt=row["attempt"],
        created_at=row["created_at"],
        expires_at=row["expires_at"],
    )
