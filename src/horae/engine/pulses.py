"""Pulses: what happens, told to whoever listens, at most once a second.

Once a second each server sums up what it counted, tells its own listeners, and tells the other servers by notice. A
listener has one pulse that waits for it: what comes before it took that is added to it, so a slow one costs no more
memory than a quick one, and hears less often.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from operator import add
from typing import Final

import msgspec

from horae.engine.flows import Flow

SECONDS_BETWEEN: Final = 1.0
MAX_JOBS: Final = 100

Beat = tuple[int, int, int, int, int, int, int]
"""Submitted, started, succeeded, failed, cancelled, other, retried."""


class Beats(msgspec.Struct, omit_defaults=True):
    """What happened to one tenant's jobs, as servers tell each other."""

    counts: Beat = (0, 0, 0, 0, 0, 0, 0)
    jobs: list[str] = []


class Pulse:
    """What a listener has not heard yet."""

    def __init__(self) -> None:
        self.counts: Beat = (0, 0, 0, 0, 0, 0, 0)
        self.jobs: dict[str, None] = {}
        self.policy = False
        self.since = time.monotonic()

    def add(self, beats: Beats) -> None:
        self.counts = _sum(self.counts, beats.counts)
        self.jobs.update(dict.fromkeys(islice(beats.jobs, max(0, MAX_JOBS - len(self.jobs)))))

    @property
    def age(self) -> float:
        return time.monotonic() - self.since

    @property
    def more(self) -> bool:
        """Whether something happened to jobs that are not named."""
        return sum(self.counts) > len(self.jobs)


class Listener:
    def __init__(self, tenant_id: int | None) -> None:
        self.tenant_id = tenant_id
        self._pulse = Pulse()
        self._news = asyncio.Event()
        self._over = False

    def hear(self, beats: Beats) -> None:
        self._pulse.add(beats)
        self._news.set()

    def hear_policy(self) -> None:
        self._pulse.policy = True
        self._news.set()

    def close(self) -> None:
        self._over = True
        self._news.set()

    async def pulses(self, quiet_seconds: float) -> AsyncIterator[Pulse | None]:
        """One after another, until the server stops. None after a time without any."""
        while not self._over:
            try:
                async with asyncio.timeout(quiet_seconds):
                    await self._news.wait()
            except TimeoutError:
                yield None
            else:
                yield self._take()
                await asyncio.sleep(SECONDS_BETWEEN)

    def _take(self) -> Pulse:
        self._news.clear()
        taken, self._pulse = self._pulse, Pulse()
        return taken


class Pulses:
    def __init__(self) -> None:
        self._listeners: set[Listener] = set()
        self._closed = False
        self.nudge: Callable[[], None] = _nobody
        """Called when there is something to tell the other servers."""
        self._untold: dict[int, Beats] = {}

    def happened(self, flows: Mapping[int, Flow], jobs: Iterable[tuple[int, str]]) -> None:
        """On this server, since the last time. `jobs` are some of those concerned, with their tenants."""
        named: dict[int, list[str]] = {}
        for tenant_id, job_id in jobs:
            named.setdefault(tenant_id, []).append(job_id)
        for tenant_id, flow in flows.items():
            if flow.events:
                beats = Beats(_beat(flow), named.get(tenant_id, []))
                self.hear(tenant_id, beats)
                waiting = self._untold.get(tenant_id)
                self._untold[tenant_id] = beats if waiting is None else _together(waiting, beats)
        if self._untold:
            self.nudge()

    def hear(self, tenant_id: int, beats: Beats) -> None:
        """Here or on another server."""
        for listener in self._listeners:
            if listener.tenant_id is None or listener.tenant_id == tenant_id:
                listener.hear(beats)

    def policy_changed(self) -> None:
        for listener in self._listeners:
            listener.hear_policy()

    @contextmanager
    def listening(self, tenant_id: int | None) -> Iterator[Listener]:
        listener = Listener(tenant_id)
        self._listeners.add(listener)
        if self._closed:
            listener.close()
        try:
            yield listener
        finally:
            self._listeners.discard(listener)

    def close(self) -> None:
        """The server stops: whoever listens shall ask another."""
        self._closed = True
        for listener in self._listeners:
            listener.close()

    def take_untold(self, tenants: int, jobs: int) -> dict[int, Beats]:
        """What the other servers have not been told: of so many tenants, naming so many jobs at most."""
        taken: dict[int, Beats] = {}
        for tenant_id in list(islice(self._untold, tenants)):
            beats = self._untold.pop(tenant_id)
            taken[tenant_id] = Beats(beats.counts, beats.jobs[:jobs])
            jobs -= len(taken[tenant_id].jobs)
        if self._untold:
            self.nudge()
        return taken


def _nobody() -> None:
    """Before the engine has connected its parts."""


def _together(earlier: Beats, later: Beats) -> Beats:
    jobs = list(islice(dict.fromkeys((*earlier.jobs, *later.jobs)), MAX_JOBS)) if later.jobs else earlier.jobs
    return Beats(_sum(earlier.counts, later.counts), jobs)


def _sum(one: Beat, other: Beat) -> Beat:
    return tuple(map(add, one, other))


def _beat(flow: Flow) -> Beat:
    return (
        flow.submitted, flow.started, flow.succeeded, flow.failed, flow.cancelled, flow.other, flow.retried,
    )  # fmt: skip
