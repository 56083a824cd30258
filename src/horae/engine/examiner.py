"""Has schemas examined in processes of their own, each question within a second: what takes longer is refused.

There are few of them, started when they are needed. Of one tenant only one question is under way at a time, so that a
tenant with heavy schemas waits for itself first.
"""

import asyncio
import contextlib
import os
import sys
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

import msgspec

from horae.engine.examination import Answer, Question, frame
from horae.model.errors import InvalidParams, Overloaded

SECONDS: Final = 1.0
AT_ONCE: Final = 2
MOST_WAITING: Final = 200
"""Questions of one tenant."""
_START_SECONDS: Final = 10.0
"""Beyond its own, for a process that must be started first, on a host that is busy."""
_PROGRAM: Final = ("-m", "horae.engine.examination")
_answer = msgspec.json.Decoder(Answer)


class Examiner:
    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._places = asyncio.Semaphore(AT_ONCE)
        self._turns: defaultdict[int, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._waiting: Counter[int] = Counter()
        self._idle: list[asyncio.subprocess.Process] = []

    async def wrong_with(self, tenant_id: int, schema: Mapping[str, Any]) -> str | None:
        """None: it is a schema."""
        answer = await self._ask(tenant_id, schema, None)
        return f"cannot be read within {self._seconds:g} s: make it simpler" if answer is None else answer.wrong

    async def faults(
        self, tenant_id: int, schema: Mapping[str, Any], params: Mapping[str, Any]
    ) -> list[dict[str, str]]:
        answer = await self._ask(tenant_id, schema, msgspec.json.encode(params).decode())
        if answer is None:
            raise InvalidParams(
                f"the params cannot be checked against the schema of the task within {self._seconds:g} s: "
                "send less, or make the schema simpler"
            )
        return answer.faults if answer.wrong is None else [{"pointer": "/params", "detail": answer.wrong}]

    async def _ask(self, tenant_id: int, schema: Mapping[str, Any], params: str | None) -> Answer | None:
        """None: it took too long, or too much memory."""
        question = frame(Question(self._seconds, msgspec.json.encode(schema).decode(), params))
        async with self._turn(tenant_id):
            process = self._idle.pop() if self._idle else await _start()
            answer = None
            try:
                async with asyncio.timeout(self._seconds + _START_SECONDS):
                    answer = await _exchange(process, question)
            except (asyncio.IncompleteReadError, ConnectionError, TimeoutError):
                return None
            finally:
                if answer is None:
                    await _end(process)
            self._idle.append(process)
            return answer

    @contextlib.asynccontextmanager
    async def _turn(self, tenant_id: int) -> AsyncIterator[None]:
        if self._waiting[tenant_id] >= MOST_WAITING:
            raise Overloaded("too many schemas that take long are being checked; try again", retry_after=1)
        self._waiting[tenant_id] += 1
        try:
            async with self._turns[tenant_id], self._places:
                yield
        finally:
            self._waiting[tenant_id] -= 1
            if not self._waiting[tenant_id]:
                del self._waiting[tenant_id], self._turns[tenant_id]

    async def close(self) -> None:
        while self._idle:
            await _end(self._idle.pop())


async def _start() -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *_PROGRAM,
        stdin=pipe,
        stdout=pipe,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
        # It reads what strangers wrote, so it gets none of our settings: keys are among them.
        env={name: value for name, value in os.environ.items() if not name.startswith("HORAE_")},
    )


async def _exchange(process: asyncio.subprocess.Process, question: bytes) -> Answer:
    if process.stdin is None or process.stdout is None:
        raise AssertionError("it was started with pipes")
    process.stdin.write(question)
    await process.stdin.drain()
    length = int.from_bytes(await process.stdout.readexactly(4), "big")
    return _answer.decode(await process.stdout.readexactly(length))


async def _end(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()
