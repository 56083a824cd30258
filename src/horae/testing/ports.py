"""Ports for programs that are told theirs before they start, or start again at the same."""

import random
import socket
from contextlib import suppress
from typing import Final

BELOW_THE_SYSTEMS_OWN: Final = range(12_000, 32_000)


def free_ports(count: int) -> list[int]:
    """No two the same."""
    found = set[int]()
    while len(found) < count:
        found.add(free_port())
    return list(found)


def free_port() -> int:
    """One that nobody uses, and that the system gives nobody who asks for any: it is still free a moment later."""
    while True:
        port = random.choice(BELOW_THE_SYSTEMS_OWN)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
