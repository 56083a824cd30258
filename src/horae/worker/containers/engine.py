"""A container engine, by its command line: podman and docker take the same words for nearly all we need.

Its programs get the agent's environment without what is Horae's own, and never a variable of a job: engines, their
libraries and the loader listen to many of those, and would do on the host what a job tells them.
"""

import asyncio
import contextlib
import os
import signal
from typing import Final, NamedTuple

import msgspec

from horae.worker.errands.quarters import MARK

FAILED: Final = 125
"""The exit status when the engine itself failed, and not what it ran."""
_PATIENCE: Final = 60.0


class Answer(NamedTuple):
    status: int
    out: str
    err: str

    @property
    def words(self) -> str:
        """Why it failed, for people."""
        return complaint(self.err) or complaint(self.out) or f"exit status {self.status}"


class Engine(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    program: str
    options: tuple[str, ...] = ()
    """That it needs on this host to run anything."""
    runtime: str = ""
    rootless: bool = False
    nests: bool = False
    """Whether it takes a control group of ours as the parent of the container's own."""
    mark: str | None = None
    """Of what is run for the agent itself and not for one errand, so that it does not outlive the agent."""

    @property
    def podman(self) -> bool:
        return self.name == "podman"

    @property
    def isolation(self) -> str:
        return f"{self.name}+{self.runtime}+seccomp+cgroup"

    @property
    def init(self) -> str:
        """Where a container that is run with `--init` has that program."""
        return "/run/podman-init" if self.podman else "/sbin/docker-init"

    def command(self, *words: str) -> list[str]:
        return [self.program, *self.options, *words]

    def run(self, *words: str) -> list[str]:
        """Podman has the runtime among its own options, docker among those of a container."""
        return ["run", "--init", *(() if self.podman else (f"--runtime={self.runtime}",)), *words]

    async def call(self, *words: str, given: bytes | None = None, patience: float = _PATIENCE) -> Answer:
        """Runs one of its commands to the end."""
        process = await asyncio.create_subprocess_exec(
            *self.command(*words),
            stdin=asyncio.subprocess.DEVNULL if given is None else asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environment(self.mark),
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(patience):
                out, err = await process.communicate(given)
        except TimeoutError:
            return Answer(FAILED, "", f"{self.name} {words[0]} did not answer within {patience:g} s")
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        return Answer(process.returncode or 0, out.decode(errors="replace"), err.decode(errors="replace"))

    async def remove(self, name: str) -> None:
        """The container with that name, running or not, if there is one."""
        # A container without a name that fits is no error with `--force`; with `--volumes` its anonymous ones go too.
        await self.call("rm", "--force", "--volumes", *(("--time", "0") if self.podman else ()), name)


def environment(mark: str | None = None) -> dict[str, str]:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("HORAE_")}
    return variables if mark is None else {**variables, MARK: mark}


def complaint(text: str) -> str:
    """What an engine gives as the reason, among its warnings and hints; else its last words."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    found = [line for line in lines if line.startswith(("Error", "docker: "))] or lines
    return found[-1][:1000] if found else ""
