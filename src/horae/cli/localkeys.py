"""The two keys of a local `horae up`: one to command it, one for its worker.

They are made on the first start and their secrets kept in the data folder, for its owner alone. A key that the
database does not know any more (it was revoked, or it is another database) is replaced.
"""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from horae.model.errors import SetupError, Unauthenticated
from horae.model.roles import Role

if TYPE_CHECKING:
    from horae.engine.access import Access

FILE: Final = "keys.json"
NAMES: Final = {Role.ADMIN: "local", Role.WORKER: "local-worker"}


class LocalKeys(NamedTuple):
    admin: str
    worker: str


async def local_keys(data: Path, access: "Access") -> LocalKeys:
    path = data / FILE
    kept = _read(path)
    found = {name: await _valid_or_new(access, role, kept.get(name)) for role, name in NAMES.items()}
    if found != kept:
        write_private(path, json.dumps(found, indent=1))
    return LocalKeys(found[NAMES[Role.ADMIN]], found[NAMES[Role.WORKER]])


async def _valid_or_new(access: "Access", role: Role, secret: str | None) -> str:
    if secret is not None:
        try:
            if (await access.caller(secret)).role is role:
                return secret
        except Unauthenticated:
            pass
    _, secret = await access.create_key(None, NAMES[role], role, None, None)
    return secret


def _read(path: Path) -> dict[str, str]:
    try:
        found = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise SetupError(f"{path} cannot be read: {error}; remove it, and new keys are made") from error
    return {name: value for name, value in found.items() if isinstance(value, str)}


def write_private(path: Path, text: str) -> None:
    """Readable to its owner alone from the first moment, and whole or not at all."""
    half = path.with_name(f"{path.name}.new")
    half.unlink(missing_ok=True)
    handle = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(text)
    half.replace(path)
