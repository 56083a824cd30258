"""Runs containers as an agent does, without a server, from an image made of one static program."""

import io
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

from horae.model.kinds import Container, Kind
from horae.model.task import TaskDefinition
from horae.worker.containers import ContainerRunner
from horae.worker.containers.engine import Engine
from horae.worker.containers.settings import ContainerSettings
from horae.worker.errands.quarters import Quarters
from worker.scripts.house import Done, Recorder

APPLETS = (
    "cat chmod cp cut date dd echo env false grep head hostname id ip kill ln ls mkdir mkfifo mknod mount mv nc ps"
    " readlink rm seq sh sleep sort stat tail tee test touch tr true ulimit unlink wc wget yes"
)


def missing() -> str | None:
    """What the host lacks for these tests."""
    wanted = {"podman": "podman", "busybox": "busybox-static"}
    lacking = [package for program, package in wanted.items() if shutil.which(program) is None]
    return f"not installed: {', '.join(lacking)}" if lacking else None


def make_root(folder: Path) -> None:
    for name in ("bin", "etc", "tmp", "proc", "sys", "dev", "run", "home"):
        (folder / name).mkdir(parents=True)
    (folder / "tmp").chmod(0o1777)
    shutil.copy(shutil.which("busybox"), folder / "bin/busybox")
    for applet in APPLETS.split():
        (folder / "bin" / applet).symlink_to("busybox")


def add_python(root: Path) -> None:
    """The interpreter that runs these tests, with what it needs to make calls of the kernel."""
    base, version = Path(sys.base_prefix), f"python{sys.version_info.major}.{sys.version_info.minor}"
    unwanted = shutil.ignore_patterns(
        "test", "site-packages", "__pycache__", "idlelib", "tkinter", "ensurepip", "config-*"
    )
    shutil.copytree(base / "lib" / version, root / "python/lib" / version, ignore=unwanted)
    program = root / "python/bin" / version
    program.parent.mkdir()
    shutil.copy(os.path.realpath(sys.executable), program)
    for file in (program, *root.glob("python/lib/*/lib-dynload/_ctypes.*")):
        _add_libraries(file, root)


def _add_libraries(file: Path, root: Path) -> None:
    """Where the loader looks for them."""
    listed = subprocess.run(["ldd", str(file)], capture_output=True, text=True, check=True).stdout
    for path in {word for word in listed.split() if word.startswith("/")}:
        target = root / path[1:]
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(os.path.realpath(path), target)


def archive(root: Path) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as opened:
        opened.add(root, arcname=".")
    return file.getvalue()


def call(engine: Engine, *words: str) -> str:
    return subprocess.run(engine.command(*words), capture_output=True, text=True, check=False).stdout


class House:
    def __init__(self, state: Path, image: str, *, sandboxed: bool = True, **settings: Any) -> None:
        self.image = image
        self.quarters = Quarters(state, () if sandboxed else [Kind.CONTAINER])
        self.runner = ContainerRunner(self.quarters, ContainerSettings(**settings))

    @property
    def engine(self) -> Engine:
        return self.runner._engine

    def errand(self, *command: str, params: Any = None, **fields: Any) -> Recorder:
        """Fields of the container, of the task, or of the errand."""
        names = ("image", "entrypoint", "workdir", "pull", "result")
        of_container = {name: fields.pop(name) for name in names if name in fields}
        of_errand = {name: fields.pop(name) for name in ("checkpoint", "attempt") if name in fields}
        if "given_secrets" in fields:
            of_errand["secrets"] = fields.pop("given_secrets")
        container = Container(**{"image": self.image, **of_container}, command=list(command))
        return Recorder(
            self.quarters, TaskDefinition(name="t", container=container, **fields), params or {}, **of_errand
        )

    async def run(self, *command: str, **fields: Any) -> Done:
        errand = self.errand(*command, **fields)
        return Done(errand, await self.runner.run(errand))

    async def shell(self, script: str, **fields: Any) -> Done:
        return await self.run("sh", "-c", script, **fields)

    def left_of(self, errand: Recorder) -> list[str]:
        """What must not be there after a run."""
        mounts = [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(errand.folder) in line]
        groups = [str(path) for path in Path("/sys/fs/cgroup").glob(f"**/*{errand.grant.id}*")]
        found = call(self.engine, "ps", "--all", "--quiet", f"--filter=label=horae.errand={errand.mark}").split()
        monitors = [line for line in _command_lines() if errand.grant.id in line]
        return [*mounts, *groups, *found, *monitors, *map(str, errand.processes), *map(str, errand.guarded)]


def _command_lines() -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found.append((entry / "cmdline").read_bytes().decode(errors="replace"))
            except OSError:
                continue
    return found
