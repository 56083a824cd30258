"""What a job leaves in its output folder, and what of it is taken."""

import asyncio
import hashlib
import os
import socket
from pathlib import Path

import pytest

from horae.model.roles import Role
from horae.model.work import Grant
from horae.worker.config import Connection
from horae.worker.errands.collection import Collection, Walk
from horae.worker.link import Link
from server.house import House, end, open_house, running_job


class Left:
    """An errand as far as collection sees it."""

    def __init__(self, folder: Path, grant: Grant | None = None) -> None:
        self.folder = folder
        self.output = folder / "output"
        self.output.mkdir()
        self.grant = grant
        self.said: list[str] = []

    def write(self, stream: str, data: bytes) -> None:
        assert stream == "system"
        self.said.append(data.decode())


def walk(left: Left, limit: int = 10**9) -> dict[str, bytes]:
    taken = {}
    for found in Walk(left.output, limit, left.said.append).files():
        with found.file:
            taken[found.name] = found.file.read()
    return taken


@pytest.fixture
def left(tmp_path: Path) -> Left:
    return Left(tmp_path)


def test_files_and_those_in_folders_are_found(left):
    (left.output / "sub" / "deeper").mkdir(parents=True)
    (left.output / "a.txt").write_text("a")
    (left.output / "sub" / "deeper" / "b.bin").write_bytes(b"\0b")
    assert walk(left) == {"a.txt": b"a", "sub/deeper/b.bin": b"\0b"}
    assert left.said == []


def test_no_output_folder_is_no_files(tmp_path):
    assert list(Walk(tmp_path / "none", 10, print).files()) == []


def test_an_output_folder_that_is_a_link_is_not_entered(left, tmp_path):
    left.output.rmdir()
    (tmp_path / "host").mkdir()
    (tmp_path / "host" / "secret").write_text("x")
    left.output.symlink_to(tmp_path / "host")
    assert walk(left) == {}
    assert "was not read" in left.said[0]


@pytest.mark.parametrize(
    ("plant", "word"),
    [
        (lambda at, host: at.symlink_to(host / "secret"), "symbolic link"),
        (lambda at, host: at.symlink_to(host), "symbolic link"),
        (lambda at, host: at.symlink_to("/etc/passwd"), "symbolic link"),
        (lambda at, host: at.symlink_to("missing"), "symbolic link"),
        (lambda at, host: os.link(host / "secret", at), "hard link"),
        (lambda at, host: os.mkfifo(at), "pipe"),
        (lambda at, host: os.mknod(at, 0o20666, os.makedev(1, 5)), "device"),
    ],
)
def test_what_could_lead_out_of_the_folder_is_refused_and_named(left, tmp_path, plant, word):
    (tmp_path / "host").mkdir()
    (tmp_path / "host" / "secret").write_text("x")
    try:
        plant(left.output / "planted", tmp_path / "host")
    except PermissionError:
        pytest.skip("only root can make devices")
    (left.output / "good").write_text("g")
    assert walk(left) == {"good": b"g"}
    (remark,) = left.said
    assert remark.startswith("planted ")
    assert word in remark


def test_a_socket_is_refused(left):
    with socket.socket(socket.AF_UNIX) as planted:
        here = Path.cwd()
        os.chdir(left.output)
        try:
            planted.bind("s")
        finally:
            os.chdir(here)
        assert walk(left) == {}
    assert "a socket" in left.said[0]


def test_a_link_swapped_in_for_a_folder_after_the_look_is_not_followed(left, tmp_path, monkeypatch):
    """scandir sees a folder; before it is opened, it has become a link to the host."""
    (tmp_path / "host").mkdir()
    (tmp_path / "host" / "secret").write_text("x")
    (left.output / "sub").mkdir()
    real = os.open

    def swap(path, flags, *more, **named):
        if path == b"sub":
            (left.output / "sub").rmdir()
            (left.output / "sub").symlink_to(tmp_path / "host")
        return real(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", swap)
    assert walk(left) == {}
    assert "sub could not be read" in left.said[0]


def test_names_that_are_no_text_become_printable(left):
    (Path(os.fsdecode(os.fsencode(left.output) + b"/bad\xff\x1b[31m"))).write_text("x")
    (name,) = walk(left)
    assert name == "bad\ufffd\ufffd[31m"


def test_more_bytes_than_the_limit_are_left(left):
    (left.output / "a").write_bytes(b"x" * 60)
    (left.output / "b").write_bytes(b"x" * 60)
    (left.output / "c").write_bytes(b"x" * 40)
    assert set(walk(left, 100)) == {"a", "c"}
    assert "b has 60 bytes" in left.said[0]


def test_a_sparse_giant_costs_nothing(left):
    with (left.output / "giant").open("wb") as file:
        file.truncate(10 * 1024**4)
    assert walk(left, 2**30) == {}
    assert "10,995,116,277,760 bytes" in left.said[0]


def test_folders_without_end_are_left(left):
    deep = left.output
    for _ in range(40):
        deep = deep / "d"
    deep.mkdir(parents=True)
    (deep / "f").write_text("x")
    assert walk(left) == {}
    assert "deeper than" in left.said[0]


def test_too_many_files_are_left(left, monkeypatch):
    monkeypatch.setattr("horae.worker.errands.collection.MAX_FILES", 5)
    for n in range(9):
        (left.output / f"{n}").write_text("x")
    assert len(walk(left)) == 5
    assert "the rest was left" in left.said[0]


def grant_of(given: dict) -> Grant:
    return Grant(id=given["id"], lane=given["lane"], attempt=given["attempt"], task=given["task"], params=b"{}")


async def collect(house: House, worker_id: int, left: Left, limit: int = 10**9) -> list:
    link = Link(Connection(house.url, house.key("red", Role.WORKER)))
    link.worker_id = worker_id
    try:
        return await Collection(link, limit).collect(left)
    finally:
        await link.close()


async def test_what_is_collected_can_be_fetched_once_the_job_has_ended(database, tmp_path):
    async with open_house(database, tmp_path / "house") as house:
        worker, given = await running_job(house)
        left = Left(tmp_path, grant_of(given))
        large = os.urandom(3_000_000)
        (left.output / "größe & mehr.txt").write_text("hällo")
        (left.output / "large.bin").write_bytes(large)
        (left.output / "empty").write_bytes(b"")
        entries = await collect(house, worker.id, left)
        assert [entry.name for entry in entries] == ["empty", "größe & mehr.txt", "large.bin"]
        assert (await house.get(f"/v1/jobs/{given['id']}/files")).json["items"] == []
        await worker.finish(end(given))
        files = {f["name"]: f for f in (await house.get(f"/v1/jobs/{given['id']}/files")).json["items"]}
        assert files["large.bin"]["sha256"] == hashlib.sha256(large).hexdigest()
        assert (await house.get(f"/v1/files/{files['large.bin']['id']}")).body == large
        assert (await house.get(f"/v1/files/{files['empty']['id']}")).body == b""
        assert left.said == []


async def test_a_file_that_the_server_refuses_is_named_and_the_others_go_on(database, tmp_path, monkeypatch):
    monkeypatch.setattr("horae.engine.files.MAX_BYTES", 10)
    async with open_house(database, tmp_path / "house") as house:
        worker, given = await running_job(house)
        left = Left(tmp_path, grant_of(given))
        (left.output / "a").write_bytes(b"x" * 11)
        (left.output / "b").write_bytes(b"x")
        entries = await asyncio.wait_for(collect(house, worker.id, left), 20)
        assert [entry.name for entry in entries] == ["b"]
        assert "a was not kept" in left.said[0]
