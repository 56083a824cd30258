"""A real `horae up` as a process, with everything in a folder of its own."""

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from horae.worker.sandbox.groups import sweep_everywhere

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0


class Installation:
    def __init__(self, folder: Path, *arguments: str, **environ: str) -> None:
        self.data = folder / "data"
        self.home = folder / "home"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("HORAE_", "XDG_"))}
        self.environ = kept | {"HOME": str(self.home)} | environ
        # Port 0: the system chooses a free one.
        self.command = [sys.executable, "-m", "horae.cli", "up", "--data", str(self.data), "--port", "0", *arguments]
        self.process: subprocess.Popen[str] | None = None
        self.lines: queue.Queue[str] = queue.Queue()
        self.output: list[str] = []
        self.url = ""

    @property
    def local_file(self) -> Path:
        return self.home / ".local/state/horae/local.json"

    def start(self) -> None:
        self.lines = queue.Queue()
        self.process = subprocess.Popen(
            self.command, cwd=ROOT, env=self.environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        threading.Thread(target=self._read, args=(self.process, self.lines), daemon=True).start()
        self.url = self.expect("Horae is up: ").split()[-1]

    def _read(self, process: "subprocess.Popen[str]", lines: "queue.Queue[str]") -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self.output.append(line)
            lines.put(line)
        lines.put("")

    def expect(self, words: str) -> str:
        """The next line of output with these words."""
        deadline = time.monotonic() + PATIENCE
        while line := self.lines.get(timeout=max(0.0, deadline - time.monotonic())):
            if words in line:
                return line
        raise AssertionError(f"it ended without {words!r}:\n{''.join(self.output)}")

    def run(self, *arguments: str, **options: object) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "horae.cli", *arguments]
        return subprocess.run(  # type: ignore[call-overload,no-any-return]
            command,
            cwd=ROOT,
            env=self.environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
            **options,
        )

    def wait_for_worker(self) -> None:
        until(lambda: '"active"' in self.run("workers", "--json").stdout)

    def processes(self) -> list[psutil.Process]:
        assert self.process is not None
        return psutil.Process(self.process.pid).children(recursive=True)

    def workers(self) -> list[psutil.Process]:
        return [process for process in self.processes() if {"horae.cli", "worker"} <= set(words(process))]

    def stop(self, sign: signal.Signals = signal.SIGTERM) -> int:
        assert self.process is not None
        self.process.send_signal(sign)
        return self.process.wait(PATIENCE)


@contextmanager
def installation(folder: Path, *arguments: str, **environ: str) -> Iterator[Installation]:
    it = Installation(folder, *arguments, **environ)
    it.home.mkdir(exist_ok=True)
    it.start()
    try:
        yield it
    finally:
        if it.process is not None and it.process.poll() is None:
            it.stop()
        for life in it.data.glob("worker/agents/*"):
            sweep_everywhere(life.name)  # Of workers that were killed: here is no next start that would do it.


def words(process: psutil.Process) -> list[str]:
    """Its command line; empty once it has ended."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.1)


def gone(processes: list[psutil.Process]) -> bool:
    return not psutil.wait_procs(processes, timeout=PATIENCE)[1]
