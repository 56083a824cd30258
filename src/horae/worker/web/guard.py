"""Which URLs a job may call. Pure.

Judged is the address that is connected to (see `horae.model.addresses`), never the name alone (see `resolving`).
"""

import re
from collections.abc import Iterable
from ipaddress import ip_address
from typing import Final

from yarl import URL

from horae.model.addresses import Address, Network, why_not
from horae.model.errors import Forbidden, InvalidInput

LONGEST_NAME: Final = 253
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")


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
