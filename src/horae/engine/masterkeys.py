"""The keys that secrets stand on, and how something is sealed.

Two levels: a master key, which only the servers have, wraps one data key for each tenant; that seals the tenant's
secrets. So a new master key means to wrap a few short keys anew, and no secret need be opened for it.

What is sealed is bound to what it is about (tenant, name, version): moved to another row it cannot be opened.
"""

import base64
import binascii
import hashlib
import os
from collections.abc import Sequence
from typing import Final

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from horae.model.errors import SecretsLocked, SetupError

KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12
_HOW: Final = (
    "all servers get the same by HORAE_SECRETS_KEY, or by a file that HORAE_SECRETS_KEY_FILE names, and "
    "`horae secret new-key` makes one"
)


class MasterKeys:
    """The first wraps, all unwrap. None at all: the server keeps no secrets."""

    def __init__(self, keys: Sequence[bytes] = ()) -> None:
        self._keys = {fingerprint(key): key for key in keys}

    def __repr__(self) -> str:
        return f"MasterKeys({', '.join(self._keys)})"

    def __bool__(self) -> bool:
        return bool(self._keys)

    @property
    def names(self) -> list[str]:
        return list(self._keys)

    @property
    def current(self) -> str:
        if not self._keys:
            raise SecretsLocked(f"this server has no key for secrets; {_HOW}")
        return next(iter(self._keys))

    def wrap(self, data_key: bytes, tenant_id: int, version: int) -> bytes:
        """With the current one."""
        return seal(self._keys[self.current], data_key, "tenant key", tenant_id, version)

    def unwrap(self, master: str, wrapped: bytes, tenant_id: int, version: int) -> bytes:
        key = self._keys.get(master)
        if key is None:
            raise SecretsLocked(
                f"the secrets of tenant {tenant_id} need the master key {master}; this server has "
                f"{', '.join(self._keys) or 'none'}: add it after those, and start the server again; {_HOW}"
            )
        return open_sealed(key, wrapped, "tenant key", tenant_id, version)


def read_keys(text: str, source: str) -> MasterKeys:
    """Keys in base64, one to a line or with commas between. Errors say which is wrong, never what it is."""
    parts = [part for line in text.splitlines() for part in line.split(",") if part.strip()]
    if not parts:
        raise SetupError(f"{source} is empty: it must hold a key for secrets; `horae secret new-key` makes one")
    return MasterKeys([_read_key(part.strip(), f"{source}, key {number}") for number, part in enumerate(parts, 1)])


def _read_key(text: str, source: str) -> bytes:
    try:
        key = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise SetupError(f"{source} is not base64; `horae secret new-key` makes a key") from None
    if len(key) != KEY_BYTES:
        raise SetupError(f"{source} has {len(key)} bytes, not {KEY_BYTES}; `horae secret new-key` makes a key")
    return key


def new_key() -> bytes:
    return os.urandom(KEY_BYTES)


def encode_key(key: bytes) -> str:
    return base64.b64encode(key).decode()


def fingerprint(key: bytes) -> str:
    """Tells keys apart and gives nothing away of them."""
    return hashlib.sha256(b"horae master key" + key).hexdigest()[:12]


def seal(key: bytes, value: bytes, *about: str | int) -> bytes:
    nonce = os.urandom(_NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, value, _bound_to(about))


def open_sealed(key: bytes, sealed: bytes, *about: str | int) -> bytes:
    try:
        return AESGCM(key).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], _bound_to(about))
    except InvalidTag:
        words = " ".join(str(part) for part in about)
        raise SecretsLocked(f"what is stored as {words} was damaged or moved: set the secret again") from None


def _bound_to(about: Sequence[str | int]) -> bytes:
    return msgspec.json.encode(about)
