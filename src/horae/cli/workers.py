"""`horae workers`, `drain`, `maintenance` and `resume`: the fleet."""

from datetime import UTC, datetime
from typing import Annotated, Final

from cyclopts import Parameter
from rich.text import Text

from horae.cli.access import HERE, Access
from horae.cli.screen import console, facts, note, print_json, print_lines, table
from horae.cli.text import relative, share
from horae.wire.workers import Worker, WorkerEvent

HEALTH_STYLES: Final = {"healthy": "green", "overloaded": "yellow", "degraded": "yellow", "gone": "red"}


def workers(worker_id: int | None = None, /, *, state: str | None = None, access: Access = HERE) -> None:
    """List the workers that are active or draining, or show what happened to one.

    Parameters
    ----------
    worker_id
        Only this one, with its history: joined, late, drained, on probation, lost.
    state
        Only those: active, draining, left or lost.
    """
    if worker_id is not None:
        _show(worker_id, access)
        return
    with access.client() as client:
        found = client.all_workers(state)
    if access.json:
        print_lines(found)
        return
    now = datetime.now(UTC)
    columns = (
        "id", "name", "host", "state", "health", "running", "cpu", "memory", "seen", "joined", "place", "labels",
        "queues", "tasks", "steered",
    )  # fmt: skip
    spare = ("tasks", "queues", "labels", "place", "memory", "cpu", "joined", "host", "steered")
    console().print(table(columns, (_row(worker, now) for worker in found), spare))
    if not found and state is None:
        note("no worker is there; start one with: horae worker --app module:app")


def _show(worker_id: int, access: Access) -> None:
    with access.client() as client:
        worker, history = client.worker(worker_id), client.worker_history(worker_id)
    if access.json:
        print_lines(history.items)
        return
    now = datetime.now(UTC)
    console().print(
        facts(
            [
                ("id", str(worker.id)), ("name", worker.name), ("host", worker.host), ("state", worker.state),
                ("health", "on probation" if worker.probation else worker.health),
                ("running", f"{worker.running}/{worker.slots}"), ("seen", relative(worker.seen_at, now)),
                ("steered", _steered(worker, now)),
            ]
        )
    )  # fmt: skip
    rows = ((relative(event.at, now), str(event.worker_id), event.event, _told(event)) for event in history.items)
    console().print(table(("when", "worker", "what", "more"), rows))


def _told(event: WorkerEvent) -> str:
    if event.event == "late":
        return f"{event.times} times in ten minutes, the longest silence {event.seconds or 0:.0f} s"
    said = [event.who, event.reason, f"for {event.seconds:.0f} s" if event.seconds else None]
    return ", ".join(filter(None, said))


def _row(worker: Worker, now: datetime) -> tuple[str | Text, ...]:
    return (
        str(worker.id), worker.name, worker.host, worker.state,
        Text(worker.health, style=HEALTH_STYLES.get(worker.health, "")), f"{worker.running}/{worker.slots}",
        share(worker.cpu_load), share(worker.memory_load), relative(worker.seen_at, now),
        relative(worker.joined_at, now), "/".join(filter(None, (worker.region, worker.zone, worker.kind))),
        ",".join(f"{name}={value}" for name, value in worker.labels.items()),
        "all" if worker.queues is None else ",".join(worker.queues), ",".join(worker.tasks), _steered(worker, now),
    )  # fmt: skip


def _steered(worker: Worker, now: datetime) -> str:
    """Who drains it, why and until when."""
    if worker.steered_by is None:
        return ""
    until = "" if worker.steer_until is None else f", ends {relative(worker.steer_until, now)}"
    return f"{worker.steered_by}: {worker.steer_reason or 'drained'}{until}"


def drain(worker_id: int, /, *, move: bool = False, reason: str = "", access: Access = HERE) -> None:
    """Let a worker finish what it has and take nothing new.

    Parameters
    ----------
    worker_id
        The worker's id, as `horae workers` shows it.
    move
        Do not wait for what it runs: let it go on at other workers, where they could run it.
    reason
        Why, for those who look at the fleet.
    """
    with access.client() as client:
        _print_state(client.drain(worker_id, reason, move=move), as_json=access.json)


def maintenance(
    worker_id: int, /, *, reason: str, lasts: Annotated[str | None, Parameter(name="--for")] = None, move: bool = False,
    access: Access = HERE,
) -> None:  # fmt: skip
    """Drain a worker and say why; with --for it takes jobs again by itself when the time is over.

    Parameters
    ----------
    worker_id
        The worker's id, as `horae workers` shows it.
    reason
        Why, for those who look at the fleet.
    lasts
        How long, e.g. 2h. Without it: until `horae resume`.
    move
        Do not wait for what it runs: let it go on at other workers, where they could run it.
    """
    with access.client() as client:
        _print_state(client.drain(worker_id, reason, lasts, move=move), as_json=access.json)


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
        return
    print(worker.id, worker.state)
    if worker.moving is not None:
        note(f"{worker.moving} running jobs go on elsewhere, {worker.staying} stay until they end")
