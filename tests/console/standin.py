"""Workers that only say that they are there: for pages that show a fleet of many kinds."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import msgspec

from horae.client.calls import JSON, Call
from horae.client.client import Client
from horae.client.discovery import Connection
from horae.model.roles import Role
from horae.model.task import TaskDefinition
from horae.wire.workers import Heartbeat, HeartbeatAnswer, Join, Joined

from .house import House

BEAT_SECONDS: Final = 3.0


@contextmanager
def stand_in(
    house: House, name: str, *, tasks: tuple[str, ...] = (), running: int = 0, tenant: str | None = None, **said: Any
) -> Iterator[int]:
    """A worker that joins, sends heartbeats, takes no job and leaves at the end. Gives its id."""
    joining = Join(name=name, slots=4, tasks=[TaskDefinition(name=task) for task in tasks], **{"host": "h", **said})
    over = threading.Event()
    with Client(connection=Connection(house.url, house.key(Role.WORKER, tenant))) as client:
        worker_id = _post(client, "/v1/workers", joining, Joined).worker_id

        def beat() -> None:
            path, load = f"/v1/workers/{worker_id}/heartbeat", Heartbeat(running=running, cpu=0.4)
            while True:
                _post(client, path, load, HeartbeatAnswer)
                if over.wait(BEAT_SECONDS):
                    return

        beating = threading.Thread(target=beat, daemon=True)
        beating.start()
        try:
            yield worker_id
        finally:
            over.set()
            beating.join()
            client.send(Call("POST", f"/v1/workers/{worker_id}/leave", lambda _: None))


def _post(client: Client, path: str, body: msgspec.Struct, answer: type[Any]) -> Any:
    read = msgspec.json.Decoder(answer).decode
    return client.send(Call("POST", path, read, body=msgspec.json.encode(body), headers=JSON))
