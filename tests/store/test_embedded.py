"""The embedded cluster's life: it starts, it keeps what it was given, it ends with us, and nobody else gets in."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import asyncpg
import psutil
import pytest

from horae.model.errors import SetupError
from horae.store.embedded import Cluster
from horae.store.embedded.account import serving_account
from horae.store.embedded.binaries import INSTALLATION, LIBRARIES, PACKAGE, Binaries, find_binaries, reachable_binaries
from horae.store.embedded.postmaster import find_orphan
from horae.testing.processes import alive
from horae.testing.waiting import wait_for

ONE_START = """
import asyncio, pathlib, sys
from horae.store.embedded import Cluster

async def main():
    cluster = Cluster(pathlib.Path(sys.argv[1]), durable=False)
    await cluster.start()
    print(cluster.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def ask(dsn: str, query: str):
    connection = await asyncpg.connect(dsn)
    try:
        return await connection.fetchval(query)
    finally:
        await connection.close()


@pytest.fixture
async def cluster(reachable_path: Path):
    async with Cluster(reachable_path / "data", durable=False) as started:
        yield started


async def test_what_was_committed_survives_a_crash_of_the_database(durable_cluster: Cluster):
    dsn = durable_cluster.dsn
    await ask(dsn, "create table fruit as select 'quince' as name")
    await durable_cluster.restart("immediate")
    assert await ask(dsn, "select name from fruit") == "quince"


async def test_what_was_committed_is_there_at_the_next_start(cluster: Cluster):
    await ask(cluster.dsn, "create table fruit as select 'quince' as name")
    await cluster.stop()
    assert await ask(await cluster.start(), "select name from fruit") == "quince"


async def test_it_stays_off_the_network(cluster: Cluster):
    assert await ask(cluster.dsn, "show listen_addresses") == ""
    assert not psutil.Process(cluster.pid).net_connections("inet")


async def test_tcp_takes_the_password(reachable_path: Path, unused_tcp_port: int):
    async with Cluster(reachable_path / "data", port=unused_tcp_port, durable=False) as cluster:
        assert await ask(cluster.tcp_dsn, "select 1") == 1
        assert await ask(cluster.dsn, "select 1") == 1
        with pytest.raises(asyncpg.InvalidPasswordError):
            await asyncpg.connect(f"postgresql://horae:wrong@127.0.0.1:{unused_tcp_port}/horae")
        assert (cluster.data / "postgresql.password").stat().st_mode & 0o077 == 0


async def test_a_taken_port_is_told(reachable_path: Path):
    taken = await asyncio.start_server(lambda _reader, _writer: None, "127.0.0.1", 0)
    async with taken:
        port = taken.sockets[0].getsockname()[1]
        with pytest.raises(SetupError, match=f"port {port}.*is taken"):
            await Cluster(reachable_path / "data", port=port, durable=False).start()


async def test_it_never_runs_as_root(cluster: Cluster):
    account = serving_account(os.geteuid())
    process = psutil.Process(cluster.pid)
    assert account.uid != 0
    assert (tuple(process.uids()), tuple(process.gids())) == ((account.uid,) * 3, (account.gid,) * 3)
    assert "Groups:\t \n" in Path(f"/proc/{cluster.pid}/status").read_text()


async def test_nobody_else_can_enter_the_folder_of_the_socket(cluster: Cluster):
    sockets = Path(await ask(cluster.dsn, "show unix_socket_directories"))
    assert sockets.stat().st_mode & 0o777 == 0o700
    assert sockets.stat().st_uid == serving_account(os.geteuid()).uid


@pytest.mark.parametrize("name", ["long" * 30, "it's 100 % \\ odd, isn't it?"])
async def test_a_long_or_odd_path_is_no_obstacle(reachable_path: Path, name: str):
    async with Cluster(reachable_path / name / "data", durable=False) as cluster:
        sockets = Path(await ask(cluster.dsn, "show unix_socket_directories"))
        assert sockets.stat().st_mode & 0o777 == 0o700
    assert not sockets.exists()


async def test_a_second_start_is_refused_and_names_the_first(cluster: Cluster):
    message = rf"is already used by horae \(pid {os.getpid()}\); stop it or choose another --data"
    with pytest.raises(SetupError, match=message):
        await Cluster(cluster.data, durable=False).start()
    assert await ask(cluster.dsn, "select 1") == 1


async def test_it_ends_when_its_horae_is_killed(reachable_path: Path):
    with started_elsewhere(reachable_path / "data") as (horae, pid):
        horae.kill()
        await wait_for(lambda: not alive(pid), what="PostgreSQL to end")


async def test_the_next_start_takes_over_from_one_that_was_killed(reachable_path: Path):
    with started_elsewhere(reachable_path / "data") as (horae, _):
        horae.kill()
        async with Cluster(reachable_path / "data", durable=False) as cluster:
            assert await ask(cluster.dsn, "select 1") == 1


async def test_a_live_orphan_is_stopped_first(cluster: Cluster):
    await cluster.stop()
    orphan = orphaned_postgres(cluster)
    try:
        await wait_for(lambda: find_orphan(cluster.pgdata), what="the orphan to start")
        await cluster.start()
        assert orphan.wait(timeout=100) == 0
        assert await ask(cluster.dsn, "select 1") == 1
    finally:
        orphan.kill()
        orphan.wait()


async def test_the_death_of_the_database_is_noticed(cluster: Cluster):
    os.kill(cluster.pid, signal.SIGKILL)
    assert await asyncio.wait_for(cluster.wait(), 100) == -signal.SIGKILL


async def test_a_failed_start_tells_the_last_words_and_lets_go(reachable_path: Path):
    broken = Cluster(reachable_path / "data", durable=False, overrides={"shared_buffers": "plenty"})
    with pytest.raises(SetupError, match=r'did not start in .*\n.*invalid value for parameter "shared_buffers"'):
        await broken.start()
    async with Cluster(reachable_path / "data", durable=False) as cluster:
        assert await ask(cluster.dsn, "select 1") == 1


async def test_a_creation_that_was_broken_off_is_begun_again(reachable_path: Path):
    half = reachable_path / "data" / "postgresql.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    (reachable_path / "data" / "horae.lock").touch()
    async with Cluster(reachable_path / "data", durable=False) as cluster:
        assert await ask(cluster.dsn, "select 1") == 1
    assert not half.exists()


async def test_the_log_does_not_grow_without_bound(cluster: Cluster, monkeypatch):
    monkeypatch.setattr("horae.store.embedded.postmaster.LOG_LIMIT", 10_000)
    for _ in range(50):
        await ask(cluster.dsn, "do $$ begin raise warning '%', repeat('x', 1000); end $$")
    await cluster.stop()
    assert sum(file.stat().st_size for file in cluster.data.glob("postgresql.log*")) < 30_000


@pytest.mark.skipif(os.geteuid() != 0, reason="only root steps down to another account")
async def test_programs_in_a_private_folder_are_copied_to_a_reachable_one(reachable_path: Path):
    account = serving_account(0)
    site, cache = reachable_path / "private", reachable_path / "cache"
    site.mkdir(mode=0o700)
    for folder in (LIBRARIES, PACKAGE):
        shutil.copytree(find_binaries().prefix.parent.parent / folder, site / folder)
    hidden = Binaries(site / INSTALLATION)

    found = reachable_binaries(hidden, account, cache)

    (reachable_path / "data").mkdir()
    account.own(reachable_path / "data")
    made = account.run(found.program("initdb"), "-D", reachable_path / "data", "--no-sync", "--auth=trust")
    assert made.returncode == 0, made.stderr
    assert reachable_binaries(hidden, account, cache) == found
    assert [path.name for path in cache.iterdir()] == ["postgresql-" + hidden.version]


async def test_an_ordinary_user_needs_no_more_than_a_home(reachable_path: Path):
    """In a user namespace we look like the user `daemon` to everybody, PostgreSQL included."""
    command = ["unshare", "--user", "--map-user=1", "--map-group=1"]
    if os.geteuid() != 0 or subprocess.run([*command, "true"], check=False, capture_output=True).returncode:
        pytest.skip("needs root and user namespaces, to become somebody else")
    with started_elsewhere(reachable_path / "data", *command) as (_, pid):
        process = psutil.Process(pid)
        assert process.uids().effective == os.geteuid()  # of the namespace's `daemon`, seen from outside
        assert (reachable_path / "data").stat().st_mode & 0o777 == 0o700


class started_elsewhere:  # noqa: N801 used like a function
    """A Horae in a process of its own; gives that process and the pid of its PostgreSQL."""

    def __init__(self, data: Path, *prefix: str) -> None:
        self._command = [*prefix, sys.executable, "-c", ONE_START, str(data)]

    def __enter__(self) -> tuple[subprocess.Popen[str], int]:
        self._horae = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)
        assert self._horae.stdout is not None
        lines = iter(self._horae.stdout.readline, "")
        return self._horae, next(int(line) for line in lines if line.strip().isdigit())

    def __exit__(self, *_: object) -> None:
        self._horae.kill()
        self._horae.communicate()


def orphaned_postgres(cluster: Cluster) -> subprocess.Popen[bytes]:
    """A PostgreSQL on the same data that no Horae looks after."""
    account = serving_account(os.geteuid())
    program = reachable_binaries(find_binaries(), account).program("postgres")
    as_account = {"user": account.uid, "group": account.gid, "extra_groups": []} if account.switch else {}
    options = ["-c", "listen_addresses=", "-k", cluster.pgdata]
    return subprocess.Popen([program, "-D", cluster.pgdata, *options], stderr=subprocess.DEVNULL, **as_account)
