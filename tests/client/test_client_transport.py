import asyncio
import inspect
import os
import socket
import threading
import time

import aiohttp
import pytest

from horae.client.client import AsyncClient, Client
from horae.client.discovery import Connection
from horae.client.sessions import UNWRITTEN, _broken
from horae.model.errors import (
    HoraeError,
    InvalidInput,
    NotFound,
    Overloaded,
    SetupError,
    StoreUnavailable,
    Unauthenticated,
    Unreachable,
    WrongState,
)
from horae.model.job import JobRequest
from horae.model.states import State

SEND = JobRequest(task="send", params={"to": "john"})


async def test_a_submit_names_the_key_and_sends_only_what_was_asked(stub, ask):
    stub.submitted()
    answer = await ask("submit", SEND)
    (request,) = stub.requests
    assert answer.state is State.READY
    assert (request.method, request.target) == ("POST", "/v1/jobs")
    assert request.json() == {"task": "send", "params": {"to": "john"}}
    assert request.headers["Authorization"] == "Bearer secret"
    assert request.headers["Idempotency-Key"] is None


async def test_calls_after_one_another_share_a_connection(stub, ask):
    for _ in range(3):
        stub.submitted()
        await ask("submit", SEND)
    assert {request.connection for request in stub.requests} == {1}


async def test_a_submit_on_a_connection_that_the_server_closed_while_idle_is_sent_on_a_new_one(stub, ask):
    stub.answer({"id": "1", "state": "ready"}, 201, hang_up=True)
    stub.submitted()
    await ask("submit", SEND)
    assert stub.hung_up.wait(10)
    await ask("submit", SEND)
    assert [request.connection for request in stub.requests] == [1, 2]


async def test_a_submit_that_broke_while_waiting_is_not_repeated_but_says_so(stub, ask):
    stub.hang_up()
    stub.submitted()
    with pytest.raises(Unreachable, match=r"may or may not exist.*idempotency key"):
        await ask("submit", SEND)
    assert len(stub.requests) == 1


async def test_a_submit_with_an_idempotency_key_is_repeated_with_the_same_key(stub, ask):
    stub.hang_up()
    stub.submitted()
    await ask("submit", SEND, idempotency_key="order-1")
    assert [request.headers["Idempotency-Key"] for request in stub.requests] == ["order-1", "order-1"]


async def test_a_read_that_broke_is_repeated(stub, ask, job):
    stub.hang_up()
    stub.answer(job)
    found = await ask("job", job["id"])
    assert found.task == "send"


@pytest.mark.parametrize("error", [Overloaded("busy"), StoreUnavailable("gone")])
async def test_a_submit_that_the_server_refused_for_now_is_sent_again(stub, ask, error):
    stub.refuse(error, Retry_After="0")
    stub.submitted()
    await ask("submit", SEND)
    assert len(stub.requests) == 2


async def test_the_wait_that_the_server_asks_for_is_kept(stub, ask):
    stub.refuse(Overloaded("busy"), Retry_After="1")
    stub.submitted()
    before = time.monotonic()
    await ask("submit", SEND)
    assert time.monotonic() - before >= 1


async def test_a_wait_beyond_our_patience_is_not_begun(stub, ask):
    stub.refuse(Overloaded("busy"), Retry_After="60")
    with pytest.raises(Overloaded, match="busy"):
        await ask("submit", SEND)


async def test_a_gateway_that_lost_the_answer_leaves_a_submit_in_doubt(stub, ask):
    stub.answer(b"<html>bad gateway</html>", 502)
    with pytest.raises(Unreachable, match="may or may not exist"):
        await ask("submit", SEND)
    assert len(stub.requests) == 1


async def test_a_problem_becomes_the_error_that_the_server_meant(stub, ask):
    stub.refuse(WrongState("job 1 has ended already", state="failed"))
    with pytest.raises(WrongState, match="has ended already") as caught:
        await ask("cancel", "1")
    assert caught.value.extra == {"state": "failed"}


async def test_an_error_that_is_no_problem_document_is_shown_as_it_came(stub, ask):
    stub.answer(b"<html>oops</html>", 500)
    with pytest.raises(HoraeError, match="answered 500: <html>oops"):
        await ask("whoami")


async def test_an_answer_of_another_shape_is_explained(stub, ask):
    stub.answer(b"<html>a login page</html>")
    with pytest.raises(HoraeError, match="Is the address a Horae server's"):
        await ask("whoami")


async def test_characters_of_an_id_cannot_change_the_path(stub, ask):
    stub.refuse(NotFound("no such job"))
    with pytest.raises(NotFound):
        await ask("job", "../keys?x=1")
    assert stub.requests[0].target == "/v1/jobs/..%2Fkeys%3Fx%3D1"


async def test_a_header_cannot_be_smuggled_in(stub, ask):
    with pytest.raises(InvalidInput, match="printable ASCII"):
        await ask("submit", SEND, idempotency_key="a\r\nX-Evil: 1")
    assert stub.requests == []


