"""The network of a worker by the kernel: packets are lost, in one direction, both, or by chance.

A proxy only sees connections; here TCP itself finds out. The worker is started again in a network namespace with one
wire to the servers, on which nftables drops packets. What it runs meanwhile are functions: services that HTTP jobs
call are not on that wire.
"""

import asyncio
import os
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from shutil import which
from typing import Final, NamedTuple
from uuid import uuid4

from chaos.part import Part, Start
from chaos.world import World, to_any

from .fault import Act, Fault

SHORT: Final = (0.5, 3.0)
LONG: Final = (7.0, 9.0)
"""Longer than the lease of the suite."""
LOSS: Final = "numgen random mod 100 < 5"


def missing() -> str | None:
    if os.geteuid() != 0:
        return "network namespaces need root"
    lacking = [program for program in ("ip", "nft", "nsenter") if which(program) is None]
    return f"network namespaces need {', '.join(lacking)} (Debian: apt install iproute2 nftables)" if lacking else None


class Wire(NamedTuple):
    """A namespace and what leads into it."""

    name: str
    host: str
    """The address of our end."""
    peer: str

    async def lay(self) -> None:
        await run("ip", "netns", "add", self.name)
        await run("ip", "link", "add", self.name, "type", "veth", "peer", "name", "wire", "netns", self.name)
        await run("ip", "address", "add", f"{self.host}/30", "dev", self.name)
        await run("ip", "link", "set", self.name, "up")
        for words in (f"address add {self.peer}/30 dev wire", "link set wire up", "link set lo up"):
            await run("ip", "-netns", self.name, *words.split())

    async def drop(self, rules: tuple[str, ...]) -> None:
        """From now on packets are lost by these rules, each `direction condition`."""
        await self._nft("add table ip chaos")
        for rule in rules:
            direction, _, condition = rule.partition(" ")
            await self._nft(f"add chain ip chaos {direction} {{ type filter hook {direction} priority 0; }}")
            await self._nft(f"add rule ip chaos {direction} {condition} drop")

    async def heal(self) -> None:
        await self._nft("delete table ip chaos")

    async def _nft(self, words: str) -> None:
        await run("ip", "netns", "exec", self.name, "nft", words)

    async def remove(self) -> None:
        await run("ip", "link", "delete", self.name)
        await run("ip", "netns", "delete", self.name)


async def run(*command: str) -> None:
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    _, words = await process.communicate()
    assert process.returncode == 0, f"{' '.join(command)}: {words.decode()}"


@asynccontextmanager
async def wired(world: World, worker: Part, chance: random.Random) -> AsyncIterator[Wire]:
    net = f"10.213.{chance.randrange(256)}"
    first = chance.randrange(64) * 4
    wire = Wire(f"chaos{uuid4().hex[:8]}", f"{net}.{first + 1}", f"{net}.{first + 2}")
    async with worker.lock:
        await wire.lay()
        proxy = world.board.proxy(to_any(world.addresses), wire.host)
        try:
            prefix = (which("nsenter") or "nsenter", f"--net=/run/netns/{wire.name}", "--")
            await worker.restart(Start(prefix=prefix, options={"--url": proxy.url, "--kinds": None}))
            await world.until_joined(worker)
            yield wire
        finally:
            await worker.restart()
            world.board.remove(proxy)
            await wire.remove()


def lose(rules: tuple[str, ...], seconds: tuple[float, float]) -> Act:
    async def act(world: World, chance: random.Random) -> None:
        async with wired(world, chance.choice(world.workers), chance) as wire:
            await wire.drop(rules)
            await asyncio.sleep(chance.uniform(*seconds))
            await wire.heal()
            await asyncio.sleep(1)

    return act


def fault(name: str, rules: tuple[str, ...], seconds: tuple[float, float]) -> Fault:
    return Fault(name, lose(rules, seconds), weight=0.2, lacking=missing)


NAMESPACES: Final = (
    fault("partition.both", ("output", "input"), SHORT),
    fault("partition.both.long", ("output", "input"), LONG),
    fault("partition.requests", ("output",), SHORT),
    fault("partition.answers", ("input",), SHORT),
    fault("partition.answers.long", ("input",), LONG),
    fault("packets.lost", (f"output {LOSS}", f"input {LOSS}"), LONG),
)
