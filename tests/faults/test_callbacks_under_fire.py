"""Workers and servers are killed while jobs are called, parked and called back for."""

from functools import partial
from typing import Any

from horae.client.handles import Job
from horae.model.job import JobRequest
from horae.model.kinds import HttpCall
from horae.model.placement import Requirements
from horae.model.retry import RetryPolicy
from horae.model.task import TaskDefinition
from horae.testing.stack import Stack
from horae.testing.waiting import wait_for

from .conftest import SHORT_LEASE
from .service import Service

JOBS = 15
"""Are submitted before each kill."""
KILLED = ("a-worker", "b", "b-worker", "a")


async def http_worker(stack: Stack, name: str, server: str) -> Any:
    arguments = ["worker", "--kinds", "http", "--allow-networks", "127.0.0.1", "--labels", "reach=inner"]
    arguments += ["--name", name, "--url", stack.address(server), "--key-file", str(stack._key_file)]
    arguments += ["--state", str(stack.folder / f"state-{name}"), "--drain-timeout", "2s"]
    return await stack._start(name, arguments, {}, stack.workers)


async def test_killed_workers_and_servers_lose_no_callback(stack: Stack):
    """Of two servers and two workers each is killed in its turn; every job succeeds, with its own result."""
    servers = {name: await stack.server(name, **SHORT_LEASE) for name in ("a", "b")}
    workers = {f"{name}-worker": await http_worker(stack, f"{name}-worker", name) for name in servers}
    async with Service(7) as service:
        call = HttpCall(url=service.url, callback=True, callback_timeout="20s")
        definition = TaskDefinition(
            name="take-on", http=call, requires=Requirements(labels={"reach": "inner"}), max_attempts=50,
            retry=RetryPolicy(first=0.2, cap=1), timeout="5s",
        )  # fmt: skip
        for name in workers:
            await stack.until_joined(name)
        with stack.client() as client:
            client.tasks.put(definition)
        jobs: list[str] = []
        for name in KILLED:
            fresh = await submitted(stack)
            jobs += fresh
            await wait_for(lambda: service.latest.keys() & fresh, 30)  # noqa: B023 asked at once
            await (workers | servers)[name].kill()
            if name in servers:
                servers[name] = await stack.server(name, **SHORT_LEASE)
            else:
                workers[name] = await http_worker(stack, name, name[0])
        with stack.client() as client:
            results = {job: await wait_for(partial(result, client, job), 60, what=f"the end of {job}") for job in jobs}
    assert results == {job: (job,) for job in jobs}
    print(f"the service's reports were answered with {dict(service.answers)}")


async def submitted(stack: Stack) -> set[str]:
    with stack.client() as client:
        return {job.id for job in client.submit_many([JobRequest(task="take-on")] * JOBS).items}


def result(client: Any, job: str) -> tuple[object] | None:
    found = client.job(job)
    assert found.state not in {"failed", "cancelled"}, found
    return (Job(client, job).result(1),) if found.state == "succeeded" else None
