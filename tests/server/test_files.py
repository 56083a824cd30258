"""Files of jobs over HTTP: uploaded by whoever holds the lease, seen once they count, fetched by opaque id only."""

import hashlib
from datetime import timedelta
from urllib.parse import parse_qsl, urlencode, urlsplit
from uuid import uuid4

import pytest

from .house import Answer, FakeWorker, House, end, running_job

TEXT = b"The quick brown fox\n"


async def upload(worker: FakeWorker, grant: dict, name: str, data: bytes = TEXT, **changes: object) -> Answer:
    digest = hashlib.sha256(data).hexdigest()
    query = urlencode({"name": name, "size": len(data), "sha256": digest} | changes)
    return await worker.call(f"/files/{grant['id']}/{grant['attempt']}?{query}", data)


async def files_of(house: House, grant: dict, who: str = "red") -> list[dict]:
    return (await house.get(f"/v1/jobs/{grant['id']}/files", who=who)).json["items"]


async def left_file(house: House, name: str = "fox.txt", data: bytes = TEXT) -> str:
    """The id of a file of an ended job."""
    worker, grant = await running_job(house)
    assert (await upload(worker, grant, name, data)).status == 201
    await worker.finish(end(grant))
    (file,) = await files_of(house, grant)
    return file["id"]


async def test_files_are_seen_once_their_attempt_has_ended_the_job(house: House):
    worker, grant = await running_job(house)
    assert (await upload(worker, grant, "first.txt")).status == 201
    await worker.finish(end(grant, "error", retry_after=0))
    assert await files_of(house, grant) == []
    (again,) = await worker.take()
    await upload(worker, again, "second.txt")
    assert await files_of(house, grant) == []
    await worker.finish(end(again))
    (file,) = await files_of(house, grant)
    assert (file["name"], file["attempt"], file["size"]) == ("second.txt", 2, len(TEXT))
    assert file["media_type"] == "text/plain"
    assert file["sha256"] == hashlib.sha256(TEXT).hexdigest()


async def test_the_files_of_a_job_that_failed_are_there_too(house: House):
    worker, grant = await running_job(house)
    await upload(worker, grant, "core")
    await worker.finish(end(grant, "fatal"))
    assert [file["name"] for file in await files_of(house, grant)] == ["core"]


async def test_an_upload_sent_twice_is_one_file(house: House):
    worker, grant = await running_job(house)
    first, second = await upload(worker, grant, "a"), await upload(worker, grant, "a")
    assert first.json == second.json
    await worker.finish(end(grant))
    assert len(await files_of(house, grant)) == 1


@pytest.mark.parametrize(
    "name", ["", "/etc/passwd", "../up", "a/../b", "a//b", "a/", ".", "x\x00", "x\x1b[31m", "x" * 2000]
)
async def test_a_name_that_is_no_path_below_the_folder_is_refused(house: House, name: str):
    worker, grant = await running_job(house)
    assert (await upload(worker, grant, name)).code == "invalid_input"


async def test_bytes_that_are_not_what_was_announced_are_refused_and_not_kept(house: House):
    worker, grant = await running_job(house)
    assert (await upload(worker, grant, "a", sha256="0" * 64)).code == "invalid_input"
    assert (await upload(worker, grant, "b", size=3)).code == "too_large"
    assert (await upload(worker, grant, "c", size=3000)).code == "invalid_input"
    assert (await upload(worker, grant, "d", sha256="xyz")).code == "invalid_input"
    assert await house.engine.stores.objects.remove("results") == 0


async def test_only_the_worker_that_holds_the_attempt_uploads(house: House):
    worker, grant = await running_job(house)
    other = await house.worker()
    assert (await upload(other, grant, "a")).code == "wrong_state"
    assert (await upload(worker, grant | {"attempt": 2}, "a")).code == "wrong_state"
    await worker.finish(end(grant))
    assert (await upload(worker, grant, "a")).code == "wrong_state"


async def test_another_tenant_sees_neither_list_nor_file(house: House):
    worker, grant = await running_job(house)
    await upload(worker, grant, "a")
    await worker.finish(end(grant))
    (file,) = await files_of(house, grant)
    assert (await house.get(f"/v1/jobs/{grant['id']}/files", who="blue")).code == "not_found"
    assert (await house.get(f"/v1/files/{file['id']}", who="blue")).code == "not_found"
    assert (await house.post(f"/v1/files/{file['id']}/address", who="blue")).code == "not_found"
    assert (await house.get(f"/v1/files/{file['id']}", who="root")).body == TEXT


