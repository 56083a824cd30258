"""Jobs that do what jobs must not do. Runs in the worker's children."""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from horae.client.app import App

app = App("bad")


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


class Deadly(Exception):
    def __str__(self) -> str:
        raise SystemExit("no words")


@app.task
def good(text: str = "good") -> str:
    """What any job may count on, whoever ran before it in the same process."""
    print(text)
    print(text, file=sys.stderr)
    assert Path.cwd().is_dir()
    assert subprocess.run(["true"], check=True).returncode == 0
    return text


@app.task
def tidy(path: str) -> None:
    try:
        time.sleep(600)
    finally:
        Path(path).write_text("tidied")


@app.task
def return_nonsense() -> Any:
    return object()


@app.task
def return_much() -> str:
    return "x" * 5_000_000


@app.task
def print_much() -> None:
    print("the beginning")
    line = "x" * 999 + "\n"
    for _ in range(200):
        sys.stdout.write(line * 1000)
    print("the end")


@app.task
def print_garbage() -> None:
    sys.stdout.buffer.write(b"nul \x00, not utf-8 \xff\xfe, colour \x1b[31mred\x1b[0m\n")


@app.task
def exit_by_sys() -> None:
    sys.exit("enough")


@app.task
def exit_by_os() -> None:
    print("last words", file=sys.stderr, flush=True)
    os._exit(7)


@app.task
def segfault() -> None:
    ctypes.string_at(0)


@app.task
def interrupt() -> None:
    raise KeyboardInterrupt


@app.task
def recurse() -> None:
    recurse()


@app.task
def exhaust_memory() -> None:
    bytearray(1 << 60)


@app.task
def raise_mute() -> None:
    raise Mute


@app.task
def raise_deadly() -> None:
    raise Deadly


@app.task
def fork_a_daemon() -> None:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for fd in range(3):
                os.close(fd)
            os.execve("/bin/sleep", ["sleep", "600"], {})
        os._exit(0)


@app.task
def leave_a_process() -> None:
    subprocess.Popen(["sleep", "600"])


@app.task
def close_output() -> None:
    sys.stdout.close()
    sys.stderr.close()
    os.close(1)
    os.close(2)


@app.task
def close_everything() -> None:
    os.closerange(3, 512)


@app.task
def remove_own_folder() -> None:
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    shutil.rmtree(folder)


@app.task
def ignore_sigterm() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


@app.task
def ignore_sigterm_and_stay() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(600)


@app.task
def start_endless_threads() -> None:
    for _ in range(20):
        threading.Thread(target=time.sleep, args=(600,)).start()
