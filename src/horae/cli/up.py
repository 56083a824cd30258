"""`horae up`: everything on this machine, with one command.

What is started first stops last: database, server, the file that tells clients where we are, worker, companions.
The worker is a process of its own, as everywhere else; whatever a job does to it, the server lives on.
"""

import asyncio
import os
import sys
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import structlog
from cyclopts import Parameter

from horae import failpoints, heap
from horae.cli.child import Child
from horae.cli.journal import open_journal
from horae.cli.localkeys import FILE, LocalKeys, local_keys, write_private
from horae.cli.masterkeys import with_own_key, without_keys
from horae.cli.running import Orders, listening, run, unless
from horae.cli.server import server_config, until_told
from horae.cli.worker import EVERY, worker_file
from horae.client.discovery import local_file, remove_local, write_local
from horae.config import UpSettings, load
from horae.model.errors import HoraeError, SetupError

if TYPE_CHECKING:
    from horae.server.serving import Server
    from horae.store.embedded import Cluster

WORKER_DRAIN: Final = 5.0
"""Seconds that running jobs get when everything stops; what is not finished then runs again at the next start."""
PATIENCE: Final = WORKER_DRAIN + 10.0
RESTART_PAUSE: Final = 1.0

log = structlog.get_logger(__name__)


def up(
    *,
    data: str | None = None,
    host: str | None = None,
    port: int | None = None,
    app: str | None = None,
    slots: int | None = None,
    no_worker: bool = False,
    companion: Annotated[list[str] | None, Parameter(name="--with")] = None,
    database: str | None = None,
    objects: str | None = None,
    retention_days: int | None = None,
) -> int:
    """Run everything on this machine until Ctrl-C: an embedded PostgreSQL, the server, and a worker.

    The worker runs the functions of your app, and each other kind of task that this machine can run.

    Parameters
    ----------
    data
        The folder that holds everything (~/.local/share/horae, for root /var/lib/horae).
    host
        The address to listen on (127.0.0.1).
    port
        The port to listen on (8420).
    app
        The app whose tasks the worker runs: package.module:app or path/to/file.py:app.
    slots
        How many jobs the worker runs at once (one for each CPU).
    no_worker
        Start no worker.
    companion
        A Python script to run beside, with HORAE_URL and HORAE_KEY set. May be repeated.
    database
        postgresql://… of yours instead of the embedded one, or HORAE_DATABASE.
    objects
        Where large results and files go: a folder (in --data), or s3://bucket/prefix.
    retention_days
        How long ended jobs are kept (30).
    """
    flags = {field: value for field, value in locals().items() if field in UpSettings.__struct_fields__}
    settings = load(UpSettings, flags, os.environ)
    open_journal(os.environ.get("HORAE_LOG") or "warning", "up")
    failpoints.arm(os.environ)
    heap.share_one_heap()
    heap.keep_large_blocks_apart()
    return run(_up(settings, companion or [], with_worker=not no_worker))


async def _up(settings: UpSettings, companions: list[str], *, with_worker: bool) -> int:
    async with AsyncExitStack() as stack:
        orders = stack.enter_context(listening())
        data = _data_folder(settings)
        server = await _start_server(stack, orders, settings, data)
        keys = await local_keys(data, server.engine.access)
        _announce(stack, server.url, keys)
        children = [_script(path, server.url, keys.admin) for path in companions]
        if with_worker:
            write_private(data / "worker.key", keys.worker)
            children.insert(0, _worker(settings, server.url, data))
        for child in children:
            child.start()
            stack.push_async_callback(child.stop, orders.hurry, PATIENCE)
        console = await _console(server, keys)
        print(_welcome(server.url, data, settings, console, with_worker=with_worker), flush=True)
        code = await until_told(server, orders)
        print("stopping; Ctrl-C again hurries", flush=True)
    return code


def _data_folder(settings: UpSettings) -> Path:
    from horae.store.embedded import default_data_dir

    given = settings.data
    return Path(given).expanduser().resolve() if given else default_data_dir(os.environ, os.geteuid())


def _make_folder(data: Path) -> None:
    """With a database of its own it is there; with yours it holds the keys and the objects."""
    try:
        data.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise SetupError(f"{data} cannot be used: {error.strerror}; choose another --data") from error