async def test_a_file_is_saved_and_never_shown(house: House):
    file_id = await left_file(house, 'sub/ev il;"é.html', b"<script>")
    answer = await house.get(f"/v1/files/{file_id}")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"].startswith("sandbox")
    shown = answer.headers["content-disposition"]
    assert shown.startswith('attachment; filename="ev il')
    assert shown.isascii()
    assert "\r" not in shown


@pytest.mark.parametrize(
    ("asked", "status", "got", "said"),
    [
        ("bytes=0-2", 206, TEXT[:3], "bytes 0-2/20"),
        ("bytes=4-", 206, TEXT[4:], "bytes 4-19/20"),
        ("bytes=-4", 206, TEXT[-4:], "bytes 16-19/20"),
        ("bytes=-99", 206, TEXT, "bytes 0-19/20"),
        ("bytes=0-99", 206, TEXT, "bytes 0-19/20"),
        ("bytes=5-2", 200, TEXT, None),
        ("bytes=0-1,3-4", 200, TEXT, None),
        ("lines=1-2", 200, TEXT, None),
    ],
)
async def test_a_part_is_given_when_one_is_asked_for(house: House, asked, status, got, said):
    answer = await house.get(f"/v1/files/{await left_file(house)}", headers={"range": asked})
    assert (answer.status, answer.body, answer.headers.get("content-range")) == (status, got, said)


async def test_a_part_beyond_the_end_is_an_error_that_tells_the_size(house: House):
    answer = await house.get(f"/v1/files/{await left_file(house)}", headers={"range": "bytes=20-"})
    assert answer.code == "unsatisfiable_range"
    assert answer.headers["content-range"] == "bytes */20"


async def test_a_signed_address_needs_no_key(house: House, neighbour: House):
    file_id = await left_file(house)
    given = (await house.post(f"/v1/files/{file_id}/address", {"lifetime": "1m"})).json
    for server in (house, neighbour):
        answer = await server.call("GET", given["url"], key="")
        assert (answer.status, answer.body) == (200, TEXT)


async def test_a_signed_address_cannot_be_bent(house: House):
    file_id, other = await left_file(house), await left_file(house, "b", b"other")
    url = (await house.post(f"/v1/files/{file_id}/address")).json["url"]
    signed = dict(parse_qsl(urlsplit(url).query))
    for path, query in (
        (file_id, signed | {"expires": str(int(signed["expires"]) + 1)}),
        (file_id, signed | {"signature": signed["signature"][:-1] + "é"}),
        (file_id, {"expires": signed["expires"]}),
        (file_id, signed | {"expires": "x"}),
        (other, signed),
        (str(uuid4()), signed),
    ):
        answer = await house.call("GET", f"/v1/files/{path}/content?{urlencode(query)}", key="")
        assert answer.code == "not_found", (path, query)


async def test_a_signed_address_ends_with_its_time(house: House, monkeypatch):
    file_id = await left_file(house)
    url = (await house.post(f"/v1/files/{file_id}/address", {"lifetime": 1})).json["url"]
    real = house.engine.clock.now
    monkeypatch.setattr(house.engine.files._clock, "now", lambda: real() + timedelta(seconds=2))
    assert (await house.call("GET", url, key="")).code == "not_found"


@pytest.mark.parametrize("lifetime", ["0s", "8d", "soon", -1])
async def test_an_address_for_no_time_or_for_ever_is_refused(house: House, lifetime):
    assert (await house.post(f"/v1/files/{uuid4()}/address", {"lifetime": lifetime})).code == "invalid_input"


@pytest.mark.parametrize("path", ["nonsense", "..%2f..%2fetc%2fpasswd", "00000000-0000-4000-8000-000000000000"])
async def test_nothing_but_a_known_id_finds_a_file(house: House, path):
    assert (await house.get(f"/v1/files/{path}")).code == "not_found"


async def test_a_file_that_came_otherwise_than_announced_is_not_there(house: House):
    worker, grant = await running_job(house)
    assert (await upload(worker, grant, "fox.txt")).status == 201
    for name in ("fox.txt", "other.txt"):
        assert (await upload(worker, grant, name, sha256="0" * 64)).code == "invalid_input"
    assert (await upload(worker, grant, "good.txt")).status == 201
    await worker.finish(end(grant))
    assert [file["name"] for file in await files_of(house, grant)] == ["good.txt"]


async def test_a_file_sent_again_needs_no_room_of_its_own(house: House, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("horae.engine.files.MAX_BYTES", len(TEXT) + 1)
    worker, grant = await running_job(house)
    answers = [await upload(worker, grant, name) for name in ("fox.txt", "fox.txt", "other.txt")]
    assert [answer.status for answer in answers] == [201, 201, 413]
