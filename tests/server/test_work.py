"""The worker's protocol over HTTP."""

import asyncio
import time

from horae.model.roles import Role
from horae.testing.waiting import wait_for

from .house import House, end

LARGE = b'"' + b"x" * 200_000 + b'"'


async def expire(conn, worker_id: int) -> None:
    await conn.execute("update worker set expires_at = clock_timestamp() - interval '1 s' where id = $1", worker_id)


async def state(house: House, job_id: str) -> str:
    return (await house.get(f"/v1/jobs/{job_id}")).json["state"]


async def test_a_job_goes_all_the_way(house: House):
    worker = await house.worker()
    job_id = await house.submit(params={"a": 1}, timeout="2m")
    (grant,) = await worker.take()
    assert (grant["id"], grant["task"], grant["params"], grant["timeout"]) == (job_id, "work", {"a": 1}, 120.0)
    running = (await house.get(f"/v1/jobs/{job_id}")).json
    assert (running["state"], running["worker_id"], running["attempt"]) == ("running", worker.id, 1)
    assert await worker.finish(end(grant, result={"b": 2}, took=0.2, cpu=0.1, peak_memory=1000)) == []
    ended = (await house.get(f"/v1/jobs/{job_id}")).json
    assert ended["state"] == "succeeded"
    assert ended["finished_at"] >= ended["started_at"]
    assert (await house.get(f"/v1/jobs/{job_id}/result")).json == {
        "id": job_id,
        "state": "succeeded",
        "result": {"b": 2},
    }
    (execution,) = (await house.get(f"/v1/jobs/{job_id}/executions")).json["items"]
    assert (execution["end"], execution["worker_id"], execution["peak_memory"]) == ("succeeded", worker.id, 1000)


async def test_an_exchange_waits_for_work_and_is_answered_when_it_comes(house: House):
    worker = await house.worker()
    asking = asyncio.create_task(worker.take(5, wait=30))
    await wait_for(lambda: house.engine.dispatch.depth()["waiting_workers"] == 1)
    job_id = await house.submit()
    assert [grant["id"] for grant in await asking] == [job_id]


async def test_an_exchange_that_finds_nothing_ends_with_its_time(house: House):
    worker = await house.worker()
    assert await worker.take(1, wait=0.3) == []
    assert house.engine.dispatch.depth()["waiting_workers"] == 0


async def test_an_exchange_whose_claim_found_nothing_ends_with_its_time(house: House, monkeypatch):
    """The claim is under way when the time is up, and another server's worker was quicker."""
    worker = await house.worker()
    await worker.exchange()
    jobs, under_way, go = house.engine.dispatch._claims._jobs, asyncio.Event(), asyncio.Event()

    async def nothing_left(*_args):
        under_way.set()
        await go.wait()
        return []

    monkeypatch.setattr(jobs, "job_claim", nothing_left)
    asking, wait = asyncio.create_task(worker.take(1, wait=4)), asyncio.create_task(asyncio.sleep(4.5))
    await wait_for(lambda: house.engine.dispatch.depth()["waiting_workers"] == 1)
    await house.submit()
    await asyncio.wait_for(under_way.wait(), 100)
    await wait
    go.set()
    assert await asyncio.wait_for(asking, 100) == []


async def test_an_exchange_whose_claim_failed_is_answered(house: House, monkeypatch):
    worker = await house.worker()
    await worker.exchange()

    async def broken(*_args):
        raise RuntimeError("a bug")

    monkeypatch.setattr(house.engine.dispatch, "_grants", broken)
    asking = asyncio.create_task(worker.call("/exchange", {"want": 1, "number": 1, "wait": 30}))
    await wait_for(lambda: house.engine.dispatch.depth()["waiting_workers"] == 1)
    await house.submit()
    assert (await asyncio.wait_for(asking, 100)).status >= 500


async def test_a_worker_that_hangs_up_while_it_waits_gets_no_job(house: House):
    gone, here = await house.worker(), await house.worker()
    asking = asyncio.create_task(gone.take(1, wait=30))
    await wait_for(lambda: house.engine.dispatch.depth()["waiting_workers"] == 1)
    asking.cancel()
    await wait_for(lambda: house.engine.dispatch.depth()["waiting_workers"] == 0)
    job_id = await house.submit()
    assert [grant["id"] for grant in await here.take()] == [job_id]


