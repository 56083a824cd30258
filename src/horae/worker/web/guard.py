"""Which addresses a job may call. Pure.

Users choose the URL, the worker stands inside: without a guard every job could ask what only insiders may. So a call
goes only to addresses of the public internet, and to the networks that the operator allows by name. Judged is the
address that is connected to, never the name alone (see `resolving`). What embeds another address (mapped, NAT64, 6to4,
Teredo) is refused whatever it embeds: where it ends depends on the host's routes, which nobody here knows.
"""

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from yarl import URL

from horae.model.errors import Forbidden, InvalidInput

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
LONGEST_NAME: Final = 253
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")


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


def check_address(address: Address, host: str, allowed: Iterable[Network]) -> None:
    if (why := why_not(address, allowed)) is not None:
        where = str(address) if str(address) == host else f"{host} is {address}, which"
        raise Forbidden(
            f"{where} is {why}; calls go to the public internet alone. "
            f"If it is meant, the operator of the worker allows it with --allow-networks {address}"
        )


def check_url(text: str, allowed: Iterable[Network]) -> URL:
    """The address as it will be called: read once, and what was judged is what is used."""
    try:
        url = URL(text)
    except ValueError as error:
        raise InvalidInput(f"the URL cannot be read: {error}") from error
    if url.scheme not in ("http", "https"):
        raise InvalidInput(f"the URL begins with {url.scheme[:20]!r}; only http and https can be called")
    if url.raw_user is not None or url.raw_password is not None:
        raise InvalidInput("the URL has a user or password before its host; put it into a header")
    if not url.port:
        raise InvalidInput("the URL has no port that could be called")
    _check_host(url.raw_host or "", allowed)
    return url


def _check_host(host: str, allowed: Iterable[Network]) -> None:
    if "%" in host:
        raise InvalidInput(f"{host[:80]!r} has a % in it: neither a name nor an address without a zone")
    try:
        address = ip_address(host)
    except ValueError:
        _check_name(host)
    else:
        check_address(address, host, allowed)


def _check_name(host: str) -> None:
    labels = host.split(".")
    if len(host) > LONGEST_NAME or any(_LABEL.fullmatch(label) is None for label in labels):
        raise InvalidInput(f"{host[:80]!r} is not a host's name")
    if _NUMBER.fullmatch(labels[-1]) is not None:
        raise InvalidInput(f"{host!r} is another spelling of an address; write it as four decimal numbers")
