"""Jobs of every kind, while agents and the processes of jobs are killed at random: nothing lost, nothing left behind.

A few hundred jobs in the suite; HORAE_MIXED_FULL=1 runs ten thousand. HORAE_MIXED_SEED=N draws what a run drew that
printed this seed.
"""

import asyncio
import contextlib
import os
import random
import subprocess
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import pytest

from horae.bench.program import Program
from horae.bench.scenarios.kinds import answering_service, busybox_root
from horae.model.job import JobRequest
from horae.model.kinds import Container, HttpCall, Script
from horae.model.retry import MAX_CRASHES, RetryPolicy
from horae.model.states import COUNTS_AS_CRASH, End
from horae.model.task import TaskDefinition
from horae.testing.stack import Stack, running_stack
from horae.testing.waiting import wait_for
from horae.worker import tree
from horae.worker.errands.quarters import MARK
from horae.worker.sandbox.groups import all_groups

from .conftest import SHORT_LEASE
from .effects import Effects
from .processes import kill

JOBS = 10_000 if os.environ.get("HORAE_MIXED_FULL") else 240
PATIENCE = 3600 if JOBS > 1000 else 300
MIX = {"quick": 0.6, "script": 0.3, "http": 0.08, "container": 0.02}
AGENTS = ("one", "two")
AGENTS_SHARE = 0.3
KILLS = JOBS // 20
BATCH = 500
ATTEMPTS = 100
SOON = RetryPolicy(first=0.1, factor=1, cap=1)
APP = f"{Path(__file__).parent / 'jobs.py'}:app"

pytestmark = pytest.mark.timeout(PATIENCE + 300)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = busybox_root(tmp_path / "root")
    if folder is None and not os.environ.get("CI"):
        pytest.skip("not installed: podman, busybox-static")
    assert folder is not None
    return folder


@pytest.fixture
async def service() -> AsyncIterator[str]:
    async with answering_service() as port:
        yield f"http://127.0.0.1:{port}/"


@pytest.fixture
async def stack(database: str, tmp_path: Path, effects: Effects, root: Path) -> AsyncIterator[Stack]:
    settings = {"HORAE_ALLOW_NETWORKS": "127.0.0.1/32", "HORAE_CONTAINER_ROOTS": str(root.parent)}
    async with running_stack(database, tmp_path, **effects.environ(), **settings) as stack:
        await stack.server(**SHORT_LEASE)
        yield stack


def tasks(service: str, root: Path) -> Iterator[TaskDefinition]:
    parts = {
        "script": {"script": Script(source="sleep 0.05; echo '\"done\"' > $HORAE_RESULT", interpreter="sh")},
        "http": {"http": HttpCall(url=service)},
        "container": {"container": Container(image=f"rootfs:{root}", command=["/bin/true"])},
    }
    for name, part in parts.items():
        yield TaskDefinition(name=name, max_attempts=ATTEMPTS, retry=SOON, **part)


async def test_nothing_is_lost_and_nothing_is_left(stack: Stack, service: str, root: Path):
    seed = int(os.environ.get("HORAE_MIXED_SEED") or random.randrange(2**32))
    print(f"seed {seed}")
    chance = random.Random(seed)
    with stack.client() as client:
        for task in tasks(service, root):
            client.put_task(task)
        agents = [await start(stack, name) for name in AGENTS]
        for name in AGENTS:
            await stack.until_joined(name)
        kinds = chance.choices(list(MIX), list(MIX.values()), k=JOBS)
        for first in range(0, JOBS, BATCH):
            client.submit_many([request(first + n, kind) for n, kind in enumerate(kinds[first : first + BATCH])])
    tokens = await fire(stack, agents, chance)
    await wait_for(lambda: ended(stack, JOBS), PATIENCE, interval=0.5, what="the last of the jobs")
    assert await unexplained(stack) == []
    await stack.stop_workers()
    # Whoever starts next on this state cleans up after the last of the dead.
    last = await start(stack, "last")
    await stack.until_joined("last")
    await last.stop()
    assert remains(stack, tokens) == []


def request(number: int, kind: str) -> JobRequest:
    params = {"number": number} if kind == "quick" else {}
    return JobRequest(task=kind, params=params, max_attempts=ATTEMPTS, retry=SOON)


async def start(stack: Stack, name: str) -> Program:
    return await stack.worker(name, APP, kinds="script,container,http")


async def fire(stack: Stack, agents: list[Program], chance: random.Random) -> set[str]:
    """Kills until it was enough or nothing is left to disturb; the tokens of all agents that lived."""
    tokens: set[str] = set()
    for _ in range(KILLS):
        await asyncio.sleep(chance.uniform(0.05, 0.6))  # Any moment is the point.
        tokens |= lives(stack)
        if chance.random() < AGENTS_SHARE:
            which = chance.randrange(len(agents))
            await agents[which].kill()
            agents[which] = await start(stack, AGENTS[which])
        elif running := [pid for token in tokens for pid in tree.marked(f"{MARK}={token}/")]:
            with contextlib.suppress(ProcessLookupError):
                kill(chance.choice(running))
        if await ended(stack, JOBS):
            break
    return tokens


async def outcomes(stack: Stack) -> dict[str, int]:
    connection = await asyncpg.connect(stack.dsn)
    try:
        rows = await connection.fetch("select state::text, count(*)::int from horae.outcome group by state")
    finally:
        await connection.close()
    return dict(rows)


async def unexplained(stack: Stack) -> list[str]:
    """Jobs that did not succeed, unless the killer hit them so often that they had to be taken for poison."""
    connection = await asyncpg.connect(stack.dsn)
    try:
        failed = await connection.fetch("select id::text, ending::text from horae.outcome where state <> 'succeeded'")
        before = await connection.fetch("select id::text, ending::text from horae.attempt")
    finally:
        await connection.close()
    crashes = Counter(job for job, ending in [*failed, *before] if End(ending) in COUNTS_AS_CRASH)
    return [f"{job} {ending}" for job, ending in failed if crashes[job] < MAX_CRASHES]


async def ended(stack: Stack, jobs: int) -> bool:
    return sum((await outcomes(stack)).values()) >= jobs


def lives(stack: Stack) -> set[str]:
    return {life.name for life in (stack.folder / "state" / "agents").iterdir()}


def remains(stack: Stack, tokens: set[str]) -> list[str]:
    """Whatever of those agents is still there."""
    listed = ["podman", "ps", "--all", "--format", "{{.Labels}}"]
    containers = subprocess.run(listed, capture_output=True, text=True, check=True).stdout
    mounts = Path("/proc/self/mountinfo").read_text()
    groups = " ".join(str(group) for group in all_groups())
    places = (("a container", containers), ("a mount", mounts), ("a control group", groups))
    left = [f"folder {life}" for life in lives(stack)]
    for token in tokens:
        left += [f"process {pid} of {token}" for pid in tree.marked(f"{MARK}={token}/")]
        left += [f"{what} of {token}" for what, text in places if token in text]
    return left
