"""Where the blocks of one page run, as a reader would run them: one terminal, one folder, one Python, in order.

Shell variables stay from block to block. A block that begins with `# name.py` is that file. Programs that run until
Ctrl-C are started in the background and stopped at the end of the page. Of `horae up` only the worker is started, if
the page has written its app: database, server and the worker of the demo are there already.
"""

import contextlib
import io
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import psycopg

from cli.installation import until
from horae.cli.program import build
from horae.client.client import Client

from .answers import same_json, same_text
from .pages import Block

BLOCK_SECONDS = 90.0
SERVING = re.compile(r"horae (up|server|worker)\b")
ELSEWHERE = re.compile(r"(make |horae bench (?!list)|horae soak|horae jobs --watch)")
"""Commands with a test of their own in `test_docs_blocks`."""


class Stage:
    def __init__(self, folder: Path, environ: dict[str, str], dsn: str, hosts: dict[str, str]) -> None:
        """`dsn` is where SQL blocks run; `hosts` says where the hosts really are that a page invents."""
        self.folder = folder
        self.environ = environ
        self._dsn = dsn
        self._hosts = hosts
        self.printed = ""
        """By the last block that ran."""
        self._written: set[str] = set()
        self._names: dict[str, Any] = {"__name__": "__page__"}
        self._background: list[subprocess.Popen[bytes]] = []

    def run(self, block: Block) -> None:
        kinds: dict[str, Callable[[Block], None]] = {
            "sh": self._run_shell,
            "python": self._run_python,
            "sql": self._run_sql,
            "json": self._compare,
            "text": self._compare,
            "toml": self._write,
            "ini": self._write,
        }
        assert block.language in kinds, f"{block.place}: nobody knows how to check {block.language!r}"
        kinds[block.language](block)

    def _write(self, block: Block) -> None:
        assert block.file is not None, f"{block.place}: say which file this is in its first line"
        path = self.folder / block.file.removeprefix("~/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text)
        self._written.add(path.stem)

    def _run_python(self, block: Block) -> None:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            if block.file is not None:
                self._write(block)
                import_module(block.file.removesuffix(".py"))
            else:
                # So many empty lines before it that tracebacks show the page's own line.
                code = compile("\n" * (block.line - 1) + block.text, block.page, "exec")
                exec(code, self._names)
        self.printed = out.getvalue()

    def _run_sql(self, block: Block) -> None:
        with psycopg.connect(self._dsn, autocommit=True) as connection:
            rows = [connection.execute(part) for part in _statements(block.text)]
            self.printed = "\n".join(str(row[0]) for row in rows[-1]) if rows[-1].description else ""

    def _run_shell(self, block: Block) -> None:
        now: list[str] = []
        for line in self._located(block.text).splitlines():
            if not SERVING.match(line) and not ELSEWHERE.match(line):
                now.append(line)
                continue
            self._sh(block, "\n".join(now))
            now = []
            if SERVING.match(line):
                self._serve(line)
        self._sh(block, "\n".join(now))

    def _located(self, text: str) -> str:
        for invented, real in self._hosts.items():
            text = text.replace(invented, real)
        return text

    def _serve(self, line: str) -> None:
        check_arguments(line)
        app = re.search(r"--app (\S+)\.py:", line)
        if line.startswith("horae server"):
            self._start(line, self._client().ready)
        elif line.startswith("horae worker"):
            self._start_worker(line)
        elif app is not None and app[1] in self._written:
            self._start_worker(f"horae worker {app[0]}app")

    def _start_worker(self, line: str) -> None:
        before = self._workers()
        self._start(line, lambda: self._workers() > before)

    def _sh(self, block: Block, commands: str) -> None:
        """Variables are exported and kept, so that the next block of the page has them."""
        if not commands.strip():
            return
        kept = self.folder / ".variables"
        script = f"set -euao pipefail\n{commands}\nenv -0 > {shlex.quote(str(kept))}\n"
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.folder,
            env=self.environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=BLOCK_SECONDS,
        )
        assert done.returncode == 0, f"{block.place} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        self.printed = done.stdout
        self.environ = dict(pair.split("=", 1) for pair in kept.read_text().split("\0") if pair)

    def _start(self, line: str, ready: Callable[[], bool]) -> None:
        process = subprocess.Popen(["bash", "-c", f"exec {line}"], cwd=self.folder, env=self.environ)
        self._background.append(process)
        until(lambda: ready() or process.poll() is not None)
        assert process.poll() is None, f"`{line}` ended with {process.returncode}"

    def _client(self) -> Client:
        return Client(self.environ["HORAE_URL"], self.environ["HORAE_KEY"])

    def _workers(self) -> int:
        with self._client() as client:
            return len(client.workers().items)

    def _compare(self, block: Block) -> None:
        same = same_json if block.language == "json" else same_text
        assert same(block.text, self.printed), f"{block.place}: the block before it printed\n{self.printed}"

    def stop(self) -> None:
        """The last started first: workers before their server."""
        for process in reversed(self._background):
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0


@contextmanager
def staged(folder: Path, environ: dict[str, str], dsn: str, hosts: dict[str, str] | None = None) -> Iterator[Stage]:
    with _python_in(folder, environ):
        stage = Stage(folder, environ, dsn, hosts or {})
        try:
            yield stage
        finally:
            stage.stop()


@contextmanager
def _python_in(folder: Path, environ: dict[str, str]) -> Iterator[None]:
    """This Python as if it had been started there. Environment, path and modules are as before afterwards."""
    before, modules, path, here = dict(os.environ), set(sys.modules), list(sys.path), Path.cwd()
    _replace_environment(environ)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        _replace_environment(before)
        os.chdir(here)
        sys.path[:] = path
        for name in set(sys.modules) - modules:
            if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(folder)):
                del sys.modules[name]


def _replace_environment(environ: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environ)


def check_arguments(line: str) -> None:
    """The program takes these options, whether or not it is started here."""
    build().parse_args(shlex.split(line, comments=True)[1:], exit_on_error=False, print_error=False)


def _statements(text: str) -> list[str]:
    return [part for part in re.split(r";\s*$", text, flags=re.MULTILINE) if part.strip()]
