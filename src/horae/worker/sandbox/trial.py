"""Proves at the start that the sandbox holds on this host, instead of believing that it should."""

import asyncio
from typing import Final

from horae.model.errors import SetupError
from horae.worker.errands.errand import StopOrder
from horae.worker.sandbox.bubblewrap import Cell
from horae.worker.sandbox.limits import Bounds
from horae.worker.sandbox.sandbox import Run, Sandbox

_EXPECTED: Final = {"Seccomp": "2", "NoNewPrivs": "1", "CapEff": "0000000000000000", "CapBnd": "0000000000000000"}
_SECONDS: Final = 20.0


class Bystander:
    """Stands for an errand where there is none."""

    def __init__(self) -> None:
        self.stop: asyncio.Future[StopOrder] = asyncio.get_running_loop().create_future()
        self.written = b""

    def write(self, stream: str, data: bytes) -> None:
        if stream == "stdout":
            self.written += data

    def guard(self, pid: int) -> None: ...
    def unguard(self, pid: int) -> None: ...


async def try_out(sandbox: Sandbox, agent: str) -> None:
    """Raises SetupError with what is wrong and what to do."""
    bystander = Bystander()
    cell = Cell(command=["/bin/cat", "/proc/self/status"], environment={}, bounds=Bounds())
    try:
        async with asyncio.timeout(_SECONDS):
            run = await sandbox.run(bystander, cell, mark=f"{agent}/trial/0")
    except TimeoutError as error:
        raise SetupError(f"the sandbox did not start within {_SECONDS:g} s") from error
    if run.box is not None:
        run.box.close()
    _check(run, bystander.written.decode(errors="replace"))


def _check(run: Run, status_file: str) -> None:
    if run.status != 0:
        words = run.ended.last_words.decode(errors="replace").strip() or f"exit status {run.ended.status}"
        raise SetupError(
            f"the sandbox does not work on this host: {words}. Unprivileged user namespaces must be allowed "
            "(sysctl kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns)"
        )
    said = dict(line.split(":", 1) for line in status_file.splitlines() if ":" in line)
    for name, value in _EXPECTED.items():
        if said.get(name, "").strip() != value:
            raise SetupError(f"the sandbox does not hold: {name} is {said.get(name, 'missing').strip()}, not {value}")
