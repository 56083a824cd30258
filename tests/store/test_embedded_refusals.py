"""A data folder that cannot be used is told as it is, with what to do about it."""

import os
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from horae.model.errors import SetupError
from horae.store.embedded import Cluster
from horae.store.embedded.account import serving_account
from horae.store.embedded.folders import make_private, socket_folder

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount and give files away")


async def refused(data: Path, message: str) -> None:
    with pytest.raises(SetupError, match=message):
        await Cluster(data, durable=False).start()


@contextmanager
def mounted(folder: Path, options: str):
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", folder], check=False, capture_output=True)
    if done.returncode:
        pytest.skip(f"mounting is not allowed here: {done.stderr.decode()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


async def test_a_file(reachable_path: Path):
    (reachable_path / "data").touch()
    await refused(reachable_path / "data", "data is not a folder: choose another --data")


async def test_a_folder_below_a_file(reachable_path: Path):
    (reachable_path / "file").touch()
    await refused(reachable_path / "file" / "data", "is not a folder: choose another --data")


async def test_a_folder_with_other_things_in_it(reachable_path: Path):
    (reachable_path / "data").mkdir()
    (reachable_path / "data" / "thesis.tex").touch()
    await refused(reachable_path / "data", "is not empty and not a data folder of Horae: choose an empty one")
    assert [path.name for path in (reachable_path / "data").iterdir()] == ["thesis.tex"]


async def test_the_folder_of_another_postgresql(reachable_path: Path):
    (reachable_path / "data").mkdir()
    (reachable_path / "data" / "PG_VERSION").write_text("18\n")
    await refused(reachable_path / "data", "is the folder of another PostgreSQL server")


async def test_data_of_another_major_version(reachable_path: Path):
    async with Cluster(reachable_path / "data", durable=False) as cluster:
        pass
    (cluster.pgdata / "PG_VERSION").write_text("16\n")
    await refused(reachable_path / "data", "was made by PostgreSQL 16, and this Horae carries PostgreSQL 18")


@needs_root
async def test_data_of_another_user(reachable_path: Path):
    async with Cluster(reachable_path / "data", durable=False) as cluster:
        pass
    os.chown(cluster.pgdata, 1, 1)
    await refused(reachable_path / "data", "belongs to user 'daemon', but PostgreSQL would run as")


@needs_root
async def test_a_folder_that_the_account_of_the_database_cannot_reach(reachable_path: Path):
    (reachable_path / "private").mkdir(mode=0o700)
    await refused(reachable_path / "private" / "data", "cannot enter .*/private/data: choose a --data outside")


@needs_root
async def test_a_disk_that_cannot_be_written(reachable_path: Path):
    with mounted(reachable_path / "disk", "size=1m,ro") as disk:
        await refused(disk / "data", "may not write to .*/disk/data: change its owner, or choose another --data")


@needs_root
async def test_a_folder_without_permission(reachable_path: Path):
    os.seteuid(1)
    try:
        await refused(reachable_path / "data", "User 'daemon' may not write to .*/data: change its owner")
    finally:
        os.seteuid(0)


@needs_root
async def test_a_disk_too_small_for_a_database(reachable_path: Path):
    with mounted(reachable_path / "disk", "size=20m,mode=755") as disk:
        await refused(disk / "data", "The disk that holds .*/disk/data is full: free some space")
        assert not (disk / "data" / "postgresql.new").exists()


@needs_root
async def test_a_disk_that_has_become_full(reachable_path: Path):
    with mounted(reachable_path / "disk", "size=200m,mode=755") as disk:
        async with Cluster(disk / "data", durable=False):
            pass
        fill(disk / "ballast")
        await refused(disk / "data", "The disk that holds .*/disk/data is full: free some space")
        (disk / "ballast").unlink()
        async with Cluster(disk / "data", durable=False):
            pass


def test_a_folder_for_sockets_that_somebody_else_made(reachable_path: Path):
    account = serving_account(os.geteuid())
    (reachable_path / "squatted").mkdir(mode=0o755)
    with pytest.raises(SetupError, match="squatted is not a private folder"):
        make_private(reachable_path / "squatted", account)
    (reachable_path / "link").symlink_to(reachable_path)
    with pytest.raises(SetupError, match="link is not a private folder"):
        make_private(reachable_path / "link", account)


async def test_a_start_that_finds_such_a_folder_leaves_it_alone(reachable_path: Path):
    squatted = reachable_path / "data" / "sockets"
    squatted.mkdir(mode=0o755, parents=True)
    (reachable_path / "data" / "horae.lock").touch()
    await refused(reachable_path / "data", "sockets is not a private folder")
    assert squatted.exists()


def test_sockets_of_a_long_path_go_to_the_runtime_folder(reachable_path: Path):
    account = serving_account(1)
    long, other = (Path("/", "long" * 30, name) for name in "ab")
    runtime = {"XDG_RUNTIME_DIR": str(reachable_path)}
    assert socket_folder(long, account, runtime).parent == reachable_path
    assert socket_folder(long, account, runtime) == socket_folder(long, account, runtime)
    assert socket_folder(long, account, runtime) != socket_folder(other, account, runtime)


def fill(file: Path) -> None:
    with file.open("wb", buffering=0) as ballast:
        for size in (1 << 20, 1 << 12):
            try:
                while True:
                    ballast.write(bytes(size))
            except OSError:
                continue