async def test_an_unknown_or_other_worker_is_not_found_and_a_gone_one_is_gone(house: House, conn):
    worker = await house.worker()
    await expire(conn, worker.id)
    await wait_for(lambda: _gone(worker))
    for path, body in (("/exchange", {}), ("/heartbeat", {}), ("/logs", {"chunks": []}), ("/leave", None)):
        assert (await worker.call(path, body)).code == "worker_gone", path
    worker.id = 999_999
    assert (await worker.heartbeat()).code == "not_found"


async def _gone(worker) -> bool:
    return (await worker.heartbeat()).status == 410


async def test_a_lost_worker_s_job_runs_elsewhere_and_its_late_end_is_stale(house: House, conn):
    first, second = await house.worker(), await house.worker()
    job_id = await house.submit()
    (grant,) = await first.take()
    await expire(conn, first.id)
    (again,) = await second.take(wait=20)
    assert (again["id"], again["attempt"]) == (job_id, 2)
    late = await first.call("/exchange", {"finished": [end(grant)]})
    assert late.status == 410 or late.json["stale"] == [{"id": job_id, "attempt": 1}]
    assert await second.finish(end(grant)) == [{"id": job_id, "attempt": 1}]
    assert await second.finish(end(again)) == []


async def test_a_cancel_reaches_the_worker_in_a_waiting_exchange(house: House):
    worker = await house.worker()
    job_id = await house.submit()
    (grant,) = await worker.take()
    await worker.heartbeat()
    asking = asyncio.create_task(worker.exchange(1, 30))
    await wait_for(lambda: house.engine.dispatch.depth()["waiting_workers"] == 1)
    assert (await house.call("DELETE", f"/v1/jobs/{job_id}", reason="enough")).status == 202
    assert (await asking)["cancel"] == [{"id": job_id, "attempt": 1, "reason": "enough"}]
    assert (await worker.heartbeat()).json["cancel"][0]["id"] == job_id
    await worker.finish(end(grant, "cancelled"))
    assert await state(house, job_id) == "cancelled"


async def test_grants_whose_answer_was_lost_are_given_away_when_named(house: House):
    worker = await house.worker()
    job_id = await house.submit()
    assert await worker.take()
    beat = await worker.heartbeat(lost=[worker.number])
    assert beat.status == 200
    assert await state(house, job_id) == "ready"
    lost = (await worker.exchange(1, 5))["jobs"]
    again = await worker.exchange(1, 5, lost=[worker.number])
    assert (lost[0]["attempt"], again["jobs"][0]["attempt"]) == (2, 3)


async def test_an_exchange_that_is_sent_again_on_the_way_gets_no_job_that_nobody_would_run(house: House):
    worker = await house.worker()
    first = await house.submit()
    (grant,) = await worker.take()
    second = await house.submit()
    again = await worker.call("/exchange", {"want": 1, "number": worker.number, "wait": 0})
    assert (again.status, again.json["code"]) == (409, "repeated_exchange")
    assert await worker.finish(end(grant)) == []
    assert (await state(house, first), await state(house, second)) == ("succeeded", "ready")


async def test_a_repeated_exchange_whose_sender_hangs_up_takes_nothing_from_the_worker(
    house: House, neighbour: House, monkeypatch
):
    """The second coming waits at another server; it is granted a job while whoever sent it hangs up."""
    worker = await house.worker()
    kept = await house.submit()
    (grant,) = await worker.take()
    jobs, under_way, go = neighbour.engine.dispatch._claims._jobs, asyncio.Event(), asyncio.Event()
    real = jobs.job_claim

    async def slow(*args):
        under_way.set()
        await go.wait()
        return await real(*args)

    path, body = f"/v1/workers/{worker.id}/exchange", {"want": 1, "number": worker.number, "wait": 30}
    sending = asyncio.create_task(neighbour.post(path, body, role=Role.WORKER))
    await wait_for(lambda: neighbour.engine.dispatch.depth()["waiting_workers"] == 1)
    monkeypatch.setattr(jobs, "job_claim", slow)
    other = await house.submit()
    await under_way.wait()
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)
    go.set()
    await wait_for(lambda: is_in(house, other, "ready"))
    assert await state(house, kept) == "running"
    assert await worker.finish(end(grant)) == []


