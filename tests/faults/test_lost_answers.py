"""The request arrives and is carried out, but its answer does not come back."""

import asyncio
import time
from collections.abc import AsyncIterator
from urllib.parse import parse_qs, urlsplit

import pytest

from horae.client.handles import Job
from horae.model.errors import Unreachable
from horae.model.job import JobRequest
from horae.model.states import End, State
from horae.testing.proxy import Proxy, proxy_to, to_socket, to_url
from horae.testing.stack import Stack

from .effects import JOBS
from .load import connected, outcomes

SECONDS = 60
"""What *within seconds* means on a machine that is busy with others."""
GRANTS = b'"jobs":[{'


@pytest.fixture
async def to_server(stack: Stack) -> AsyncIterator[Proxy]:
    await stack.server()
    with proxy_to(to_url(stack.url)) as proxy:
        yield proxy


@pytest.fixture
async def to_database(stack: Stack) -> AsyncIterator[Proxy]:
    """Between PostgreSQL and a server that was started on it."""
    address = urlsplit(stack.dsn)
    where = parse_qs(address.query)
    with proxy_to(to_socket(f"{where['host'][0]}/.s.PGSQL.{where['port'][0]}")) as proxy:
        dsn = f"postgresql://horae@127.0.0.1:{proxy.port}{address.path}"
        await stack.server(HORAE_DATABASE=dsn)
        yield proxy
        # Before the proxy goes: a server without its database is slow to stop.
        await stack.stop()


async def job_count(stack: Stack) -> int:
    async with connected(stack) as connection:
        return await connection.fetchval("select count(*) from job")


async def test_jobs_granted_in_a_lost_answer_come_back_at_once_and_are_not_charged(stack, effects, to_server):
    await stack.worker("one", JOBS, url=to_server.url)
    await stack.until_joined("one")
    fault = to_server.lose_answer(b"/exchange", GRANTS)
    with stack.client() as client:
        job = client.submit(JobRequest(task="quick_with_one_attempt", params={"number": 7})).id
        assert fault.struck.wait(SECONDS)
        lost_at = time.monotonic()
        assert Job(client, job).result(SECONDS) == 7
        print(f"it came back and ran within {time.monotonic() - lost_at:.2f} s")
        assert [execution.end for execution in client.executions(job).items] == [End.UNDELIVERED, End.SUCCEEDED]
    assert len(effects.runs()) == 1


async def test_a_completion_whose_answer_is_lost_is_told_again_and_counts_once(stack, effects, to_server):
    await stack.worker("one", JOBS, url=to_server.url)
    await stack.until_joined("one")
    fault = to_server.lose_answer(b'"finished":[{')
    with stack.client() as client:
        job = client.submit(JobRequest(task="quick", params={"number": 7})).id
        assert Job(client, job).result(SECONDS) == 7
        # The completion may have come with a long poll, which is answered when there is work again.
        after = client.submit(JobRequest(task="quick", params={"number": 8})).id
        assert Job(client, after).result(SECONDS) == 8
        assert fault.struck.is_set()
        assert len(client.executions(job).items) == 1
    assert await outcomes(stack) == {"succeeded": 2}
    assert len(effects.runs()) == 2


async def test_a_submit_under_a_key_whose_answer_is_lost_makes_one_job(stack, to_server):
    await stack.worker("one", JOBS)
    await stack.until_joined("one")
    fault = to_server.lose_answer(b"POST /v1/jobs ", b"201")
    with stack.client(url=to_server.url) as client:
        request = JobRequest(task="quick", params={"number": 7})
        answer = client.submit(request, "the-key")
        assert fault.struck.is_set()
        assert answer.existing
        assert Job(client, answer.id).result(SECONDS) == 7
    assert await outcomes(stack) == {"succeeded": 1}


async def test_a_submit_without_a_key_whose_answer_is_lost_is_in_doubt_and_not_sent_again(stack, to_server):
    await stack.worker("one", JOBS)
    await stack.until_joined("one")
    to_server.lose_answer(b"POST /v1/jobs ", b"201")
    with stack.client(url=to_server.url) as client, pytest.raises(Unreachable, match="may or may not exist"):
        client.submit(JobRequest(task="quick", params={"number": 7}))
    assert await job_count(stack) == 1


async def test_broken_connections_and_latency_cost_only_time(stack, effects, to_server):
    await stack.worker("one", JOBS, url=to_server.url)
    await stack.until_joined("one")
    to_server.latency = 0.05
    with stack.client() as client:
        for _ in range(5):
            client.submit_many([JobRequest(task="quick", params={"number": 1})] * 20)
            await asyncio.sleep(0.1)
            to_server.reset_all()
    assert await outcomes(stack) == {"succeeded": 100}
    assert len(effects.by_job()) == 100
    assert effects.overlaps() == []


@pytest.mark.parametrize("key", [None, "the-key"])
async def test_a_commit_whose_answer_is_lost_makes_one_job(stack, to_database, key):
    await stack.worker("one", JOBS)
    await stack.until_joined("one")
    fault = to_database.lose_answer(b"a-word-of-its-own")
    with stack.client() as client:
        request = JobRequest(task="quick", params={"number": 7, "text": "a-word-of-its-own"})
        job = client.submit(request, key).id
        assert fault.struck.is_set()
        assert Job(client, job).result(SECONDS) == 7
    assert await job_count(stack) == 1


async def test_a_bulk_commit_whose_answer_is_lost_makes_each_job_once(stack, to_database):
    await stack.worker("one", JOBS)
    await stack.until_joined("one")
    fault = to_database.lose_answer(b"COMMIT")
    with stack.client() as client:
        jobs = [JobRequest(task="quick", params={"number": n}) for n in range(300)]
        answer = client.submit_many(jobs)
        assert fault.struck.is_set()
        assert (answer.accepted, answer.refused) == (300, 0)
    assert await job_count(stack) == 300
    assert await outcomes(stack) == {"succeeded": 300}


async def test_a_claim_whose_answer_is_lost_gives_the_jobs_out_again(stack, effects, to_database):
    """The server never learns what it leased; the worker's call fails, and the worker names it as lost."""
    await stack.worker("one", JOBS)
    await stack.until_joined("one")
    with stack.client() as client:
        fault = to_database.lose_answer(b"", b"a-word-of-its-own")
        request = JobRequest(task="quick_with_one_attempt", params={"number": 7}, labels={"say": "a-word-of-its-own"})
        job = client.submit(request).id
        assert Job(client, job).result(SECONDS) == 7
        assert fault.struck.is_set()
    assert len(effects.runs()) == 1


async def test_a_success_whose_commit_answer_is_lost_counts_once(stack, effects, to_database):
    await stack.worker("one", JOBS)
    await stack.until_joined("one")
    with stack.client() as client:
        fault = to_database.lose_answer(b"4711")
        job = client.submit(JobRequest(task="in_days", params={"hours": 4711 * 24})).id
        assert fault.struck.wait(SECONDS)
        assert Job(client, job).result(SECONDS) == "4711 days"
        assert client.job(job).state is State.SUCCEEDED
    assert len(effects.runs()) == 1
