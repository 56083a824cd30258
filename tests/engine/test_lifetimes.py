"""How long results and files are kept, and what is taken out when."""

from collections.abc import AsyncIterator
from datetime import timedelta
from hashlib import sha256
from uuid import UUID

import pytest

from horae.engine.engine import Engine
from horae.engine.files import Upload
from horae.model.errors import Gone
from horae.model.ids import JobIds
from horae.model.job import JobRequest
from horae.model.kinds import Script
from horae.model.states import End
from horae.model.task import TaskDefinition

from .staging import ROOT, done, duty, join, submit, take_one

DATA = b"0123456789"


async def pieces() -> AsyncIterator[bytes]:
    yield DATA


async def leave_file(engine: Engine, session, grant) -> UUID:
    upload = Upload("a.txt", len(DATA), sha256(DATA).hexdigest())
    return await engine.files.save(session.worker_id, UUID(grant.id), grant.attempt, upload, pieces())


async def age(conn, hours: float) -> None:
    """Makes all that there is older."""
    await conn.execute("update outcome set finished_at = finished_at - $1 * interval '1 hour'", hours)
    await conn.execute("update job_file set created_at = created_at - $1 * interval '1 hour', "
                       "expires_at = expires_at - $1 * interval '1 hour'", hours)  # fmt: skip
    await conn.execute("update result_sweep set swept_at = swept_at - $1 * interval '1 hour'", hours)


async def count_objects(engine: Engine) -> int:
    return await engine.stores.objects.remove("results")


async def ended_job(engine: Engine, *, keep: str | None, large: bool = False) -> str:
    session = await join(engine)
    await engine.tasks.register(1, TaskDefinition(name="work", keep_results=keep))
    job_id = await submit(engine)
    grant = await take_one(engine, session)
    await leave_file(engine, session, grant)
    if large:
        await engine.output.save_result(session.worker_id, UUID(job_id), grant.attempt, b"[1,2]")
        await engine.complete.attempts(session.worker_id, [done(grant, blob=5)])
    else:
        await engine.complete.attempts(session.worker_id, [done(grant, result=b"[1,2]")])
    return job_id


async def read(engine: Engine, job_id: str) -> str | None:
    row = await engine.steer.get(ROOT, UUID(job_id))
    await engine.lifetimes.check(row)
    ended = await engine.output.result(row["tenant_id"], UUID(job_id), 0)
    return ended.result


@pytest.mark.parametrize("large", [False, True])
async def test_a_result_is_gone_when_its_time_is_over_even_before_the_duty_comes(resting: Engine, conn, large: bool):
    job_id = await ended_job(resting, keep="2h", large=large)
    await age(conn, 1)
    assert await read(resting, job_id) == "[1,2]"
    await age(conn, 1)
    with pytest.raises(Gone, match="keep_results"):
        await read(resting, job_id)


@pytest.mark.parametrize("large", [False, True])
async def test_the_duty_takes_out_what_is_over_and_it_stays_gone(resting: Engine, conn, large: bool):
    job_id = await ended_job(resting, keep="2h", large=large)
    await duty(resting, "lifetimes").run_once()
    assert await read(resting, job_id) == "[1,2]"
    await age(conn, 3)
    counts = await duty(resting, "lifetimes").run_once()
    assert counts == {"results": 1, "objects": 2 if large else 1}
    assert await conn.fetchval("select result is null from outcome")
    assert await conn.fetchval("select count(*) from job_file") == 0
    assert await count_objects(resting) == 0
    await resting.tasks.register(1, TaskDefinition(name="work"))
    with pytest.raises(Gone):
        await read(resting, job_id)
    assert await duty(resting, "lifetimes").run_once() == {"results": 0, "objects": 0}


async def test_the_lifetime_of_a_task_too_long_for_a_list_counts_too(resting: Engine):
    script = Script(source="#" * 20_000, interpreter="sh")
    await resting.tasks.register(1, TaskDefinition(name="long", script=script, keep_results="1h"))
    assert await duty(resting, "lifetimes")._kept_briefly() == [(1, "long", 3600.0)]


async def test_without_a_lifetime_all_is_kept_as_long_as_the_job(resting: Engine, conn):
    job_id = await ended_job(resting, keep=None, large=True)
    await age(conn, 24 * 20)
    assert await duty(resting, "lifetimes").run_once() == {"results": 0, "objects": 0}
    assert await read(resting, job_id) == "[1,2]"
    assert len(await resting.files.of_job(1, UUID(job_id))) == 1


async def test_the_lifetime_of_a_shared_task_is_that_of_every_tenant_without_one_of_its_own(resting: Engine, conn):
    other = await resting.access.create_tenant(None, "other")
    job_id = await ended_job(resting, keep=None)
    await resting.tasks.register(0, TaskDefinition(name="work", keep_results="1h"))
    kept = await duty(resting, "lifetimes")._kept_briefly()
    assert kept == [(other.id, "work", 3600.0)]
    await age(conn, 2)
    await duty(resting, "lifetimes").run_once()
    assert await read(resting, job_id) == "[1,2]"


async def test_what_an_attempt_left_that_never_counted_goes_after_a_day(resting: Engine, conn):
    session = await join(resting)
    await submit(resting)
    grant = await take_one(resting, session)
    await leave_file(resting, session, grant)
    await resting.output.save_result(session.worker_id, UUID(grant.id), grant.attempt, b"[1]")
    await age(conn, 25)
    assert (await duty(resting, "lifetimes").run_once())["objects"] == 0, "it still runs"
    await resting.complete.attempts(session.worker_id, [done(grant, End.ERROR, retry_after=0.0)])
    assert (await duty(resting, "lifetimes").run_once())["objects"] == 2
    assert await count_objects(resting) == 0


async def test_of_several_attempts_only_the_last_one_s_files_stay(resting: Engine, conn):
    session = await join(resting)
    job_id = await submit(resting)
    first = await take_one(resting, session)
    await leave_file(resting, session, first)
    await resting.complete.attempts(session.worker_id, [done(first, End.ERROR, retry_after=0.0)])
    second = await take_one(resting, session, 2)
    kept = await leave_file(resting, session, second)
    await resting.complete.attempts(session.worker_id, [done(second)])
    await age(conn, 25)
    assert (await duty(resting, "lifetimes").run_once())["objects"] == 1
    (file,) = await resting.files.of_job(1, UUID(job_id))
    assert file["id"] == kept


async def test_the_files_of_jobs_whose_day_was_dropped_go_too(resting: Engine, conn):
    await ended_job(resting, keep=None)
    await conn.execute("update job_file set job_id = '01000000-0000-7000-8000-000000000000'")
    assert (await duty(resting, "lifetimes").run_once())["objects"] == 1
    assert await conn.fetchval("select count(*) from job_file") == 0


async def test_the_files_of_a_job_that_lives_stay_though_its_day_is_not_dropped_yet(resting: Engine, conn):
    """Midnight has passed: the duty of lifetimes comes before that of partitions, which carries the job over."""
    session = await join(resting)
    old = resting.clock.now() - timedelta(days=31)
    await conn.execute("select partition_create($1)", old.date())
    job = await resting.submit.prepare(ROOT, JobRequest(task="work"))
    await resting.submit.store(job._replace(id=JobIds().make(old.timestamp())))
    await leave_file(resting, session, await take_one(resting, session))
    assert (await duty(resting, "lifetimes").run_once())["objects"] == 0
    assert (await duty(resting, "partitions").run_once())["dropped"] == 1
    assert (await duty(resting, "lifetimes").run_once())["objects"] == 0
    assert await conn.fetchval("select count(*) from job_file") == 1
