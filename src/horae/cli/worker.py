"""`horae worker`: an agent that runs the tasks of an app, and tasks that are data. Any number of them, anywhere that
reaches a server.
"""

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Parameter

from horae import failpoints, heap
from horae.cli.access import GROUP
from horae.cli.journal import open_journal
from horae.cli.running import on_signal, run
from horae.client.discovery import Connection, find_connection, local_file, read_local
from horae.config import WorkerSettings, load, read_secret
from horae.model.durations import parse_duration
from horae.model.errors import SetupError, Unauthenticated
from horae.model.kinds import Kind
from horae.model.sizes import parse_size

EVERY: Final = "all"
_AS_THEY_ARE: Final = (
    "name", "slots", "queues", "labels", "region", "zone", "kind", "cpus", "gpus", "max_jobs_per_child",
    "unsandboxed", "allow_networks", "state",
)  # fmt: skip


def worker_file() -> Path:
    """Where a local `horae up` leaves the key for workers, beside the one that commands it."""
    return local_file().with_name("local-worker.json")


def worker(
    *,
    app: str | None = None,
    kinds: str | None = None,
    slots: int | None = None,
    queues: str | None = None,
    labels: str | None = None,
    name: str | None = None,
    region: str | None = None,
    zone: str | None = None,
    kind: str | None = None,
    cpus: float | None = None,
    memory: str | None = None,
    gpus: float | None = None,
    disk: str | None = None,
    max_jobs_per_child: int | None = None,
    drain_timeout: str | None = None,
    unsandboxed: str | None = None,
    allow_networks: str | None = None,
    container_engine: str | None = None,
    container_roots: str | None = None,
    state: str | None = None,
    config: str | None = None,
    url: Annotated[str | None, Parameter(group=GROUP)] = None,
    key: Annotated[str | None, Parameter(group=GROUP)] = None,
    key_file: Annotated[str | None, Parameter(group=GROUP)] = None,
    profile: Annotated[str | None, Parameter(group=GROUP)] = None,
    stop_with_stdin: Annotated[bool, Parameter(show=False)] = False,
) -> int:
    """Run tasks until told to stop: Ctrl-C or SIGTERM finishes what runs, a second one hurries.

    With --app it runs the functions of that app; with --kinds scripts, containers and HTTP calls, whose definitions are
    stored with the tasks. Without either: each of these kinds that this host can run.

    Parameters
    ----------
    app
        The app: package.module:app or path/to/file.py:app.
    kinds
        What to run beside functions: script,container,http, or all that this host can run (without --app: all).
    slots
        How many jobs to run at once (one for each CPU).
    queues
        Only jobs of these queues: a,b (all).
    labels
        What this worker is: name=value,name=value.
    name
        Its name (that of the host).
    region
        Where it is.
    zone
        Where in the region it is.
    kind
        What kind of machine it is on.
    cpus
        How many CPUs jobs that require some may use together (those of the host).
    memory
        How much memory such jobs may use together, e.g. 8GiB (that of the host).
    gpus
        How many GPUs such jobs may use together (those of the host).
    disk
        How much disk such jobs may use together, e.g. 50GB (what is free for temporary files).
    max_jobs_per_child
        Replace a process after so many jobs.
    drain_timeout
        How long running jobs may take to finish when the worker stops (30s).
    unsandboxed
        Run these kinds without a sandbox, with all the rights of this user: script,container (none).
    allow_networks
        Networks that HTTP calls may reach beside the public internet: 10.0.0.0/8,127.0.0.1 (none).
    container_engine
        Run containers by this one: podman, docker or the path of one (the first that works).
    container_roots
        Folders with root file systems that container tasks may name instead of images (none).
    state
        The folder for what scripts and containers need while they run (~/.local/state/horae/worker, for root
        /var/lib/horae-worker).
    config
        A file of settings instead of config.toml, with a section [worker], or HORAE_WORKER_CONFIG.
    url
        Address of the server. Default: HORAE_URL, a profile, or the local `horae up`.
    key
        API key with the role worker. Better in HORAE_KEY, where `ps` does not show it.
    key_file
        A file that holds the key.
    profile
        A profile of config.toml.
    """
    flags = {field: value for field, value in locals().items() if field in WorkerSettings.__struct_fields__}
    file = config or os.environ.get("HORAE_WORKER_CONFIG")
    settings = load(WorkerSettings, flags, os.environ, file=Path(file).expanduser() if file else None)
    open_journal(os.environ.get("HORAE_LOG"), "worker")
    failpoints.arm(os.environ)
    secret = read_secret(key_file, "--key-file") if key_file else key
    connection = find_worker_connection(url, secret, profile)
    if connection.key is None:
        raise Unauthenticated(f"a worker needs a key for {connection.url}, with the role worker")
    return run(_work(settings, connection, stop_with_stdin=stop_with_stdin))


def find_worker_connection(url: str | None, key: str | None, profile: str | None) -> Connection:
    """As every client finds it; but a local `horae up` has a key of its own for workers."""
    found = find_connection(url, key, profile)
    local = read_local(local_file())
    if key is None and local is not None and found == Connection(local["url"], local["key"]):
        for_workers = read_local(worker_file())
        if for_workers is not None and for_workers["url"] == found.url:
            return Connection(found.url, for_workers["key"])
    return found


async def _work(settings: WorkerSettings, found: Connection, *, stop_with_stdin: bool) -> int:
    from horae.worker import agent, config

    heap.keep_large_blocks_apart()
    heap.settle_names()
    given = {name: value for name, value in agent_values(settings).items() if value is not None}
    connection = config.Connection(found.url, found.key or "")
    worker = agent.Agent(config.AgentConfig(**given), connection, settings.app)
    if stop_with_stdin:
        _at_end_of_stdin(worker.stop)
    # Its second call hurries, as the second signal shall.
    with on_signal(worker.stop):
        await worker.run()
    return 0


def agent_values(settings: WorkerSettings) -> dict[str, Any]:
    values = {name: getattr(settings, name) for name in _AS_THEY_ARE}
    values["kinds"] = _kinds(settings)
    values["containers"] = _containers(settings)
    for name in ("memory", "disk"):
        size = getattr(settings, name)
        values[name] = None if size is None else parse_size(size, name)
    if settings.files_limit is not None:
        values["files_limit"] = parse_size(settings.files_limit, "files_limit")
    if settings.drain_timeout is not None:
        values["drain_timeout"] = parse_duration(settings.drain_timeout, "drain_timeout").total_seconds()
    return values


def _kinds(settings: WorkerSettings) -> list[str]:
    """Functions come with their app and only with it, so among the kinds they are no more than a reminder."""
    named = [EVERY] if settings.kinds is None and settings.app is None else settings.kinds or []
    if Kind.FUNCTION in named and settings.app is None:
        raise SetupError("functions need an app: give --app package.module:app, or HORAE_APP")
    return [kind for kind in named if kind != Kind.FUNCTION]


def _containers(settings: WorkerSettings) -> dict[str, Any]:
    prefix = "container_"
    given = {name: getattr(settings, name) for name in settings.__struct_fields__ if name.startswith(prefix)}
    return {name.removeprefix(prefix): value for name, value in given.items() if value is not None}


def _at_end_of_stdin(act: Callable[[], None]) -> None:
    """Whoever started us holds the other end; when that process is gone, so are we."""
    loop, stdin = asyncio.get_running_loop(), sys.stdin.fileno()

    def look() -> None:
        if not os.read(stdin, 4096):
            loop.remove_reader(stdin)
            act()

    loop.add_reader(stdin, look)
