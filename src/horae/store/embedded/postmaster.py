"""One running PostgreSQL as our own child process, from launch to reaping.

It is not a daemon: it ends when we end (see launch.py). The thread that launches it must live as long as it shall, for
Linux counts the death of that thread as the parent's. It has a session of its own, so that Ctrl-C in a terminal reaches
Horae alone, which then finishes its work before it stops the database.

Its log comes through a pipe, into a file of bounded size, and the last lines stay at hand for error messages.
"""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from concurrent.futures import Future
from pathlib import Path
from typing import Literal

import psutil
import structlog

from horae.store.embedded import launch
from horae.store.embedded.account import Account

Mode = Literal["smart", "fast", "immediate"]

SIGNALS: dict[Mode, signal.Signals] = {"smart": signal.SIGTERM, "fast": signal.SIGINT, "immediate": signal.SIGQUIT}
LOG_LIMIT = 10 * 1024 * 1024
STATE_LINE = 7
PATIENCE = 60.0
"""Seconds that a shutdown may take before a harsher one is tried."""

log = structlog.get_logger(__name__)


class Postmaster:
    """`recent` are the last lines of its log."""

    def __init__(self, command: list[str], account: Account, log_file: Path) -> None:
        self.recent: deque[str] = deque(maxlen=20)
        self._log_file = log_file
        self._exit: Future[int] = Future()
        identity = [str(number) for number in (account.uid, account.gid, os.getpid())]
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(launch.__file__), *identity, *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            cwd="/",
            env={"LC_ALL": "C", "PATH": os.defpath},
        )
        threading.Thread(target=self._keep_log, name="postgresql-log", daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def ended(self) -> bool:
        return self._exit.done()

    async def wait(self) -> int:
        """The exit code, once the server and all of its processes are gone: only then does the log's pipe close."""
        return await asyncio.shield(asyncio.wrap_future(self._exit))

    async def stop(self, mode: Mode) -> None:
        """Ask as told, and if that takes too long, ask harder: nothing acknowledged is lost by any of these."""
        for sign in (SIGNALS[mode], signal.SIGQUIT, signal.SIGKILL):
            self._process.send_signal(sign)
            try:
                async with asyncio.timeout(PATIENCE):
                    await self.wait()
            except TimeoutError:
                log.warning("postgresql_does_not_stop", pid=self.pid, signal=sign.name)
            else:
                return

    def _keep_log(self) -> None:
        pipe = self._process.stderr
        assert pipe is not None  # noqa: S101 the line above asked for a pipe
        with pipe:
            for line in pipe:
                self.recent.append(line.decode(errors="replace").rstrip())
                self._write(line)
        self._exit.set_result(self._process.wait())

    def _write(self, line: bytes) -> None:
        """A full disk must not stop the reading: PostgreSQL would wait for ever to log."""
        try:
            if self._log_file.exists() and self._log_file.stat().st_size > LOG_LIMIT:
                self._log_file.replace(self._log_file.with_suffix(".log.1"))
            with self._log_file.open("ab") as file:
                file.write(line)
        except OSError:
            pass


async def stop_orphan(pgdata: Path) -> None:
    """Stop a PostgreSQL that outlived its Horae, so that this one can take over. We hold the lock: it has no owner."""
    orphan = find_orphan(pgdata)
    if orphan is None:
        return
    log.warning("stopping_orphaned_postgresql", pid=orphan.pid, data=str(pgdata))
    for sign in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
        if await _gone_after(orphan, sign):
            return


def is_ready(pgdata: Path, pid: int) -> bool:
    """What pg_ctl itself looks at: the server keeps its state in the last line of its pid file."""
    try:
        lines = (pgdata / "postmaster.pid").read_text().split("\n")
    except FileNotFoundError:
        return False
    return lines[0] == str(pid) and len(lines) > STATE_LINE and lines[STATE_LINE].strip() == "ready"


def find_orphan(pgdata: Path) -> psutil.Process | None:
    try:
        pid = int((pgdata / "postmaster.pid").read_text().split("\n")[0])
        process = psutil.Process(pid)
        # The number may have been given to another program since; PostgreSQL works inside of its data folder.
        return process if Path(process.cwd()) == pgdata else None
    except (FileNotFoundError, ValueError, psutil.Error):
        return None


async def _gone_after(process: psutil.Process, sign: signal.Signals) -> bool:
    deadline = time.monotonic() + PATIENCE
    try:
        process.send_signal(sign)
    except psutil.NoSuchProcess:
        return True
    while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.02)
    return True
