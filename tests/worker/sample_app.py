"""Tasks that do what tasks do, good and bad. Runs in the worker's children."""

import asyncio
import contextlib
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from horae.client.app import App
from horae.client.context import Context
from horae.client.outcomes import Fatal, Retry

app = App()


def _wait_for(path: str) -> None:
    while not Path(path).exists():
        time.sleep(0.005)


@app.task()
def nothing() -> None: ...


@app.task()
def add(a: int, b: int) -> int:
    return a + b


@app.task()
def pid() -> int:
    return os.getpid()


@app.task()
def fail(text: str) -> None:
    raise ValueError(text)


@app.task()
def fail_for_good() -> None:
    raise Fatal("useless")


@app.task()
def ask_again() -> None:
    raise Retry("busy", after="30s")


@app.task()
def say(text: str) -> None:
    print(text)


@app.task()
def talk_and_wait(path: str) -> None:
    print("now")
    print("half a line", end="", flush=True)
    _wait_for(path)
    print(", the other half")


@app.task()
def say_on_both(text: str) -> None:
    print(text)
    logging.getLogger("mine").info("%s", text)


@app.task()
def say_by_subprocess(text: str) -> None:
    subprocess.run(["echo", text], check=True)


@app.task()
def flood(lines: int) -> None:
    print("the beginning")
    line = "x" * 1_000_000 + "\n"
    for _ in range(lines):
        sys.stdout.write(line)
    print("the end")


@app.task()
def bytes_that_are_no_text() -> None:
    os.write(1, b"ok \xff \x00 end\n")
    time.sleep(0.2)  # What goes past sys.stdout is no job's own: it counts for the one that runs when it is read.


@app.task()
def close_stdout() -> None:
    print("before")
    sys.stdout.close()


@app.task()
def exit_politely() -> None:
    sys.exit(3)


@app.task()
def die() -> None:
    print("last words", file=sys.stderr)
    os._exit(7)


@app.task()
def be_killed() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


@app.task()
def append(path: str, text: str) -> None:
    with Path(path).open("a") as file:
        file.write(text + "\n")


@app.task()
def crash_if(path: str, number: int, crash: bool) -> int:
    if crash:
        os._exit(1)
    with Path(path).open("a") as file:
        file.write(f"{number}\n")
    return number


@app.task()
def wait_if(path: str, wait: bool) -> int:
    if wait:
        _wait_for(path)
    return os.getpid()


@app.task()
def wait_for(path: str) -> str:
    _wait_for(path)
    return "waited"


@app.task()
def tidy(path: str) -> None:
    try:
        Path(path).write_text("started")
        time.sleep(600)
    finally:
        Path(path).write_text("tidied")


@app.task()
def stubborn(path: str) -> None:
    """Ignores SIGTERM and leaves a grandchild in a session of its own that does so too."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    stray = (
        "import os,signal,sys,time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "if os.fork(): sys.exit()\n"
        "os.setsid()\n"
        "if os.fork(): os._exit(0)\n"
        f"open({path!r} + '.new', 'w').write(str(os.getpid()))\n"
        f"os.rename({path!r} + '.new', {path!r})\n"
        "time.sleep(600)\n"
    )
    subprocess.run([sys.executable, "-S", "-c", stray], check=True)
    while True:
        with contextlib.suppress(BaseException):
            time.sleep(600)


@app.task()
def leave_a_process(path: str) -> None:
    process = subprocess.Popen(["sleep", "600"])
    Path(path).write_text(str(process.pid))


@app.task()
def leave_a_daemon(path: str) -> None:
    """In a session of its own, below a parent that is gone."""
    command = f"setsid sleep 600 & echo $! > {path}.new; mv {path}.new {path}"
    subprocess.run(["sh", "-c", command], check=True)


@app.task()
def fork_and_return() -> int:
    return 1 if os.fork() == 0 else 2


@app.task()
def watch_flag(ctx: Context) -> str:
    seen = threading.Event()
    try:
        while not ctx.cancelled:
            time.sleep(0.01)
    finally:
        seen.set()
    return "unreachable"


@app.task()
def not_json() -> Any:
    return object()


@app.task()
def large(size: int) -> str:
    return "x" * size


@app.task()
def report_progress(gate: str, ctx: Context) -> None:
    for done in range(50):
        ctx.progress(done, 100, "half")
    _wait_for(gate)


@app.task()
def save(ctx: Context) -> Any:
    before = ctx.saved
    ctx.checkpoint({"page": 7})
    return before


@app.task()
def burn() -> None:
    until = time.process_time() + 0.1
    while time.process_time() < until:
        pass


@app.task()
async def meet(count: int) -> int:
    """Ends when that many run side by side."""
    meet.waiting = getattr(meet, "waiting", 0) + 1
    while meet.waiting < count:  # noqa: ASYNC110
        await asyncio.sleep(0.005)
    return os.getpid()


@app.task()
async def say_slowly(text: str) -> None:
    for _ in range(5):
        print(text, end="")
        await asyncio.sleep(0.01)
    print()


@app.task()
async def sleep_long(path: str) -> None:
    try:
        Path(path).write_text("started")
        await asyncio.sleep(600)
    finally:
        Path(path).write_text("tidied")


@app.task()
async def deaf(path: str) -> None:
    Path(path).write_text("started")
    while True:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(600)