async def is_in(house: House, job_id: str, wanted: str) -> bool:
    return await state(house, job_id) == wanted


async def test_a_worker_that_leaves_gives_its_jobs_back(house: House):
    worker, other = await house.worker(), await house.worker()
    job_id = await house.submit()
    await worker.take()
    assert (await worker.call("/leave")).status == 204
    assert [grant["id"] for grant in await other.take()] == [job_id]
    assert (await worker.heartbeat()).code == "worker_gone"
    assert (await house.get(f"/v1/workers/{worker.id}")).json["state"] == "left"


async def test_draining_and_resuming(house: House):
    worker = await house.worker()
    await worker.exchange()
    asking = asyncio.create_task(worker.exchange(1, 30))
    await wait_for(lambda: house.engine.dispatch.depth()["waiting_workers"] == 1)
    drained = await house.post(f"/v1/workers/{worker.id}/drain", role=Role.OPERATOR)
    assert drained.json["state"] == "draining"
    assert (await asking)["drain"] is True
    await house.submit()
    assert (await worker.exchange(1, 0.3))["jobs"] == []
    assert (await worker.heartbeat()).json["drain"] is True
    assert (await house.post(f"/v1/workers/{worker.id}/resume", role=Role.OPERATOR)).json["state"] == "active"
    assert len((await worker.exchange(1, 10))["jobs"]) == 1


async def test_workers_are_shown_with_their_load_and_health(house: House, conn):
    worker = await house.worker("a", "b", queues=["q"], labels={"gpu": "no"}, cpus=4, memory=2**33, region="eu")
    await worker.heartbeat(running=3, queued=1, cpu=0.5, memory=0.25)
    shown = (await house.get(f"/v1/workers/{worker.id}")).json
    assert (shown["tasks"], shown["queues"], shown["labels"]) == (["a", "b"], ["q"], {"gpu": "no"})
    assert (shown["running"], shown["cpu_load"], shown["health"], shown["region"]) == (3, 0.5, "healthy", "eu")
    await worker.heartbeat(cpu=0.99)
    assert (await house.get(f"/v1/workers/{worker.id}")).json["health"] == "overloaded"
    await expire(conn, worker.id)
    await wait_for(lambda: _lost(house, worker.id))
    assert (await house.get("/v1/workers")).json["items"] == []
    assert [w["health"] for w in (await house.get("/v1/workers", state="lost")).json["items"]] == ["gone"]


async def _lost(house: House, worker_id: int) -> bool:
    return (await house.get(f"/v1/workers/{worker_id}")).json["state"] == "lost"


JOINS = (
    [{"slots": 0}, {"slots": 10**9}, {"name": ""}, {"name": "a\x00"}, {"labels": {"a": "\x00"}}, {"queues": ["a b"]},
     {"tasks": [{"name": "a b"}]}, {"tasks": [{"name": "t", "priority": 99}]}, {"pid": 2**70}, {"pid": 2**40},
     {"memory": 2**70}, {"host": "\x00"}, {"region": "\x00"}, {"colour": "red"}, {"slots": "2"}]
)  # fmt: skip


async def test_a_bad_join_is_refused(house: House):
    for join in JOINS:
        request = {"name": "w", "host": "h", "slots": 1, "tasks": []} | join
        answer = await house.post("/v1/workers", request, role=Role.WORKER)
        assert (answer.status, answer.code) == (400, "invalid_input"), join


EXCHANGES = (
    [b"", b"[]", b"{", b'{"want": -1}', b'{"want": 1, "number": 99999999999}', b'{"lost": [99999999999]}',
     b'{"want": "1"}',
     b'{"finished": [{"id": "x", "lane": 1, "attempt": 1}]}', b'{"finished": [{"id": 5, "lane": 1, "attempt": 1}]}',
     b'{"finished": [{"id": "01900000-0000-7000-8000-000000000000", "lane": 1, "attempt": 1, "end": "nonsense"}]}',
     b'{"colour": 1}', b'{"wait": "x"}', b"[" * 100_000]
)  # fmt: skip


