"""`horae worker`: an agent that runs the tasks of an app. Any number of them, anywhere that reaches a server."""

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from horae.cli.access import GROUP
from horae.cli.journal import open_journal
from horae.cli.running import on_signal, run
from horae.client.discovery import Connection, find_connection, local_file, read_local
from horae.config import WorkerSettings, load, read_secret
from horae.model.durations import parse_duration
from horae.model.errors import SetupError, Unauthenticated
from horae.model.sizes import parse_size


def worker_file() -> Path:
    """Where a local `horae up` leaves the key for workers, beside the one that commands it."""
    return local_file().with_name("local-worker.json")


def worker(
    *,
    app: str | None = None,
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
    url: Annotated[str | None, Parameter(group=GROUP)] = None,
    key: Annotated[str | None, Parameter(group=GROUP)] = None,
    key_file: Annotated[str | None, Parameter(group=GROUP)] = None,
    profile: Annotated[str | None, Parameter(group=GROUP)] = None,
    stop_with_stdin: Annotated[bool, Parameter(show=False)] = False,
) -> int:
    """Run the tasks of an app until told to stop: Ctrl-C or SIGTERM finishes what runs, a second one hurries.

    Parameters
    ----------
    app
        The app: package.module:app or path/to/file.py:app.
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
    settings = load(WorkerSettings, flags, os.environ)
    if settings.app is None:
        raise SetupError("which tasks shall it run? Give --app package.module:app, or HORAE_APP")
    open_journal(os.environ.get("HORAE_LOG"), "worker")
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

    given = {name: value for name, value in _agent_values(settings).items() if value is not None}
    connection = config.Connection(found.url, found.key or "")
    worker = agent.Agent(config.AgentConfig(**given), connection, settings.app or "")
    if stop_with_stdin:
        _at_end_of_stdin(worker.stop)
    # Its second call hurries, as the second signal shall.
    with on_signal(worker.stop):
        await worker.run()
    return 0


def _agent_values(settings: WorkerSettings) -> dict[str, Any]:
    names = ("name", "slots", "queues", "labels", "region", "zone", "kind", "cpus", "gpus", "max_jobs_per_child")
    values = {name: getattr(settings, name) for name in names}
    for name in ("memory", "disk"):
        size = getattr(settings, name)
        values[name] = None if size is None else parse_size(size, name)
    if settings.drain_timeout is not None:
        values["drain_timeout"] = parse_duration(settings.drain_timeout, "drain_timeout").total_seconds()
    return values


def _at_end_of_stdin(act: Callable[[], None]) -> None:
    """Whoever started us holds the other end; when that process is gone, so are we."""
    loop, stdin = asyncio.get_running_loop(), sys.stdin.fileno()

    def look() -> None:
        if not os.read(stdin, 4096):
            loop.remove_reader(stdin)
            act()

    loop.add_reader(stdin, look)
