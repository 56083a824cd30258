"""The object store, on a folder and on a real S3 server."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import aiohttp
import pytest

from horae.cli.finding import Mark
from horae.cli.objectchecks import check_objects
from horae.cli.server import s3_access
from horae.config import UpSettings, load
from horae.model.errors import Gone, NotReady, TooLarge
from horae.store.objects import Objects, ObjectsConfig

from .s3 import BUCKET, KEY, SECRET, S3Server

LARGE = b"0123456789" * 1_300_000


async def pieces(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def whole(objects: Objects, key: str, start: int, length: int) -> bytes:
    return b"".join([piece async for piece in objects.read(key, start, length)])


async def test_what_was_put_can_be_had_again(objects: Objects) -> None:
    await objects.put("results/1/a", b"x" * 100_000)
    assert await objects.get("results/1/a") == b"x" * 100_000


async def test_a_second_put_of_a_key_leaves_the_first(objects: Objects) -> None:
    await objects.put("a", b"first")
    await objects.put("a", b"second")
    assert await objects.get("a") == b"first"


async def test_create_says_whether_it_was_the_first(objects: Objects) -> None:
    assert not await objects.exists("t/a.parquet")
    assert await objects.create("t/a.parquet", b"1")
    assert not await objects.create("t/a.parquet", b"2")
    assert await objects.exists("t/a.parquet")


async def test_the_probe_finds_that_conditional_writes_are_honoured(objects: Objects) -> None:
    assert await objects.probe()
    assert await objects.remove("probes") == 0


async def test_a_part_of_a_large_file_can_be_read(objects: Objects) -> None:
    await objects.put_pieces("f", pieces(LARGE[:6_000_000], LARGE[6_000_000:]), {"Content-Type": "text/plain"})
    assert await whole(objects, "f", 0, len(LARGE)) == LARGE
    assert await whole(objects, "f", 6_000_003, 10) == b"3456789012"
    assert await whole(objects, "f", 5, 0) == b""


async def test_pieces_that_break_off_leave_nothing(objects: Objects) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield LARGE
        raise TooLarge("too much")

    with pytest.raises(TooLarge):
        await objects.put_pieces("f", broken(), {})
    assert not await objects.exists("f")


async def test_a_prefix_is_removed_with_all_below_it_and_nothing_beside(objects: Objects) -> None:
    for key in ("results/1/a/1", "results/1/b/2", "results/10/a/1"):
        await objects.put(key, b"x")
    assert await objects.remove("results/1") == 2
    assert await objects.get("results/10/a/1") == b"x"


async def test_deleting_what_is_gone_is_no_fault(objects: Objects) -> None:
    await objects.put("a", b"x")
    await objects.delete(["a", "never/there"])
    await objects.delete(["a"])
    with pytest.raises(Gone):
        await objects.get("a")


async def test_a_signed_address_leads_straight_to_the_object(s3: S3Server) -> None:
    objects = Objects(s3.config("signed"))
    await objects.put_pieces("f", pieces(b"hello"), {"Content-Type": "text/plain"})
    address = await objects.sign("f", timedelta(seconds=60))
    assert address is not None
    async with aiohttp.ClientSession() as http:
        async with http.get(address) as answer:
            assert (answer.status, await answer.read()) == (200, b"hello")
        async with http.get(address.replace("Signature=", "Signature=0")) as answer:
            assert answer.status == 403


async def test_a_wrong_key_is_a_clear_error(s3: S3Server) -> None:
    objects = Objects(ObjectsConfig(f"s3://{BUCKET}/x", s3.access(secret="wrong")))
    with pytest.raises(NotReady, match="s3://jobs/x failed with a"):
        await objects.put("a", b"x")


async def test_a_store_that_is_away_is_a_clear_error(s3: S3Server) -> None:
    objects = Objects(ObjectsConfig(f"s3://{BUCKET}/x", s3.access(endpoint="http://127.0.0.1:1")))
    with pytest.raises(NotReady, match="object storage at s3://jobs/x"):
        await objects.get("a")


async def test_the_doctor_says_what_the_store_can_do(s3: S3Server, tmp_path: Path) -> None:
    access = {"objects_endpoint": s3.endpoint, "objects_key": KEY, "objects_secret": SECRET, "objects_region": "test"}
    good = UpSettings(objects=f"s3://{BUCKET}/doctor", **access)
    (finding,) = await check_objects(good, tmp_path)
    assert (finding.check, finding.mark) == ("objects", Mark.OK)
    away = UpSettings(objects=f"s3://{BUCKET}/doctor", **(access | {"objects_endpoint": "http://127.0.0.1:1"}))
    (finding,) = await check_objects(away, tmp_path)
    assert finding.mark is Mark.FAIL
    assert await check_objects(UpSettings(), tmp_path) == []


def test_the_secret_comes_from_a_file_and_is_never_shown(s3: S3Server, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hush\n")
    environ = {"HORAE_OBJECTS_SECRET_FILE": str(tmp_path / "secret"), "HOME": str(tmp_path)}
    settings = load(UpSettings, {}, environ, tmp_path / "none")
    assert settings.objects_secret == "hush"
    assert "hush" not in repr(s3_access(settings))
