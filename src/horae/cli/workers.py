"""`horae workers`, `drain` and `resume`: the fleet."""

from datetime import UTC, datetime
from typing import Final

from rich.text import Text

from horae.cli.access import HERE, Access
from horae.cli.screen import console, note, print_json, print_lines, table
from horae.cli.text import relative, share
from horae.wire.workers import Worker

HEALTH_STYLES: Final = {"healthy": "green", "overloaded": "yellow", "degraded": "yellow", "gone": "red"}


def workers(*, state: str | None = None, access: Access = HERE) -> None:
    """List the workers that are active or draining.

    Parameters
    ----------
    state
        Only those: active, draining, left or lost.
    """
    with access.client() as client:
        found = client.workers(state).items
    if access.json:
        print_lines(found)
        return
    now = datetime.now(UTC)
    columns = ("id", "name", "host", "state", "health", "running", "cpu", "memory", "seen", "joined", "queues", "tasks")
    spare = ("tasks", "queues", "memory", "cpu", "joined", "host")
    console().print(table(columns, (_row(worker, now) for worker in found), spare))
    if not found and state is None:
        note("no worker is there; start one with: horae worker --app module:app")


def _row(worker: Worker, now: datetime) -> tuple[str | Text, ...]:
    return (
        str(worker.id), worker.name, worker.host, worker.state,
        Text(worker.health, style=HEALTH_STYLES.get(worker.health, "")), f"{worker.running}/{worker.slots}",
        share(worker.cpu_load), share(worker.memory_load), relative(worker.seen_at, now),
        relative(worker.joined_at, now), "all" if worker.queues is None else ",".join(worker.queues),
        ",".join(worker.tasks),
    )  # fmt: skip


def drain(worker_id: int, /, *, access: Access = HERE) -> None:
    """Let a worker finish what it has and take nothing new.

    Parameters
    ----------
    worker_id
        The worker's id, as `horae workers` shows it.
    """
    with access.client() as client:
        _print_state(client.drain(worker_id), as_json=access.json)


def resume(worker_id: int, /, *, access: Access = HERE) -> None:
    """Let a drained worker take jobs again.

    Parameters
    ----------
    worker_id
        The worker's id.
    """
    with access.client() as client:
        _print_state(client.resume(worker_id), as_json=access.json)


def _print_state(worker: Worker, *, as_json: bool) -> None:
    if as_json:
        print_json(worker)
    else:
        print(worker.id, worker.state)
