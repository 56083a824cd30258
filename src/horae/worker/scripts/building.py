"""Installs what a Python script requires, with uv: a job of its own in the sandbox, the network granted for just that.

Nothing is shared with the making of another environment, uv's cache neither: code that a package runs while it is built
reaches only those who ask for the same set of requirements.
"""

import asyncio
import contextlib
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from horae.model.errors import InvalidInput
from horae.model.states import End
from horae.model.work import JobError
from horae.worker.errands.errand import Errand, Outcome
from horae.worker.errands.narrator import Narrator
from horae.worker.sandbox.bubblewrap import Cell
from horae.worker.sandbox.limits import Bounds
from horae.worker.sandbox.sandbox import Sandbox
from horae.worker.sandbox.verdicts import judge
from horae.worker.scripts.plan import ENVIRONMENT, INSIDE

_BOUNDS: Final = Bounds(cpu=2.0, memory=4 * 2**30, processes=256, open_files=4096, disk=3 * 2**30)
_UV: Final = "/run/uv"
_CACHE: Final = ".cache"
_STEPS: Final = """
uv=$1 python=$2 home=$3; shift 3
"$uv" venv --quiet --relocatable --allow-existing --python "$python" "$home" || exit
"$uv" pip install --quiet --compile-bytecode --python "$home/bin/python" -- "$@" || exit
rm -rf "$home/.cache"
"""
_INDEXES: Final = ("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_OFFLINE")
"""Settings of the agent that reach uv: where the operator wants packages to come from."""


class Builder:
    def __init__(self, sandbox: Sandbox, environ: Mapping[str, str], *, shut_in: bool) -> None:
        self._sandbox = sandbox
        self._shut_in = shut_in
        self._settings = {name: environ[name] for name in _INDEXES if name in environ}

    async def build(self, errand: Errand, requirements: Sequence[str], python: str, target: Path) -> Outcome | None:
        """None once the target has the environment, else how the errand ends."""
        cell = self._cell(requirements, python, target)
        run = await self._sandbox.run(Narrator(errand), cell, errand.mark)
        outcome = judge(run.ended, run.status, run.facts)
        if run.box is not None:
            with contextlib.closing(run.box):
                if outcome.end is End.SUCCEEDED:
                    await asyncio.to_thread(run.box.take, target, _BOUNDS.disk, links=True)
        if outcome.end is End.SUCCEEDED:
            return None
        outcome.usage = run.usage
        if run.ended.order is None and outcome.error is not None:
            outcome.error = JobError("requirements", f"could not be installed: {outcome.error.message}")
        return outcome

    def _cell(self, requirements: Sequence[str], python: str, target: Path) -> Cell:
        uv, home = _find_uv(), ENVIRONMENT if self._shut_in else str(target)
        command = ["/bin/sh", "-c", _STEPS, "sh", _UV if self._shut_in else uv, python, home, *requirements]
        own = {
            "PATH": INSIDE.path,
            "HOME": home,
            "UV_CACHE_DIR": f"{home}/{_CACHE}",
            "UV_NO_CONFIG": "1",
            "UV_PYTHON_DOWNLOADS": "never",
        }
        return Cell(
            command=command,
            environment=self._settings | own,
            bounds=_BOUNDS,
            shown={_UV: Path(uv)} | {path: Path(path) for path in self._local_indexes()},
            network=True,
            executable=True,
            output=home,
        )

    def _local_indexes(self) -> list[str]:
        words = [word.removeprefix("file://") for value in self._settings.values() for word in value.split()]
        return [word for word in words if word.startswith("/") and Path(word).exists()]


def _find_uv() -> str:
    with contextlib.suppress(ImportError, FileNotFoundError):
        import uv

        return str(uv.find_uv_bin())
    found = shutil.which("uv")
    if found is None:
        raise InvalidInput("this worker has no uv to install requirements with: pip install 'horae[scripts]'")
    return found
