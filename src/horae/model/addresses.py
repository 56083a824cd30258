"""Which addresses of the network may be reached for somebody who is not trusted. Pure.

Tenants choose hosts, workers and servers stand inside: without a guard every tenant could ask what only insiders may.
So what is reached for them is the public internet, and the networks that the operator allows by name. What embeds
another address (mapped, NAT64, 6to4, Teredo) is refused whatever it embeds: where it ends depends on the host's routes,
which nobody here knows.
"""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Final

from horae.model.errors import InvalidInput

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

REFUSED: Final[tuple[tuple[Network, str], ...]] = tuple(
    (ip_network(text), name)
    for text, name in (
        ("0.0.0.0/8", "an address of this host"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "private (carrier-grade NAT)"),
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "a cloud's metadata"),
        ("169.254.0.0/16", "link-local, where clouds have their metadata"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "documentation"),
        ("192.88.99.0/24", "a relay of 6to4"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "reserved for benchmarks"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
        ("::/128", "an address of this host"),
        ("::1/128", "loopback"),
        ("::ffff:0:0/96", "an IPv4 address in disguise (mapped)"),
        ("::/96", "an IPv4 address in disguise (compatible)"),
        ("64:ff9b::/96", "an IPv4 address in disguise (NAT64)"),
        ("64:ff9b:1::/48", "an IPv4 address in disguise (NAT64)"),
        ("2001::/32", "an IPv4 address in disguise (Teredo)"),
        ("2001::/23", "reserved"),
        ("2001:db8::/32", "documentation"),
        ("2002::/16", "an IPv4 address in disguise (6to4)"),
        ("3ffe::/16", "reserved"),
        ("3fff::/20", "documentation"),
        ("fc00::/7", "private (unique local), where clouds have their metadata too"),
        ("fe80::/10", "link-local"),
        ("ff00::/8", "multicast"),
    )
)
GLOBAL_UNICAST: Final = IPv6Network("2000::/3")
"""All of IPv6 that has ever been given out; the rest is special or reserved."""


def read_networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """The networks that an operator allows, such as 10.0.0.0/8 or 127.0.0.1."""
    return tuple(_network(text) for text in texts)


def _network(text: str) -> Network:
    try:
        return ip_network(text.strip())
    except ValueError as error:
        raise InvalidInput(
            f"allow_networks: {text[:80]!r} is not a network such as 10.0.0.0/8: {error}", field="allow_networks"
        ) from error


def why_not(address: Address, allowed: Iterable[Network] = ()) -> str | None:
    """What kind of address it is, when it must not be called; None when it may be."""
    if any(address in network for network in allowed):
        return None
    for network, name in REFUSED:
        if address in network:
            return name
    if isinstance(address, IPv6Address) and (address.scope_id or address not in GLOBAL_UNICAST):
        return "reserved"
    return None
