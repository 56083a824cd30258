import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from horae.worker.agent import Agent, AgentConfig, Connection

from .errand_runner import ShellRunner
from .stand_in import DEADLINE, StandIn

APP = str(Path(__file__).parent / "sample_app.py") + ":app"


@pytest.fixture(autouse=True)
def patient_heart(monkeypatch: pytest.MonkeyPatch) -> None:
    """A heartbeat that a busy machine answers late is no broken connection.

    The stand-in is beaten so often that the share of the pause after which one is given up would be 0.16 s; and whoever
    gives one up breaks the exchanges under way. Heartbeats that are not answered at all are told apart by an error.
    """
    monkeypatch.setattr("horae.worker.heart._TIMEOUT_SHARE", 50)


@pytest.fixture
async def server() -> AsyncIterator[StandIn]:
    server = StandIn()
    await server.start()
    yield server
    await server.stop()


class Running:
    def __init__(self, agent: Agent, task: "asyncio.Task[None]") -> None:
        self.agent = agent
        self.task = task


@pytest.fixture
async def start(server: StandIn) -> AsyncIterator[Callable[..., Any]]:
    started: list[Running] = []

    async def start(spec: str | None = APP, make_runner: Any = None, **settings: Any) -> Running:
        config = AgentConfig(**{"name": "here", "slots": 1, "grace": 1.0, **settings})
        agent = Agent(config, Connection(server.url, "key"), spec, make_runner)
        task = asyncio.create_task(agent.run())
        started.append(Running(agent, task))
        return started[-1]

    yield start
    for running in started:
        running.agent.stop()
        running.agent.stop()
        with contextlib.suppress(Exception):
            await asyncio.wait_for(running.task, DEADLINE)


@pytest.fixture
def hire(start: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """Starts a worker, without an app unless told otherwise, that runs scripts by the shell."""

    async def hire(spec: str | None = None, **settings: Any) -> Running:
        usual = {"make_runner": ShellRunner, "state": str(tmp_path / "state"), "kinds": ["script"]}
        return await start(spec, **{**usual, **settings})

    return hire


async def eventually(condition: Callable[[], Any], deadline: float = DEADLINE) -> Any:
    until = time.monotonic() + deadline
    while not (found := condition()):
        assert time.monotonic() < until, "it did not happen in time"
        await asyncio.sleep(0.02)
    return found


def read(path: Path) -> str:
    return path.read_text() if path.exists() else ""
