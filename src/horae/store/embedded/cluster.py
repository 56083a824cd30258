"""A PostgreSQL cluster of our own: made on first use, started as a child process, stopped with us.

Authentication. There is one role, `horae`, trusted without a password over a Unix socket; what protects it is the
socket's folder, which belongs to the account of the database with mode 0700, so that the kernel lets only that account
and root come near. Nothing listens on the network, unless `port` asks for TCP on 127.0.0.1; that way takes a password
(SCRAM), which is kept in the data folder, readable to its owner only.

Making the database is atomic: initdb works in a folder beside, which gets its name when it is whole.
"""

import asyncio
import os
import secrets
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import asyncpg
import structlog

from horae.model.errors import SetupError
from horae.store.embedded.account import Account, serving_account
from horae.store.embedded.binaries import Binaries, find_binaries, reachable_binaries
from horae.store.embedded.folders import (
    PGDATA,
    DataLock,
    check_pgdata,
    disk_full,
    explained,
    make_private,
    prepare_data_folder,
    socket_folder,
)
from horae.store.embedded.postmaster import Mode, Postmaster, is_ready, stop_orphan
from horae.store.embedded.tuning import settings, this_machine

ROLE = "horae"
DATABASE = "horae"
DEFAULT_PORT = 5432
START_TIMEOUT = 600.0
"""Seconds. Recovery after a crash reads up to `max_wal_size` of log, which takes minutes on a slow disk."""
DISK_FULL = ("No space left on device", "Disk quota exceeded", "Check free disk space")

log = structlog.get_logger(__name__)