async def test_a_bad_exchange_is_refused(house: House):
    worker = await house.worker()
    await house.submit()
    for exchange in EXCHANGES:
        answer = await worker.call("/exchange", exchange)
        assert answer.status == 400, (exchange[:80], answer)
        assert answer.code in {"invalid_input", "malformed_body"}
    assert len(await worker.take()) == 1


async def test_a_result_that_is_not_utf8_is_refused_with_a_problem(house: House):
    worker = await house.worker()
    await house.submit()
    (grant,) = await worker.take()
    body = b'{"finished":[{"id":"%s","lane":%d,"attempt":1,"result":"\xff"}]}' % (grant["id"].encode(), grant["lane"])
    answer = await worker.call("/exchange", body)
    assert answer.status == 400, answer
    saved = b'{"id":"%s","lane":%d,"attempt":1,"data":"\xff"}' % (grant["id"].encode(), grant["lane"])
    assert (await worker.call("/checkpoints", saved)).status == 400
    assert (await worker.call(f"/results/{grant['id']}/1", b'"\xff"', "PUT")).status == 400


async def test_a_bad_heartbeat_is_refused_at_once(house: House):
    worker = await house.worker()
    started = time.monotonic()
    for beat in ({"running": 2**40}, {"cpu": 1e300}, {"lost": [2**40]}, {"running": "3"}):
        assert (await worker.heartbeat(**beat)).status == 400, beat
    assert time.monotonic() - started < 60


async def test_progress_is_shown_and_a_bad_note_does_not_cost_the_heartbeat(house: House):
    worker = await house.worker()
    job_id = await house.submit()
    await worker.take()
    for progress in ({"id": "x", "attempt": 1, "done": 1}, {"id": job_id, "attempt": 2**40, "done": 1}):
        assert (await worker.heartbeat(progress=[progress])).status == 200
    await worker.heartbeat(progress=[{"id": job_id, "attempt": 1, "done": 3, "total": 10, "note": "a\x00b"}])
    shown = (await house.get(f"/v1/jobs/{job_id}")).json["progress"]
    assert (shown["done"], shown["total"], shown["note"]) == (3, 10, "ab")


async def test_a_checkpoint_is_kept_and_given_to_the_next_attempt(house: House):
    worker = await house.worker()
    await house.submit()
    (grant,) = await worker.take()
    fence = {"id": grant["id"], "lane": grant["lane"], "attempt": 1}
    assert (await worker.call("/checkpoints", {**fence, "data": {"page": 7, "nul": "\x00"}})).status == 204
    assert (await worker.call("/checkpoints", {**fence, "attempt": 2, "data": 1})).code == "wrong_state"
    assert (await worker.call("/checkpoints", {**fence, "data": "x" * 1_100_000})).code == "too_large"
    await worker.finish(end(grant, "error", retry_after=0))
    (again,) = await worker.take()
    assert again["checkpoint"] == {"page": 7, "nul": "\x00"}


async def test_a_large_result_makes_the_round_trip(house: House, neighbour: House):
    worker = await house.worker()
    job_id = await house.submit()
    (grant,) = await worker.take()
    assert (await worker.call(f"/results/{job_id}/1", LARGE, "PUT")).status == 204
    assert (await worker.call(f"/results/{job_id}/2", LARGE, "PUT")).code == "wrong_state"
    assert (await worker.call(f"/results/{job_id}/1", b"{", "PUT")).status == 400
    assert await worker.finish(end(grant, blob=len(LARGE))) == []
    for server in (house, neighbour):
        answer = await server.get(f"/v1/jobs/{job_id}/result")
        assert answer.json["result"] == "x" * 200_000


async def test_an_inline_result_that_is_too_large_is_refused(house: House):
    worker = await house.worker()
    await house.submit()
    (grant,) = await worker.take()
    answer = await worker.call("/exchange", {"finished": [end(grant, result="x" * 40_000)]})
    assert answer.code == "invalid_input"
