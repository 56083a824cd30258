"""What attempts at tasks that are data used is kept with their end, and goes when the job goes."""

from uuid import UUID

import msgspec
import pytest

from horae.engine.engine import Engine
from horae.model.retry import RetryPolicy
from horae.model.states import End
from horae.model.work import Finished, Usage

from .staging import ROOT, done, join, submit, take_one

USAGE = Usage(isolation="bubblewrap+seccomp", cpu=1.5, peak_memory=4096, read_bytes=10, written_bytes=20, version=3)


async def executions(engine: Engine, job_id: str) -> list[tuple[object, ...]]:
    rows = await engine.steer.executions(await engine.steer.get(ROOT, UUID(job_id)))
    return [(r["attempt"], r["isolation"], r["task_version"], r["read_bytes"], r["written_bytes"]) for r in rows]


@pytest.mark.parametrize("end", [End.SUCCEEDED, End.FATAL])
async def test_it_is_kept_with_the_end_of_the_job(resting: Engine, end: End):
    worker = await join(resting)
    job = await submit(resting)
    grant = await take_one(resting, worker)
    await resting.complete.attempts(worker.worker_id, [done(grant, end, usage=USAGE)])
    assert await executions(resting, job) == [(1, "bubblewrap+seccomp", 3, 10, 20)]


async def test_each_attempt_has_its_own(resting: Engine):
    worker = await join(resting)
    job = await submit(resting, retry=RetryPolicy(first=0))
    for number, isolation in enumerate(("none", "podman"), start=1):
        grant = await take_one(resting, worker, number)
        end = End.ERROR if number == 1 else End.SUCCEEDED
        usage = msgspec.structs.replace(USAGE, isolation=isolation)
        await resting.complete.attempts(worker.worker_id, [done(grant, end, usage=usage)])
    assert [(row[0], row[1]) for row in await executions(resting, job)] == [(1, "none"), (2, "podman")]


async def test_functions_have_none_and_pay_for_none(resting: Engine, conn):
    worker = await join(resting)
    job = await submit(resting)
    await resting.complete.attempts(worker.worker_id, [done(await take_one(resting, worker))])
    assert await executions(resting, job) == [(1, None, None, None, None)]
    assert await conn.fetchval("select count(*) from execution") == 0


async def test_a_stale_end_leaves_none(resting: Engine, conn):
    worker, other = await join(resting), await join(resting)
    await submit(resting)
    grant = await take_one(resting, worker)
    assert await resting.complete.attempts(other.worker_id, [done(grant, usage=USAGE)]) == [(grant.id, 1)]
    assert await conn.fetchval("select count(*) from execution") == 0


async def test_the_same_end_reported_again_is_kept_once(resting: Engine, conn):
    worker = await join(resting)
    await submit(resting)
    grant = await take_one(resting, worker)
    for _ in range(2):
        assert await resting.complete.attempts(worker.worker_id, [done(grant, usage=USAGE)]) == []
    assert await conn.fetchval("select count(*) from execution") == 1


@pytest.mark.parametrize("bad", ['{"read_bytes":-1}', '{"peak_memory":9223372036854775808}', '{"version":2147483648}'])
def test_numbers_that_no_table_holds_are_refused(bad: str):
    body = f'{{"id":"x","lane":1,"attempt":1,"usage":{bad}}}'
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(body, type=Finished)


async def test_it_is_shown_among_the_executions_of_its_worker(resting: Engine):
    worker = await join(resting)
    await submit(resting)
    await resting.complete.attempts(worker.worker_id, [done(await take_one(resting, worker), usage=USAGE)])
    rows, _ = await resting.lists.executions_of_worker(worker.worker_id, None, None, 10)
    assert [row["isolation"] for row in rows] == ["bubblewrap+seccomp"]
