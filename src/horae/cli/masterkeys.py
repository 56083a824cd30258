"""Where a server's master keys come from, and the one that a local `horae up` makes for itself."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from horae.cli.localkeys import write_private
from horae.config import ServerSettings, read_secret

if TYPE_CHECKING:
    from horae.engine.masterkeys import MasterKeys

S = TypeVar("S", bound=ServerSettings)
FILE: Final = "secrets.key"
VARIABLE: Final = "HORAE_SECRETS_KEY"
OF_THE_SERVER: Final = frozenset({VARIABLE, "HORAE_DATABASE", "HORAE_OBJECTS_KEY", "HORAE_OBJECTS_SECRET"})


def master_keys(settings: ServerSettings) -> "MasterKeys":
    from horae.engine.masterkeys import MasterKeys, read_keys

    if settings.secrets_key is not None:
        return read_keys(settings.secrets_key, VARIABLE)
    if settings.secrets_key_file is not None:
        path = settings.secrets_key_file
        return read_keys(read_secret(path, f"{VARIABLE}_FILE"), path)
    return MasterKeys()


def with_own_key(settings: S, data: Path) -> S:
    """Settings that name a key in any case: the one in the data folder, made when it is not there yet."""
    from horae.engine.masterkeys import encode_key, new_key

    if settings.secrets_key is not None or settings.secrets_key_file is not None:
        return settings
    path = data / FILE
    if not path.exists():
        write_private(path, encode_key(new_key()) + "\n")
    return msgspec.structs.replace(settings, secrets_key_file=str(path))


def without_keys(environ: Mapping[str, str]) -> dict[str, str]:
    """For processes that run users' code: what only the server needs is not theirs."""
    return {name: value for name, value in environ.items() if name not in OF_THE_SERVER}
