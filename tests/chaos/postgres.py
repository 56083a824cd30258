"""Two PostgreSQL servers, a primary and its synchronous standby, that can crash and take over from each other.

Each is a node with a folder and a Unix socket of its own; all that reaches them over TCP comes through a proxy. Which
of them must confirm a commit is set by reload, as the tools do that manage failovers: while there is no standby, the
primary goes on alone.
"""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import asyncpg

from horae.store.embedded.account import serving_account
from horae.store.embedded.binaries import find_binaries, reachable_binaries
from horae.store.embedded.postmaster import Mode, Postmaster
from horae.store.embedded.tuning import settings, this_machine
from horae.store.migrate import migrate
from horae.store.safety import Connection
from horae.testing.proxy import Proxy, Switchboard, to_socket
from horae.testing.waiting import wait_for

ROLE: Final = "horae"
DATABASE: Final = "horae"
PORT: Final = 5432
"""Only part of the socket's name."""
START_SECONDS: Final = 120.0
RECOVERY_SECONDS: Final = 5.0
"""Within which PostgreSQL gets over a crash of one of its processes, if it does."""
SIZES: Final = {"shared_buffers": "64MB", "max_wal_size": "512MB", "min_wal_size": "128MB", "max_connections": "100"}
REPLICATION: Final = {"wal_level": "replica", "max_wal_senders": "10", "wal_keep_size": "256MB", "hot_standby": "on"}


