"""Which engine of this host runs containers as we need them. Found out by running one, with every flag that jobs get.

Hosts differ in what works: a runtime may not know the host's control groups, systemd may not be there to manage them.
So each combination is tried, the one that worked last time first. The container of the trial has no programs; what it
runs is the small init that the engine puts into every container.
"""

import contextlib
import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import structlog

from horae.worker.containers.confinement import confine, limit
from horae.worker.containers.engine import Engine
from horae.worker.containers.settings import ENGINES, ContainerSettings
from horae.worker.sandbox.limits import Bounds

log = structlog.get_logger()
_RUNTIMES: Final = ("", "runc", "crun")
_PATIENCE: Final = 30.0
_REMEMBERED: Final = "containers.json"
_INSTALL: Final = "install podman (with runc or crun, conmon and catatonit) or docker"


class Found(NamedTuple):
    engine: Engine | None
    reason: str = ""


async def find_engine(settings: ContainerSettings, cache: Path, profile: Path, agent: str) -> Found:
    reasons = []
    for name in [settings.engine] if settings.engine else ENGINES:
        program = shutil.which(name)
        if program is None:
            reasons.append(f"{name} is not installed")
            continue
        found = await _find_way(Path(name).name, program, settings, cache, profile, agent)
        if found.engine is not None:
            return found
        reasons.append(found.reason)
    return Found(None, f"{'; '.join(reasons)}; {_INSTALL}")


async def _find_way(
    name: str, program: str, settings: ContainerSettings, cache: Path, profile: Path, agent: str
) -> Found:
    reason = ""
    for options in _ways(name, program, settings, cache):
        engine = Engine(name=name, program=program, options=options, mark=f"{agent}/engine/0")
        found = await _try_out(engine, settings, profile, agent)
        if found.engine is not None:
            _remember(cache, program, options)
            return found
        log.debug("container_engine_failed", command=engine.command(), reason=found.reason)
        reason = reason or found.reason
    return Found(None, f"{name} cannot run a container: {reason}")


def _ways(name: str, program: str, settings: ContainerSettings, cache: Path) -> Iterator[tuple[str, ...]]:
    """Options to try. A group manager of podman that takes our own groups comes first: they tell exactly what a job
    used."""
    ways = [
        (*manager, *((f"--runtime={runtime}",) if runtime else ()))
        for manager in ((("--cgroup-manager=cgroupfs",), ()) if os.geteuid() == 0 else ((),))
        for runtime in ([settings.runtime] if settings.runtime else _RUNTIMES)
    ]
    if name != "podman":
        ways = [()]  # Docker's daemon has its own settings; a runtime is named when a container is run.
    last = _recall(cache).get(program)
    if last is not None and tuple(last) in ways:
        yield tuple(last)
    yield from (way for way in ways if list(way) != last)


async def _try_out(engine: Engine, settings: ContainerSettings, profile: Path, agent: str) -> Found:
    """The engine with all that is known of it, if it holds what we need."""
    answer = await engine.call("info", "--format", "{{json .}}", patience=_PATIENCE)
    try:
        info = msgspec.json.decode(answer.out)
        known = _podman(engine, info) if engine.podman else _docker(engine, info, settings.runtime)
    except (msgspec.DecodeError, KeyError, TypeError):
        return Found(None, answer.words)
    if known.engine is None:
        return known
    reason = await _run_trial(known.engine, profile, agent)
    return Found(None, reason) if reason else known


def _podman(engine: Engine, info: dict[str, Any]) -> Found:
    host = info["host"]
    security = host["security"]
    missing = {"memory", "pids", "cpu"} - set(host["cgroupControllers"])
    if missing:
        return Found(None, f"it has no control groups for {', '.join(sorted(missing))}")
    if not security["seccompEnabled"]:
        return Found(None, "it was built without seccomp")
    nests = host["cgroupManager"] == "cgroupfs" and not security["rootless"]
    runtime = host["ociRuntime"]["name"]
    return Found(msgspec.structs.replace(engine, runtime=runtime, rootless=security["rootless"], nests=nests))


def _docker(engine: Engine, info: dict[str, Any], runtime: str | None) -> Found:
    if info.get("ServerErrors") or not info["ServerVersion"]:
        return Found(None, " ".join(info.get("ServerErrors") or ["its daemon does not answer"]))
    missing = [name for name in ("MemoryLimit", "PidsLimit", "CpuCfsQuota") if not info[name]]
    if missing:
        return Found(None, f"its daemon has no {', '.join(missing)}")
    options = info["SecurityOptions"] or []
    if not any("seccomp" in option for option in options):
        return Found(None, "its daemon has no seccomp")
    if any("rootless" in option for option in options):
        return Found(None, "its daemon is rootless, and would not share a folder with the job's user; use podman")
    return Found(msgspec.structs.replace(engine, runtime=runtime or info["DefaultRuntime"]))


async def _run_trial(engine: Engine, profile: Path, agent: str) -> str:
    """What went wrong; empty: nothing."""
    image = f"localhost/horae-trial-{agent}"
    with tempfile.TemporaryDirectory(prefix="horae-trial-") as folder:
        if engine.podman:
            return await _run_init(engine, profile, "--rootfs", f"{folder}:O")
        imported = await engine.call("import", "-", image, given=_empty_archive())
        if imported.status:
            return imported.words
        try:
            return await _run_init(engine, profile, image)
        finally:
            await engine.call("rmi", "--force", image)


async def _run_init(engine: Engine, profile: Path, *root: str) -> str:
    flags = *confine(engine, None, profile), *limit(engine, Bounds())
    run = engine.run("--rm", *flags, *root, engine.init, "--version")
    answer = await engine.call(*run)
    return answer.words if answer.status else ""


def _empty_archive() -> bytes:
    file = io.BytesIO()
    tarfile.open(fileobj=file, mode="w").close()
    return file.getvalue()


def _recall(cache: Path) -> dict[str, list[str]]:
    with contextlib.suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode((cache / _REMEMBERED).read_bytes(), type=dict[str, list[str]])
    return {}


def _remember(cache: Path, program: str, options: tuple[str, ...]) -> None:
    known = _recall(cache)
    if known.get(program) != list(options):
        new = cache / f"{_REMEMBERED}.{os.getpid()}"
        new.write_bytes(msgspec.json.encode({**known, program: list(options)}))
        new.replace(cache / _REMEMBERED)
