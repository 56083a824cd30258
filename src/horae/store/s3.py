"""Object storage that speaks S3: where it is and who we are to it.

What is not said comes from the environment and the host, as AWS's own tools find it: AWS_ACCESS_KEY_ID, the role of
the machine or pod, AWS_REGION …
"""

from datetime import timedelta
from typing import Any, Final

import msgspec
from obstore.store import S3Store, from_url

CONNECT: Final = timedelta(seconds=5)
ANSWER: Final = timedelta(seconds=30)
TRIES: Final = 3
TRYING: Final = timedelta(seconds=15)
"""Whoever called tries again anyway; a server must not hold its answer back for minutes."""


class S3Access(msgspec.Struct, frozen=True, kw_only=True):
    endpoint: str | None = None
    """http://host:port of a store that is not AWS's own."""
    region: str | None = None
    key: str | None = None
    secret: str | None = None
    path_style: bool = True
    """endpoint/bucket/key rather than bucket.endpoint/key."""

    def __repr__(self) -> str:
        return f"S3Access(endpoint={self.endpoint!r}, region={self.region!r}, key={self.key!r})"


def open_store(address: str, access: S3Access) -> Any:
    """The store behind a URL; what S3Access says goes over the environment."""
    bounds: dict[str, Any] = {
        "client_options": {"connect_timeout": CONNECT, "timeout": ANSWER, "allow_http": _is_plain(access.endpoint)},
        "retry_config": {"max_retries": TRIES, "retry_timeout": TRYING},
    }
    if not address.startswith("s3://"):
        return from_url(address, **bounds)
    said = {
        "endpoint": access.endpoint,
        "region": access.region,
        "access_key_id": access.key,
        "secret_access_key": access.secret,
    }
    given: dict[str, Any] = {name: value for name, value in said.items() if value is not None}
    return S3Store.from_url(address, virtual_hosted_style_request=not access.path_style, **given, **bounds)


def _is_plain(endpoint: str | None) -> bool:
    return endpoint is not None and endpoint.startswith("http://")
