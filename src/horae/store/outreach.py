"""Connections to databases that tenants name, to addresses alone that the operator lets them reach.

asyncpg looks a name up as it connects, so whoever judges the name before judges another answer. It connects by the loop
that it is given: so it gets one that looks the name up, judges each address and connects to what was judged. The name
stays what certificates are checked against.
"""

import asyncio
import socket
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from typing import Any, cast

from horae.model.addresses import Address, Network, why_not
from horae.model.errors import InvalidInput


def guarded_loop(allowed: Sequence[Network]) -> asyncio.AbstractEventLoop:
    """For one connection of asyncpg's. It uses of it what is here, and what is the loop's own."""
    return cast("asyncio.AbstractEventLoop", _GuardedLoop(allowed))


class _GuardedLoop:
    def __init__(self, allowed: Sequence[Network]) -> None:
        self._loop = asyncio.get_running_loop()
        self._allowed = allowed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loop, name)

    async def create_connection(self, factory: Callable[[], Any], host: str, port: int) -> tuple[Any, Any]:
        failed: OSError | None = None
        for address in await self._addresses(host, port):
            try:
                return await self._loop.create_connection(factory, str(address), port)
            except OSError as error:
                failed = error
        raise failed or OSError(f"{host} has no address")

    async def _addresses(self, host: str, port: int) -> list[Address]:
        """Those that may be reached."""
        found = await self._loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = [ip_address(text) for text in dict.fromkeys(str(row[4][0]) for row in found)]
        good = [address for address in addresses if why_not(address, self._allowed) is None]
        if addresses and not good:
            raise InvalidInput(
                f"sink: {host} is {addresses[0]}, which is {why_not(addresses[0])}; servers go to the public internet "
                "alone. If it is meant, the operator of the servers allows its network with HORAE_ALLOW_NETWORKS"
            )
        return good
