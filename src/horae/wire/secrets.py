"""Secrets, of which everything is shown but the value."""

from datetime import datetime

import msgspec


class SecretPut(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    value: str

    def __repr__(self) -> str:
        return "SecretPut(value=…)"


class Secret(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Those who may only look get the name and the tenant."""

    tenant: str
    name: str
    version: int | None = None
    """Grows with every new value."""
    size: int | None = None
    """Of the value, in bytes."""
    created_at: datetime | None = None
    created_by: str | None = None
    updated_at: datetime | None = None
    updated_by: str | None = None
    last_used_at: datetime | None = None
    """When a job last got it, to the minute."""
    used_by: list[str] = []
    """The tasks whose jobs get it."""


class SecretPage(msgspec.Struct):
    items: list[Secret]


class Rotated(msgspec.Struct):
    count: int
    """What was sealed anew: secrets of the tenant, or keys of tenants."""