class Cluster:
    def __init__(
        self,
        data: Path,
        *,
        port: int | None = None,
        durable: bool = True,
        overrides: Mapping[str, str] | None = None,
        prefix: Sequence[str] = (),
    ) -> None:
        """`durable=False` is for unit tests only: `check_server` refuses such a database unless it is told to.

        `overrides` are settings of PostgreSQL; `prefix` begins its command: a program that becomes it, as `env` does.
        """
        self.data = data.expanduser().resolve()
        self.pgdata = self.data / PGDATA
        self.log_file = self.data / "postgresql.log"
        self._port = port
        self._durable = durable
        self._overrides = dict(overrides or {})
        self._prefix = list(prefix)
        self._lock: DataLock | None = None
        self._sockets: Path | None = None
        self._postmaster: Postmaster | None = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.stop()

    @property
    def dsn(self) -> str:
        """Over the private socket."""
        return self.dsn_of(DATABASE)

    @property
    def tcp_dsn(self) -> str:
        """Over TCP, with the password. Only if a port was asked for."""
        if self._port is None:
            raise SetupError("This embedded PostgreSQL does not listen on TCP: start it with a port")
        return f"postgresql://{ROLE}:{self._password()}@127.0.0.1:{self._port}/{DATABASE}"

    def dsn_of(self, database: str) -> str:
        # The port is part of the socket's name, and must not be left to PGPORT.
        return f"postgresql://{ROLE}@/{database}?host={self._sockets}&port={self._port or DEFAULT_PORT}"

    @property
    def pid(self) -> int | None:
        return None if self._postmaster is None else self._postmaster.pid

    async def start(self) -> str:
        """Start, making the database on first use; returns the DSN once it answers."""
        account = serving_account(os.geteuid())
        with explained(self.data):
            prepare_data_folder(self.data, account)
            self._lock = DataLock(self.data)
            try:
                await self._start_locked(account)
            except BaseException:
                await self.stop("immediate")
                raise
        return self.dsn

    async def _start_locked(self, account: Account) -> None:
        binaries = reachable_binaries(find_binaries(), account)
        if not self.pgdata.exists():
            await asyncio.to_thread(self._create, binaries, account)
        check_pgdata(self.pgdata, account, binaries.major)
        await stop_orphan(self.pgdata)
        sockets = socket_folder(self.data, account, os.environ)
        make_private(sockets, account)
        # Only now is it ours to remove.
        self._sockets = sockets
        self._configure(binaries)
        await self._launch(binaries, account)
        await self._ensure_database()

    async def stop(self, mode: Mode = "fast") -> None:
        if self._postmaster is not None:
            await self._postmaster.stop(mode)
            self._postmaster = None
        if self._sockets is not None:
            shutil.rmtree(self._sockets, ignore_errors=True)
            self._sockets = None
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    async def restart(self, mode: Mode = "fast") -> None:
        """Stop and start PostgreSQL at the same address, while the data folder stays ours."""
        if self._postmaster is None:
            raise SetupError(f"The PostgreSQL of {self.data} is not running: start it first")
        await self._postmaster.stop(mode)
        account = serving_account(os.geteuid())
        await self._launch(reachable_binaries(find_binaries(), account), account)

    async def wait(self) -> int:
        """Return the exit code when PostgreSQL has ended, by whatever cause."""
        if self._postmaster is None:
            raise SetupError(f"The PostgreSQL of {self.data} is not running: start it first")
        return await self._postmaster.wait()

    def _create(self, binaries: Binaries, account: Account) -> None:
        half = self.pgdata.with_suffix(".new")
        shutil.rmtree(half, ignore_errors=True)
        half.mkdir(mode=0o700)
        account.own(half)
        options = ["--auth=trust", "--encoding=UTF8", "--no-instructions"]
        # The builtin locale sorts the same on every machine and after every upgrade of the C library.
        options += ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        options += [] if self._durable else ["--no-sync"]
        done = account.run(binaries.program("initdb"), "-D", half, "-U", ROLE, *options, env={"LC_ALL": "C"})
        if done.returncode != 0:
            shutil.rmtree(half, ignore_errors=True)
            raise SetupError(self._failure("PostgreSQL could not make its database", done.stderr))
        half.rename(self.pgdata)
        # A power failure must not undo the new name: the next start would take the folder for one broken off.
        _sync(self.data)
        log.info("database_created", data=str(self.data), account=account.name)

    def _configure(self, binaries: Binaries) -> None:
        values = settings(this_machine(self.data, lz4=binaries.has_lz4), durable=self._durable)
        values |= {
            "listen_addresses": "127.0.0.1" if self._port else "",
            "port": str(self._port or DEFAULT_PORT),
            "unix_socket_directories": str(self._sockets),
            "hba_file": str(self.data / "pg_hba.conf"),
        }
        values |= self._overrides
        lines = [f"{name} = '{_quoted(value)}'" for name, value in values.items()]
        head = "# Written by Horae at each start. Settings of your own: ALTER SYSTEM SET."
        _write(self.data / "postgresql.conf", "\n".join([head, *lines, ""]))
        _write(self.data / "pg_hba.conf", "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n")

    async def _launch(self, binaries: Binaries, account: Account) -> None:
        config = f"config_file={self.data / 'postgresql.conf'}"
        command = [*self._prefix, str(binaries.program("postgres")), "-D", str(self.pgdata), "-c", config]
        self._postmaster = Postmaster(command, account, self.log_file)
        try:
            async with asyncio.timeout(START_TIMEOUT):
                await self._until_ready(self._postmaster)
        except TimeoutError:
            raise SetupError(
                self._failure("PostgreSQL does not get ready", "\n".join(self._postmaster.recent))
            ) from None

    async def _until_ready(self, postmaster: Postmaster) -> None:
        while not is_ready(self.pgdata, postmaster.pid):
            if postmaster.ended:
                raise SetupError(self._failure("PostgreSQL did not start", "\n".join(postmaster.recent)))
            await asyncio.sleep(0.01)

    async def _ensure_database(self) -> None:
        connection = await self._connect("postgres")
        try:
            if not await connection.fetchval("select true from pg_database where datname = $1", DATABASE):
                await connection.execute(f"create database {DATABASE}")
            if self._port is not None:
                await connection.execute(f"alter role {ROLE} password '{self._password()}'")
        finally:
            await connection.close()

    async def _connect(self, database: str) -> Any:
        return await asyncpg.connect(self.dsn_of(database), ssl=False)

    def _password(self) -> str:
        file = self.data / "postgresql.password"
        if not file.exists():
            _write(file, secrets.token_urlsafe(24), mode=0o600)
        return file.read_text()

    def _failure(self, what: str, output: str) -> str:
        if any(sign in output for sign in DISK_FULL):
            return f"{what}. {disk_full(self.data)}"
        if "Address already in use" in output:
            return f"{what}: port {self._port} of 127.0.0.1 is taken; choose another, or stop what listens there"
        return f"{what} in {self.data}. It said:\n{output.strip()}"


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "''")


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write(path: Path, text: str, *, mode: int = 0o644) -> None:
    """Whole or not at all, also on a full disk."""
    half = path.with_name(f"{path.name}.new")
    half.touch(mode=mode)
    half.write_text(text)
    half.chmod(mode)
    half.replace(path)
