"""What strangers send: every refusal is a problem document with a stable code, and the server goes on."""

import asyncio
import socket
from itertools import product
from urllib.parse import urlsplit

import pytest

from .house import Answer, House

UUID = "01900000-0000-7000-8000-000000000000"


@pytest.fixture
async def busy(house: House) -> House:
    await house.worker("work")
    return house


async def alive(house: House) -> None:
    assert (await house.get("/v1/whoami")).status == 200


BODIES = {
    "nothing": (b"", 400, "malformed_body"),
    "half": (b'{"task": "work"', 400, "malformed_body"),
    "NaN": (b'{"task": "work", "params": {"x": NaN}}', 400, "malformed_body"),
    "Infinity": (b'{"task": "work", "params": {"x": -Infinity}}', 400, "malformed_body"),
    "too large a number": (b'{"task": "work", "params": {"x": 1e999}}', 400, "invalid_input"),
    "deep arrays": (b'{"task":"work","params":{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}}", 400, "malformed_body"),
    "deep objects": (b'{"task":"work","params":' + b'{"a":' * 500 + b"1" + b"}" * 500 + b"}", 400, "malformed_body"),
    "a key twice": (b'{"task": "work", "task": "work"}', 400, "invalid_input"),
    "a key twice inside": (b'{"task": "work", "params": {"a": 1, "a": 2}}', 400, "invalid_input"),
    "not UTF-8": (b'{"task": "work", "params": {"x": "\xff\xfe"}}', 400, "malformed_body"),
    "half a surrogate": (b'{"task": "work", "params": {"x": "\\ud800"}}', 400, "malformed_body"),
    "an array": (b'[{"task": "work"}]', 400, "invalid_input"),
    "a string": (b'"work"', 400, "invalid_input"),
    "null": (b"null", 400, "invalid_input"),
    "no task": (b"{}", 400, "invalid_input"),
    "an unknown field": (b'{"task": "work", "colour": 1}', 400, "invalid_input"),
    "task of a wrong type": (b'{"task": 5}', 400, "invalid_input"),
    "params of a wrong type": (b'{"task": "work", "params": [1]}', 400, "invalid_input"),
    "an unknown task": (b'{"task": "nosuch"}', 422, "unknown_task"),
    "a task with NUL": (b'{"task": "wo\\u0000rk"}', 400, "invalid_input"),
    "an empty task": (b'{"task": ""}', 400, "invalid_input"),
    "a long task": (b'{"task": "' + b"x" * 5000 + b'"}', 400, "invalid_input"),
    "year 9999": (b'{"task": "work", "run_at": "9999-12-31T23:59:59Z"}', 400, "invalid_input"),
    "year 1": (b'{"task": "work", "run_at": "0001-01-01T00:00:00Z"}', 400, "invalid_input"),
    "no offset": (b'{"task": "work", "run_at": "2030-01-01T00:00:00"}', 400, "invalid_input"),
    "no date": (b'{"task": "work", "run_at": "tomorrow"}', 400, "invalid_input"),
    "a negative delay": (b'{"task": "work", "delay": -1}', 400, "invalid_input"),
    "an endless delay": (b'{"task": "work", "delay": 1e300}', 400, "invalid_input"),
    "a strange delay": (b'{"task": "work", "delay": "soon"}', 400, "invalid_input"),
    "two times": (b'{"task": "work", "delay": 1, "run_at": "2030-01-01T00:00:00Z"}', 400, "invalid_input"),
    "priority 0": (b'{"task": "work", "priority": 0}', 400, "invalid_input"),
    "priority 11": (b'{"task": "work", "priority": 11}', 400, "invalid_input"),
    "priority 1.5": (b'{"task": "work", "priority": 1.5}', 400, "invalid_input"),
    "priority true": (b'{"task": "work", "priority": true}', 400, "invalid_input"),
    "a huge priority": (b'{"task": "work", "priority": 99999999999999999999}', 400, "invalid_input"),
    "attempts 0": (b'{"task": "work", "max_attempts": 0}', 400, "invalid_input"),
    "attempts 2**40": (b'{"task": "work", "max_attempts": 1099511627776}', 400, "invalid_input"),
    "timeout 0": (b'{"task": "work", "timeout": 0}', 400, "invalid_input"),
    "a bad retry": (b'{"task": "work", "retry": {"first": -1}}', 400, "invalid_input"),
    "labels with NUL": (b'{"task": "work", "labels": {"a": "\\u0000"}}', 400, "invalid_input"),
    "labels of a wrong type": (b'{"task": "work", "labels": {"a": 1}}', 400, "invalid_input"),
    "a bad label name": (b'{"task": "work", "labels": {"a b": "c"}}', 400, "invalid_input"),
    "many labels": (b'{"task":"work","labels":{' + b",".join(b'"l%d":""' % n for n in range(40)) + b"}}", 400,
                    "invalid_input"),
    "a key with NUL": (b'{"task": "work", "concurrency_key": "\\u0000"}', 400, "invalid_input"),
    "an empty key": (b'{"task": "work", "concurrency_key": ""}', 400, "invalid_input"),
    "a bad queue": (b'{"task": "work", "queue": "a b"}', 400, "invalid_input"),
    "large params": (b'{"task": "work", "params": {"x": "' + b"x" * 1_100_000 + b'"}}', 413, "too_large"),
    "ten megabytes": (b'{"task": "work", "params": {"x": "' + b"x" * 10_000_000 + b'"}}', 413, "too_large"),
}  # fmt: skip


async def test_bad_submits_are_refused_by_name(busy: House):
    wrong = []
    for name, (body, status, code) in BODIES.items():
        answer = await busy.post("/v1/jobs", body)
        if (answer.status, answer.code) != (status, code):
            wrong.append(f"{name}: {answer}")
    assert wrong == []
    assert (await busy.get("/v1/jobs")).json["items"] == []


async def test_strange_but_right_submits_are_accepted_and_come_back_as_they_were(busy: House):
    params = {
        "nul": "a\x00b",
        "ünï": "💥",
        "": {"deep": [[[]]]},
        "n": [0, -1, 1.5, 2**53, 2**64, 10**30],
        "t": True,
        "z": None,
    }
    job_id = await busy.submit(params=params, labels={"a": "é" * 100}, run_at="2200-12-31T23:59:59.999999-11:00")
    job = (await busy.get(f"/v1/jobs/{job_id}")).json
    assert job["params"] == params
    assert job["labels"] == {"a": "é" * 100}
    assert (await busy.get("/v1/jobs")).json["items"][0]["params"] == params


async def test_the_params_schema_is_checked_and_faults_are_pointed_at(busy: House):
    schema = {"type": "object", "properties": {"to": {"type": "string"}, "n": {"minimum": 3}}, "required": ["to"]}
    assert (await busy.put_task("mail", params_schema=schema)).status == 200
    answer = await busy.post("/v1/jobs", {"task": "mail", "params": {"to": 5, "n": 1}})
    assert (answer.status, answer.code) == (422, "invalid_params")
    assert {error["pointer"] for error in answer.json["errors"]} == {"/params/to", "/params/n"}


async def test_a_schema_never_makes_the_server_fetch_anything(busy: House):
    knocked = []

    async def note(_reader, writer):
        knocked.append(1)
        writer.close()

    listener = await asyncio.start_server(note, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    for reference in (f"http://127.0.0.1:{port}/schema.json", "file:///etc/passwd", "file:///proc/self/environ"):
        for schema in ({"$ref": reference}, {"properties": {"a": {"$dynamicRef": reference}}}, {"$schema": reference}):
            answer = await busy.put_task("sneaky", params_schema=schema)
            assert answer.code == "invalid_input", schema
            assert "root:" not in answer.json["detail"]
    listener.close()
    assert knocked == []


async def test_bad_tasks_are_refused(busy: House):
    for definition in (
        {"timeout": 0}, {"timeout": -1}, {"priority": 11}, {"max_attempts": 0}, {"queue": "a b"}, {"queue": ""},
        {"params_schema": {"type": "nonsense"}}, {"params_schema": 5}, {"retry": {"factor": 0}}, {"colour": 1},
        {"params_schema": {"x": "y" * 70_000}}, {"description": "\x00"},
    ):  # fmt: skip
        assert (await busy.put_task("task", **definition)).code == "invalid_input", definition
    answer = await busy.call("PUT", "/v1/tasks/one", {"name": "other"})
    assert answer.code == "invalid_input"


async def test_a_task_with_a_slash_in_its_name_can_be_addressed(busy: House):
    answer = await busy.call("PUT", "/v1/tasks/reports%2Fdaily", {"name": "reports/daily"})
    assert answer.status == 200, answer
    assert (await busy.get("/v1/tasks/reports%2Fdaily")).json["definition"]["name"] == "reports/daily"


async def test_paths_and_methods_that_are_not_there(busy: House):
    for method, path, code in (
        ("GET", "/v1/nothing", "not_found"), ("GET", "/nothing", "not_found"), ("GET", "/v1/jobs/", "not_found"),
        ("GET", "/v1/jobs/not-a-uuid", "not_found"), ("GET", "/v1/jobs/%00", "not_found"),
        ("GET", f"/v1/jobs/{UUID}", "not_found"), ("GET", "/v1/jobs/%ff%fe", "not_found"),
        ("GET", "/v1/workers/abc", "not_found"), ("GET", "/v1/workers/-1", "not_found"),
        ("GET", "/v1/workers/99999999999999999999", "not_found"), ("DELETE", "/v1/keys/²", "not_found"),
        ("GET", "/v1/tasks/%00", "not_found"), ("GET", "//v1/jobs", "not_found"),
        ("DELETE", "/v1/jobs", "method_not_allowed"), ("PUT", "/v1/jobs/bulk", "method_not_allowed"),
        ("POST", f"/v1/jobs/{UUID}", "method_not_allowed"), ("TRACE", "/v1/jobs", "method_not_allowed"),
    ):  # fmt: skip
        answer = await busy.call(method, path)
        assert answer.code in {code, "invalid_input"} if "%" in path else answer.code == code, (method, path, answer)
        if code == "method_not_allowed":
            assert answer.headers["allow"]


FILTERS = (
    ["status=nonsense", "limit=0", "limit=501", "limit=nan", "limit=x", "cursor=x", "since=x", "until=2030-01-01",
     "label=x", "worker=x", "worker=-1", "worker=1e99", "since=0000-00-00T00:00:00Z", "status=ready,nonsense"]
)  # fmt: skip


async def test_bad_filters_are_refused(busy: House):
    for query in FILTERS:
        name, _, value = query.partition("=")
        assert (await busy.get("/v1/jobs", **{name: value})).code == "invalid_input", query


async def test_filters_with_strange_characters_do_no_harm(busy: House):
    values = ("\x00", "a:\x00", "'; drop table job; --", "%", "💥:💥", "x" * 4000)
    for name, value in product(["task", "queue", "user", "tenant", "label", "status"], values):
        answer = await busy.get("/v1/jobs", **{name: value})
        assert answer.status in {200, 400, 403}, (name, value, answer)


async def test_other_lists_refuse_bad_parameters(busy: House):
    job_id = await busy.submit()
    for path, query in (
        ("/v1/executions", {}), ("/v1/executions", {"worker_id": "x"}),
        ("/v1/executions", {"worker_id": 1, "cursor": "x"}),
        ("/v1/executions", {"worker_id": 1, "cursor": "9" * 30}), ("/v1/executions", {"worker_id": 1, "limit": 0}),
        ("/v1/workers", {"state": "asleep"}), (f"/v1/jobs/{job_id}/logs", {"cursor": "x"}),
        (f"/v1/jobs/{job_id}/logs", {"limit": -1}), (f"/v1/jobs/{job_id}/result", {"wait": -1}),
        (f"/v1/jobs/{job_id}/result", {"wait": "nan"}),
    ):  # fmt: skip
        assert (await busy.get(path, **query)).code == "invalid_input", (path, query)


async def test_no_cursor_of_executions_breaks_the_server(busy: House):
    for year in range(0, 8000, 97):
        at = year * 365 * 86_400 * 1_000_000
        for cursor in (f"{at}", f"{at}_{UUID}_1", f"{-at}_{UUID}_1", f"{at}_{UUID}_99999999999"):
            answer = await busy.get("/v1/executions", worker_id=1, cursor=cursor)
            assert answer.status in {200, 400}, (cursor, answer)


async def test_no_cursor_of_logs_breaks_the_server(busy: House):
    job_id = await busy.submit()
    for cursor in ("99999999999-1", "1-99999999999", "1--1", "0-0", "²-1", "1-", "-", "4294967296-4294967296"):
        answer = await busy.get(f"/v1/jobs/{job_id}/logs", cursor=cursor)
        assert answer.status in {200, 400}, (cursor, answer)


async def test_a_reason_with_nul_or_of_great_length_is_no_server_error(busy: House):
    for reason in ("a\x00b", "x" * 3000, "💥"):
        job_id = await busy.submit()
        answer = await busy.call("DELETE", f"/v1/jobs/{job_id}", reason=reason)
        assert answer.status in {200, 400}, answer
        worker = await busy.worker()
        job_id = await busy.submit()
        await worker.take()
        answer = await busy.call("DELETE", f"/v1/jobs/{job_id}", reason=reason)
        assert answer.status in {202, 400}, answer


async def test_a_long_idempotency_key_is_refused(busy: House):
    for key in ("x" * 201, "x" * 8000):
        answer = await busy.post("/v1/jobs", {"task": "work"}, headers={"idempotency-key": key})
        assert answer.status in {400, 431}


async def test_a_bulk_with_bad_lines_answers_line_by_line(busy: House):
    lines = [b'{"task":"work"}', b"{", b"", b'{"task":"nosuch"}', b'{"task":"work","priority":99}', b"[" * 100_000,
             b'{"task":"work","task":"work"}', b'{"task":"work","concurrency_key":"\\u0000"}',
             b"\xff", b'{"task":"work"}']  # fmt: skip
    answer = await busy.post("/v1/jobs/bulk", b"\n".join(lines), headers={"content-type": "application/x-ndjson"})
    codes = [item.get("code") for item in answer.json["items"]]
    assert codes == [None, "malformed_body", "unknown_task", "invalid_input", "invalid_input", "invalid_input",
                     "invalid_input", "malformed_body", None]  # fmt: skip
    assert (answer.json["accepted"], answer.json["refused"]) == (2, 7)
    ids = [item["id"] for item in answer.json["items"] if "id" in item]
    assert {job["id"] for job in (await busy.get("/v1/jobs")).json["items"]} == set(ids)


async def test_bulks_that_are_no_list_or_too_long_are_refused(busy: House):
    for body, code in ((b"", "malformed_body"), (b'{"task":"work"}', "malformed_body"), (b"[1", "malformed_body"),
                       (b"[" + b"1," * 10_000 + b"1]", "invalid_input")):  # fmt: skip
        assert (await busy.post("/v1/jobs/bulk", body)).code == code
    assert (await busy.post("/v1/jobs/bulk", b"[]")).json == {"accepted": 0, "refused": 0, "items": []}
    answer = await busy.post("/v1/jobs/bulk", b'[1, "x", {"task": "work"}, null]')
    assert [item.get("code") for item in answer.json["items"]] == [
        "invalid_input",
        "invalid_input",
        None,
        "invalid_input",
    ]


async def raw(house: House, request: bytes) -> bytes:
    """Sends bytes as they are, and reads until the server has answered or hung up."""
    address = urlsplit(house.url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(request)
    await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
    try:
        return await asyncio.wait_for(reader.read(), 10)
    except TimeoutError:
        return b"(silence)"
    finally:
        writer.close()


def head(house: House, *headers: str) -> bytes:
    key = house.key("red")
    lines = ["POST /v1/jobs HTTP/1.1", "host: x", f"authorization: Bearer {key}", "connection: close", *headers, "", ""]
    return "\r\n".join(lines).encode()


async def test_lengths_that_lie_do_no_harm(busy: House):
    body = b'{"task":"work"}'
    for request in (
        head(busy, f"content-length: {len(body) + 100}") + body,
        head(busy, "content-length: 3") + body,
        head(busy, "content-length: -1") + body,
        head(busy, "content-length: 99999999999999") + body,
        head(busy, "content-length: x") + body,
        head(busy, "content-length: 15", "content-length: 16") + body,
        head(busy, "transfer-encoding: chunked") + b"zz\r\n",
        head(busy) + body,
    ):
        answer = await raw(busy, request)
        assert b" 201 " not in answer[:20]
        assert b" 500 " not in answer[:20]
    await alive(busy)


async def test_a_chunked_body_beyond_the_limit_is_refused(busy: House):
    async def endless():
        for _ in range(100):
            yield b"x" * 65_536

    try:
        answer: Answer | None = await busy.post("/v1/jobs", endless())
    except (TimeoutError, OSError):
        answer = None  # it may also hang up while we still send
    assert answer is None or answer.code == "too_large"
    await alive(busy)


async def test_a_chunked_body_within_the_limit_is_read(busy: House):
    async def pieces():
        for piece in (b'{"ta', b'sk":', b'"work"}'):
            yield piece

    assert (await busy.post("/v1/jobs", pieces())).status == 201


async def test_a_client_that_stops_in_mid_body_blocks_nobody(busy: House):
    address = urlsplit(busy.url)
    hanging = [socket.create_connection((address.hostname, address.port)) for _ in range(20)]
    for connection in hanging:
        connection.sendall(head(busy, "content-length: 1000") + b'{"task"')
    await alive(busy)
    for connection in hanging:
        connection.close()
    await alive(busy)
