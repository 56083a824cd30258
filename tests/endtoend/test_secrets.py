"""A secret from its setting to the job, through real programs; and nothing of it wherever one can look."""

from collections.abc import AsyncIterator

import msgspec
import pytest
import pytest_asyncio

from horae import AsyncClient, Client, JobFailed, State
from horae.engine.masterkeys import encode_key, new_key
from horae.model.errors import SecretInUse
from horae.testing.database import cloned_database
from horae.testing.stack import Stack, running_stack

from .conftest import spec
from .secret_app import app, careless, knowing, shown

pytestmark = pytest.mark.asyncio(loop_scope="module")
TOKEN = 's3cr3t/"T+ken"'
SECONDS = 30


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack(cluster_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    """One server that has a key for secrets, and a worker."""
    folder = tmp_path_factory.mktemp("stack")
    async with cloned_database(cluster_dsn) as dsn, running_stack(dsn, folder) as stack:
        await stack.server(HORAE_SECRETS_KEY=encode_key(new_key()))
        with stack.client() as client:
            client.set_secret("TOKEN", TOKEN)
        await stack.worker("one", spec("secret_app"))
        await stack.until_joined("one")
        yield stack


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(stack: Stack) -> AsyncIterator[Client]:
    with stack.client() as client:
        former = app.clients.swap(client, AsyncClient(connection=client.connection))
        yield client
        app.clients.swap(*former)


def _everything(client: Client, job_id: str) -> str:
    """All that the API tells of a job."""
    logs = "".join(line.text for line in client.logs(job_id).items)
    parts = (client.job(job_id), client.executions(job_id), client.result(job_id))
    return logs + "".join(msgspec.json.encode(part).decode() for part in parts)


async def test_a_job_gets_the_secret_that_was_set(client):
    assert knowing.submit().result(SECONDS) is True


@pytest.mark.parametrize("end", ["return", "return much", "raise"])
async def test_nothing_of_a_secret_is_in_logs_error_result_or_attempts(client, end):
    job = careless.submit(end)
    assert job.wait(SECONDS) is (State.FAILED if end == "raise" else State.SUCCEEDED)
    told = _everything(client, job.id)
    assert [form for form in shown(TOKEN) if form in told] == []
    assert told.count("***") >= 3 * len(shown(TOKEN))
    attempts = client.executions(job.id).items
    assert len(attempts) == (2 if end == "raise" else 1)
    if end == "raise":
        with pytest.raises(JobFailed, match=r"refused: \['\*\*\*'") as failed:
            job.result(SECONDS)
        assert "s3cr3t" not in failed.value.extra["error"].traceback


async def test_nothing_of_a_secret_is_in_the_programs_own_logs_and_files(client, stack):
    knowing.submit().result(SECONDS)
    written = [path.read_bytes() for path in stack.folder.rglob("*") if path.is_file()]
    assert [form for form in shown(TOKEN) for text in written if form.encode() in text] == []


async def test_a_job_whose_secret_was_deleted_fails_and_says_which(client):
    with pytest.raises(SecretInUse):
        client.delete_secret("TOKEN")
    client.delete_secret("TOKEN", force=True)
    try:
        with pytest.raises(JobFailed, match="no secret TOKEN; make it with `horae secret set TOKEN`"):
            knowing.options(max_attempts=1).submit().result(SECONDS)
    finally:
        client.set_secret("TOKEN", TOKEN)