async def test_readiness_needs_no_key_and_is_false_when_nobody_answers(stub):
    stub.answer({})
    stub.answer({}, 503)
    keyless = Client(connection=Connection(stub.url))
    assert [keyless.ready(), keyless.ready()] == [True, False]
    keyless.close()
    async with AsyncClient(connection=Connection(unused_url())) as nobody:
        assert not await nobody.ready()


async def test_without_a_key_the_first_use_says_how_to_give_one(stub):
    with pytest.raises(Unauthenticated, match=r"key=.*HORAE_KEY.*profile"):
        Client(connection=Connection(stub.url)).whoami()
    with pytest.raises(Unauthenticated, match=r"key=.*HORAE_KEY.*profile"):
        await AsyncClient(connection=Connection(stub.url)).whoami()
    assert stub.requests == []


async def test_a_server_that_is_not_there_is_given_up_after_our_patience():
    settings = {"connection": Connection(unused_url(), "k"), "patience": 0.2}
    with pytest.raises(Unreachable, match=r"horae up.*HORAE_URL"):
        Client(**settings).submit(SEND)
    async with AsyncClient(**settings) as client:
        with pytest.raises(Unreachable, match=r"horae up.*HORAE_URL"):
            await client.submit(SEND)


async def test_a_server_that_never_answers_is_given_up(stub):
    release = threading.Event()
    for _ in range(2):
        stub.hang_up()
        stub.script[-1].hold = release
    settings = {"connection": Connection(stub.url, "k"), "timeout": 0.2}
    with pytest.raises(Unreachable, match="may or may not exist"):
        Client(**settings).submit(SEND)
    async with AsyncClient(**settings) as client:
        with pytest.raises(Unreachable, match="may or may not exist"):
            await client.submit(SEND)
    release.set()


def test_threads_do_not_share_a_connection(stub, client):
    both_connected = threading.Barrier(2, timeout=100)

    def submit_twice() -> None:
        client.submit(SEND)
        both_connected.wait()
        client.submit(SEND)

    for _ in range(4):
        stub.submitted()
    threads = [threading.Thread(target=submit_twice) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(request.connection for request in stub.requests) == [1, 1, 2, 2]


def test_a_forked_child_opens_its_own_connection_and_the_parents_lives_on(stub, client):
    for _ in range(3):
        stub.submitted()
    client.submit(SEND)
    if (child := os.fork()) == 0:
        try:
            client.submit(SEND)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    client.submit(SEND)
    assert [request.connection for request in stub.requests] == [1, 2, 1]


async def test_one_async_client_serves_one_event_loop_after_another(stub):
    client = AsyncClient(connection=Connection(stub.url, "k"))
    for _ in range(2):
        stub.submitted()
        await asyncio.to_thread(asyncio.run, client.submit(SEND))
    assert [request.connection for request in stub.requests] == [1, 2]


async def test_a_server_below_a_path_is_found(stub):
    stub.submitted()
    Client(connection=Connection(stub.url + "/horae/", "k")).submit(SEND)
    stub.submitted()
    async with AsyncClient(connection=Connection(stub.url + "/horae/", "k")) as client:
        await client.submit(SEND)
    assert [request.target for request in stub.requests] == ["/horae/v1/jobs"] * 2


@pytest.mark.parametrize("url", ["127.0.0.1:8420", "ftp://x", "http://", "http://x:port"])
@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_an_address_that_is_none_is_refused(url, kind):
    with pytest.raises(SetupError, match="is not a server's address"):
        kind(connection=Connection(url, "k"))


async def test_the_first_calls_of_an_async_client_may_be_made_at_once(stub, async_client):
    for _ in range(5):
        stub.submitted()
    answers = await asyncio.gather(*(async_client.submit(SEND) for _ in range(5)))
    assert [answer.state for answer in answers] == [State.READY] * 5


async def test_a_closed_client_opens_again_when_it_is_used(stub, client, async_client):
    for _ in range(4):
        stub.submitted()
    client.submit(SEND)
    client.close()
    client.submit(SEND)
    await async_client.submit(SEND)
    await async_client.close()
    await async_client.submit(SEND)
    assert [request.connection for request in stub.requests] == [1, 2, 3, 4]


def unused_url() -> str:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


async def test_a_body_that_was_never_written_counts_as_unsent():
    """A race in the wild: the server closes an idle connection between our taking it and our writing to it."""
    closed = aiohttp.ClientOSError(None, "Can not write request body for http://127.0.0.1/v1/jobs")
    assert not _broken(closed).sent
    assert _broken(aiohttp.ServerDisconnectedError()).sent


def test_aiohttp_words_an_unwritten_body_as_we_expect():
    assert UNWRITTEN in inspect.getsource(aiohttp.client_reqrep)
