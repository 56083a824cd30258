"""Names to addresses, judged before anything is connected to.

The connector asks here once for each connection and connects to nothing but what it is given, so the address that was
judged is the address that is called: a name that changes its mind in between (DNS rebinding) changes nothing.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import ip_address
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult

from horae.model.addresses import Address, Network, why_not
from horae.worker.web.guard import check_address

LookUp = Callable[[str, int], Awaitable[Sequence[str]]]


async def look_up(host: str, port: int) -> Sequence[str]:
    """The addresses of a name, as this host's resolver tells them."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(row[4][0]) for row in found]


class GuardedResolver(AbstractResolver):
    def __init__(self, allowed: Sequence[Network], looked_up: LookUp = look_up) -> None:
        self._allowed = allowed
        self._look_up = looked_up

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        addresses = [ip_address(text) for text in dict.fromkeys(await self._look_up(host, port))]
        good = [address for address in addresses if why_not(address, self._allowed) is None]
        if not addresses:
            raise OSError(f"{host} has no address")
        if not good:
            check_address(addresses[0], host, self._allowed)
        return [_result(host, port, address) for address in good]

    async def close(self) -> None:
        """Nothing is held."""


def _result(host: str, port: int, address: Address) -> Any:
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
    return ResolveResult(hostname=host, host=str(address), port=port, family=family, proto=0, flags=flags)