class Node:
    """One PostgreSQL server."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.confirmed_by = ""
        """The name of the standby that must have each commit."""
        self.prefix: Sequence[str] = ()
        """Begins its command: a program that becomes PostgreSQL, as `env` does."""
        self._account = serving_account(os.geteuid())
        self._binaries = reachable_binaries(find_binaries(), self._account)
        self._postmaster: Postmaster | None = None

    @property
    def pgdata(self) -> Path:
        return self.folder / "pgdata"

    @property
    def log(self) -> Path:
        """Beside the folder: its disk may be full."""
        return self.folder.with_suffix(".log")

    @property
    def sockets(self) -> Path:
        return self.folder / "sockets"

    @property
    def socket(self) -> str:
        return f"{self.sockets}/.s.PGSQL.{PORT}"

    @property
    def dsn(self) -> str:
        return f"postgresql://{ROLE}@/{DATABASE}?host={self.sockets}&port={PORT}"

    @property
    def running(self) -> bool:
        return self._postmaster is not None and not self._postmaster.ended

    @property
    def pid(self) -> int:
        assert self._postmaster is not None
        return self._postmaster.pid

    async def create(self) -> None:
        self._make_folders()
        options = ("--auth=trust", "--encoding=UTF8", "--no-instructions", "--locale=C", "--no-sync")
        await self._run("initdb", "-D", str(self.pgdata), "-U", ROLE, *options)

    async def copy_of(self, source: "Node") -> None:
        """Becomes a fresh copy of a running node, whatever it was before."""
        shutil.rmtree(self.pgdata, ignore_errors=True)
        self._make_folders()
        where = f"host={source.sockets} port={PORT} user={ROLE}"
        await self._run("pg_basebackup", "-d", where, "-D", str(self.pgdata), "-c", "fast", "-X", "stream", "--no-sync")

    def _make_folders(self) -> None:
        for folder in (self.folder, self.sockets):
            folder.mkdir(exist_ok=True)
            self._account.own(folder)
            folder.chmod(0o711 if folder == self.folder else 0o700)

    async def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._binaries.program(program)), *arguments]
        done = await asyncio.to_thread(self._account.run, *command, env={"LC_ALL": "C"})
        assert done.returncode == 0, f"{program}: {done.stderr}"

    async def start(self, primary: Proxy | None = None) -> None:
        """As the standby of a primary that is reached through the proxy, or as a primary."""
        self._configure(primary)
        signal = self.pgdata / "standby.signal"
        signal.touch() if primary else signal.unlink(missing_ok=True)
        config = f"config_file={self.folder / 'postgresql.conf'}"
        command = [*self.prefix, str(self._binaries.program("postgres")), "-D", str(self.pgdata), "-c", config]
        self._postmaster = Postmaster(command, self._account, self.log)
        await wait_for(self._answers, START_SECONDS, what=f"PostgreSQL {self.name}; see {self.log}")

    def _configure(self, primary: Proxy | None) -> None:
        values = settings(this_machine(self.folder, lz4=False)) | SIZES | REPLICATION
        values |= {
            "listen_addresses": "",
            "port": str(PORT),
            "unix_socket_directories": str(self.sockets),
            "hba_file": str(self.folder / "pg_hba.conf"),
            "synchronous_standby_names": self.confirmed_by,
        }
        if primary:
            where = f"host={primary.host} port={primary.port} user={ROLE} application_name={self.name} sslmode=disable"
            # A link that died without a word shall be noticed within the time of a fault.
            values |= {"primary_conninfo": where, "wal_receiver_timeout": "5s", "wal_retrieve_retry_interval": "500ms"}
        lines = [f"{name} = '{value}'" for name, value in values.items()]
        (self.folder / "postgresql.conf").write_text("\n".join([*lines, ""]))
        (self.folder / "pg_hba.conf").write_text("local all all trust\nlocal replication all trust\n")

    async def _answers(self) -> bool:
        """For whoever started it, and waits: one that has ended never will."""
        try:
            async with self.connected("postgres") as connection:
                return await connection.fetchval("select true")
        except (OSError, asyncpg.PostgresError, TimeoutError):
            assert self.running, f"PostgreSQL {self.name} ended: {list(self._postmaster.recent)}"  # type: ignore[union-attr]
            return False

    async def answers_soon(self) -> bool:
        """Whether it has got over what befell it."""
        with suppress(AssertionError):
            return await wait_for(self._answers, RECOVERY_SECONDS, interval=0.1)
        return False

    async def stop(self, mode: Mode = "fast") -> None:
        if self._postmaster is not None:
            await self._postmaster.stop(mode)
            self._postmaster = None

    async def restart(self) -> None:
        """As after a loss of power: nothing is written that was not. A primary stays one."""
        await self.stop("immediate")
        await self.start()

    async def promote(self) -> None:
        async with self.connected() as connection:
            assert await connection.fetchval("select pg_promote(true, 60)"), f"{self.name} was not promoted"

    async def confirm_by(self, standby: str) -> None:
        """From now on each commit waits for that standby; none if it has no name."""
        self.confirmed_by = standby
        async with self.connected() as connection:
            await connection.execute(f"alter system set synchronous_standby_names = '{standby}'")
            await connection.execute("select pg_reload_conf()")

    async def streams_to(self, standby: "Node") -> bool:
        """Whether that standby has all commits, and confirms new ones."""
        async with self.connected() as connection:
            query = "select true from pg_stat_replication where application_name = $1 and sync_state = $2"
            return await connection.fetchval(query, standby.name, "sync" if self.confirmed_by else "async") or False

    @asynccontextmanager
    async def connected(self, database: str = DATABASE) -> AsyncIterator[Connection]:
        dsn = self.dsn.replace(f"@/{DATABASE}?", f"@/{database}?")
        connection = await asyncpg.connect(dsn, timeout=20, command_timeout=60)
        try:
            yield connection
        finally:
            connection.terminate()


class Pair:
    """The primary of the moment and the standby that confirms its commits."""

    def __init__(self, folder: Path, board: Switchboard) -> None:
        self.nodes = (Node("left", folder / "left"), Node("right", folder / "right"))
        self.primary, self.standby = self.nodes
        self.replication: dict[str, Proxy] = {node.name: board.proxy(to_socket(node.socket)) for node in self.nodes}
        """By the node that sends: the link to its standby."""

    async def start(self) -> None:
        await self.primary.create()
        await self.primary.start()
        async with self.primary.connected("postgres") as connection:
            await connection.execute(f"create database {DATABASE}")
        await migrate(self.primary.dsn)
        await self.rebuild()

    async def rebuild(self) -> None:
        """The other node becomes the standby again: a copy of the primary that follows it."""
        await self.primary.confirm_by("")
        await self.standby.stop("immediate")
        await self.standby.copy_of(self.primary)
        self.standby.confirmed_by = ""
        await self.standby.start(self.replication[self.primary.name])
        await self.primary.confirm_by(self.standby.name)
        await self.until_synchronous()

    async def until_synchronous(self) -> None:
        await wait_for(
            lambda: self.primary.streams_to(self.standby), START_SECONDS, interval=0.1, what="the synchronous standby"
        )

    async def mend(self) -> None:
        """What a fault that was broken off has left undone."""
        if not self.primary.running:
            await self.primary.start()
        for link in self.replication.values():
            link.heal()
        if not (self.standby.running and await self._synchronous_soon()):
            await self.rebuild()

    async def _synchronous_soon(self) -> bool:
        with suppress(AssertionError):
            return await wait_for(lambda: self.primary.streams_to(self.standby), RECOVERY_SECONDS, interval=0.1)
        return False

    async def failover(self) -> None:
        """The primary dies, and the standby takes its place; there is no standby then."""
        await self.primary.stop("immediate")
        await self.standby.promote()
        self.primary, self.standby = self.standby, self.primary

    async def stop(self) -> None:
        for node in self.nodes:
            await node.stop("immediate")
