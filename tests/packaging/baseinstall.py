"""The wheel, and a virtual environment with it and its base dependencies only: no [server]."""

import re
import shutil
import subprocess
import venv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


class BaseInstall(NamedTuple):
    wheel: Path
    programs: Path

    def run(
        self, program: str, *arguments: str, env: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        command = [str(self.programs / program), *arguments]
        return subprocess.run(
            command, cwd=self.wheel.parent, env=env, capture_output=True, text=True, check=False, timeout=300
        )

    @contextmanager
    def running(self, program: str, *arguments: str, env: Mapping[str, str]) -> Iterator[None]:
        with subprocess.Popen([str(self.programs / program), *arguments], env=env) as process:
            try:
                yield
            finally:
                process.terminate()


def install(folder: Path) -> None:
    """Takes about 20 seconds; the versions are those of the lock. What a failed attempt has left there goes."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir()
    venv.create(folder / "venv", with_pip=True)
    constraints = folder / "constraints.txt"
    # Without the hashes, which pip would then demand of our wheel as well.
    pinned = re.findall(r"^[\w.-]+==[^\s\\;]+", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    constraints.write_text("\n".join(pinned))
    _pip(folder, "wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT))
    _pip(folder, "install", "--constraint", str(constraints), str(_wheel(folder)))


def find(folder: Path) -> BaseInstall:
    return BaseInstall(_wheel(folder), folder / "venv" / "bin")


def _wheel(folder: Path) -> Path:
    (wheel,) = folder.glob("horae-*.whl")
    return wheel


def _pip(folder: Path, *arguments: str) -> None:
    command = [str(folder / "venv/bin/python"), "-m", "pip", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