async def _start_server(stack: AsyncExitStack, orders: Orders, settings: UpSettings, data: Path) -> "Server":
    from horae.server.serving import Server
    from horae.store.migrate import migrate

    dsn = settings.database
    if dsn is None:
        dsn = await _start_database(stack, orders, data)
    _make_folder(data)
    await migrate(dsn)
    server = Server(server_config(with_own_key(settings, data), dsn, data))
    await server.start()
    stack.push_async_callback(lambda: unless(server.stop(), orders.hurry))
    return server


async def _start_database(stack: AsyncExitStack, orders: Orders, data: Path) -> str:
    from horae.store.embedded import Cluster

    cluster = Cluster(data)
    dsn = await cluster.start()
    keeper = asyncio.create_task(_keep_database(cluster))

    async def stop() -> None:
        keeper.cancel()
        await asyncio.gather(keeper, return_exceptions=True)
        await cluster.stop("immediate" if orders.hurry.is_set() else "fast")

    stack.push_async_callback(stop)
    return dsn


async def _keep_database(cluster: "Cluster") -> None:
    """PostgreSQL may be killed, by a lack of memory above all. It loses nothing; the server waits for its return."""
    while True:
        log.error("database_ended", exit_code=await cluster.wait())
        try:
            await cluster.restart()
        except HoraeError as error:
            # Its other processes may take a moment to notice that the first one is gone.
            log.error("database_not_restarted", why=error.detail, again_in=RESTART_PAUSE)  # noqa: TRY400 said in words
            await asyncio.sleep(RESTART_PAUSE)
        else:
            log.warning("database_restarted")


def _announce(stack: AsyncExitStack, url: str, keys: LocalKeys) -> None:
    """Leaves address and keys where the commands of this user look for them, as long as we run."""
    for path, key in ((local_file(), keys.admin), (worker_file(), keys.worker)):
        write_local(path, url, key, os.getpid())
        stack.callback(partial(remove_local, path, os.getpid()))


def _worker(settings: UpSettings, url: str, data: Path) -> Child:
    """The key goes by file: arguments show in `ps`, and the environment would pass to the jobs."""
    command = [sys.executable, "-m", "horae.cli", "worker", "--url", url, "--key-file", str(data / "worker.key")]
    command += ["--app", settings.app] if settings.app else []
    command += ["--kinds", EVERY, "--state", str(data / "worker")]
    command += ["--drain-timeout", f"{WORKER_DRAIN:g}s", "--stop-with-stdin"]
    command += ["--slots", str(settings.slots)] if settings.slots else []
    return Child("worker", command, {"HORAE_LOG": "warning", **without_keys(os.environ)})


def _script(path: str, url: str, key: str) -> Child:
    return Child(path, [sys.executable, path], {**without_keys(os.environ), "HORAE_URL": url, "HORAE_KEY": key})


async def _console(server: "Server", keys: LocalKeys) -> str:
    """An address that signs in to the console, once."""
    from horae.server.console import built
    from horae.server.session import SIGN_IN_PATH

    if not built():
        return "not built; with Node.js: make console"
    engine = server.engine
    ticket = await engine.signins.ticket(await engine.access.caller(keys.admin))
    return f"{server.url}{SIGN_IN_PATH}{ticket.secret}  (good once; another: horae console)"


def _welcome(url: str, data: Path, settings: UpSettings, console: str, *, with_worker: bool) -> str:
    """In one piece, once everything answers."""
    database = "yours" if settings.database else "embedded PostgreSQL"
    app = settings.app or "no functions; give it some with --app module:app"
    worker = f"runs {app}" if with_worker else "none; start one with: horae worker --app module:app"
    try_next = "horae tasks · horae jobs --watch · horae doctor" if with_worker else "horae doctor"
    return "\n".join([
        f"Horae is up: {url}",
        f"  console    {console}",
        f"  API docs   {url}/docs",
        f"  data       {data}",
        f"  database   {database}",
        f"  worker     {worker}",
        f"  key        commands on this machine find it; to see it: cat {data / FILE}",
        f"  try        {try_next}",
        "  stop       Ctrl-C",
    ])  # fmt: skip
