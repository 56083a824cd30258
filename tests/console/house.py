"""A real Horae for a browser: a server and a worker as processes of their own, in a loop on a thread of its own.

The tests are plain functions, because Playwright's synchronous side is the one that reads well; whatever is async here
is done on that thread.
"""

import asyncio
import shlex
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from horae.cli.program import build
from horae.client.client import Client
from horae.model.roles import Role
from horae.testing.database import cloned_database
from horae.testing.stack import Stack, running_stack
from horae.testing.waiting import wait_for
from horae.wire.access import KeyCreate, TenantCreate
from horae.wire.jobs import JobRequest

T = TypeVar("T")
APP = f"{Path(__file__).with_name('console_app.py')}:app"
WORKER = "w1"
ENDED = {"succeeded", "failed", "cancelled", "expired", "dropped"}


def understood(commands: str) -> str:
    """Commands that a page shows, a line each, once the command line has read them without complaint."""
    for line in commands.splitlines():
        program, *words = shlex.split(line)
        assert program == "horae"
        build().parse_args(words, print_error=False, exit_on_error=False)
    return commands


class House:
    """A Horae that a browser looks at. `client` has the rights of an admin of all tenants."""

    def __init__(self, folder: Path, stack: Stack, loop: asyncio.AbstractEventLoop) -> None:
        self.folder = folder
        self.stack = stack
        self.client: Client = stack.client()
        self._loop = loop
        self._keys: dict[tuple[Role, str | None], str] = {(Role.ADMIN, None): stack.keys[Role.ADMIN]}

    @property
    def url(self) -> str:
        return self.stack.url

    def do(self, work: "Coroutine[Any, Any, T]") -> T:
        """Runs something async of the stack to its end."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(120)

    def until(self, condition: Callable[[], T], what: str = "") -> T:
        return self.do(wait_for(condition, 60, interval=0.1, what=what))

    def key(self, role: Role = Role.ADMIN, tenant: str | None = None) -> str:
        """A key of a role, of a tenant or of none; a tenant that is new is made."""
        if (role, tenant) not in self._keys:
            if tenant is not None and tenant not in {t.name for t in self.client.tenants().items}:
                self.client.create_tenant(TenantCreate(name=tenant))
            name = f"{tenant or 'root'}-{role}"
            self._keys[role, tenant] = self.client.create_key(KeyCreate(name=name, role=role, tenant=tenant)).secret
        return self._keys[role, tenant]

    def submit(self, task: str, /, params: dict[str, Any] | None = None, **options: Any) -> str:
        """The id of a new job."""
        return str(self.client.submit(JobRequest(task=task, params=params or {}, **options)).id)

    def run(self, task: str, /, params: dict[str, Any] | None = None, **options: Any) -> str:
        """The id of a new job that has ended."""
        job_id = self.submit(task, params, **options)
        self.until(lambda: self.client.job(job_id).state.value in ENDED, f"the end of {task}")
        return job_id

    def holding(self, name: str = "gate") -> tuple[str, Path]:
        """A job that runs until the file is there: `path.touch()` lets it go."""
        path = self.folder / f"{name}.release"
        job_id = self.submit("hold", {"until": str(path)})
        self.until(lambda: self.client.job(job_id).state == "running", "a running job")
        return job_id, path

    def stop_server(self) -> None:
        self.do(self.stack.servers.pop().stop())

    def start_server(self) -> None:
        """At the same address as before."""
        self.do(self.stack.server())


@contextmanager
def open_house(cluster_dsn: str, folder: Path) -> Iterator[House]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="house", daemon=True)
    thread.start()
    over = asyncio.Event()
    opened: asyncio.Queue[Stack] = asyncio.Queue()
    living = asyncio.run_coroutine_threadsafe(_live(cluster_dsn, folder, opened, over), loop)
    try:
        first = asyncio.run_coroutine_threadsafe(_first(opened, asyncio.wrap_future(living, loop=loop)), loop)
        yield House(folder, first.result(120), loop)
    finally:
        loop.call_soon_threadsafe(over.set)
        living.result(120)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _live(cluster_dsn: str, folder: Path, opened: "asyncio.Queue[Stack]", over: asyncio.Event) -> None:
    async with cloned_database(cluster_dsn) as dsn, running_stack(dsn, folder) as stack:
        await stack.server()
        await stack.worker(WORKER, APP)
        await stack.until_joined(WORKER)
        opened.put_nowait(stack)
        await over.wait()


async def _first(opened: "asyncio.Queue[Stack]", living: "asyncio.Future[None]") -> Stack:
    """The stack once it stands, or why it does not."""
    stack = asyncio.ensure_future(opened.get())
    await asyncio.wait({stack, living}, return_when=asyncio.FIRST_COMPLETED)
    if not stack.done():
        stack.cancel()
        await living
    return await stack
