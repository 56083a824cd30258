"""Where the server is and with which key: arguments, environment, a profile, or the local `horae up`, in that order.

`horae up` leaves its address and a key in a file of the user's state directory. Whoever can read that file can
command the server, so it is written for its owner alone, and one that others own or could read is refused.
"""

import json
import os
import stat
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from horae.model.errors import SetupError

DEFAULT_URL: Final = "http://127.0.0.1:8420"


class Connection(NamedTuple):
    url: str = DEFAULT_URL
    key: str | None = None

    def __repr__(self) -> str:
        """Without the key: tracebacks and logs show this."""
        return f"Connection({self.url!r}, key={'…' if self.key else None})"


def find_connection(
    url: str | None = None, key: str | None = None, profile: str | None = None, environ: Mapping[str, str] = os.environ
) -> Connection:
    """What is given wins over what is found. A found key goes only to the server that it was found with.

    A named profile stands for both, so the environment is then left aside.
    """
    url = url or (None if profile else environ.get("HORAE_URL"))
    key = key or (None if profile else _environment_key(environ))
    if url and key:
        return Connection(url, key)
    for place in _places(profile, environ):
        if place is not None and url in (None, place.url):
            return Connection(place.url, key or place.key)
    return Connection(url or DEFAULT_URL, key)


def _places(profile: str | None, environ: Mapping[str, str]) -> Iterator[Connection | None]:
    yield _profile(profile, environ)
    yield _local(environ)


def _environment_key(environ: Mapping[str, str]) -> str | None:
    if key := environ.get("HORAE_KEY"):
        return key
    path = environ.get("HORAE_KEY_FILE")
    return _read_key(Path(path), "HORAE_KEY_FILE") if path else None


def _read_key(path: Path, named_by: str) -> str:
    try:
        return path.expanduser().read_text().strip()
    except OSError as error:
        raise SetupError(f"{named_by}: the key file {path} cannot be read: {error.strerror}") from error


def config_file(environ: Mapping[str, str] = os.environ) -> Path:
    return _folder(environ, "XDG_CONFIG_HOME", ".config") / "horae" / "config.toml"


def local_file(environ: Mapping[str, str] = os.environ) -> Path:
    return _folder(environ, "XDG_STATE_HOME", ".local/state") / "horae" / "local.json"


def _folder(environ: Mapping[str, str], variable: str, below_home: str) -> Path:
    if given := environ.get(variable):
        return Path(given)
    return Path(environ.get("HOME") or Path.home()) / below_home


def _profile(name: str | None, environ: Mapping[str, str]) -> Connection | None:
    path = config_file(environ)
    config = _read_config(path)
    name = name or config.get("default_profile")
    if name is None:
        return None
    found = config.get("profiles", {}).get(name)
    if not isinstance(found, dict):
        raise SetupError(f"there is no profile {name!r}: write [profiles.{name}] with url and key into {path}")
    key = found.get("key")
    if key is None and "key_file" in found:
        key = _read_key(path.parent / Path(found["key_file"]).expanduser(), f"profile {name}")
    return Connection(found.get("url", DEFAULT_URL), key)


def _read_config(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise SetupError(f"{path} cannot be read: {error}") from error


def _local(environ: Mapping[str, str]) -> Connection | None:
    path = local_file(environ)
    found = read_local(path)
    return None if found is None else Connection(found["url"], found["key"])


def read_local(path: Path) -> dict[str, Any] | None:
    """What a local `horae up` wrote, or None."""
    try:
        with path.open() as file:
            # Judged on the open file, so that it cannot be exchanged between the look and the reading.
            _refuse_unsafe(os.fstat(file.fileno()), path)
            found = json.load(file)
            return {name: found[name] for name in ("url", "key", "pid")}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise SetupError(f"{path} cannot be read: {error!r}; remove it and start `horae up` again") from error


def _refuse_unsafe(status: os.stat_result, path: Path) -> None:
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        raise SetupError(f"{path} belongs to another user (uid {status.st_uid}): its key is not trusted; remove it")
    if os.name == "posix" and stat.S_IMODE(status.st_mode) & 0o077:
        raise SetupError(f"{path} holds a key but others may read it: `chmod 600` it, or remove it and its key")


def write_local(path: Path, url: str, key: str, pid: int) -> None:
    """Replaces the file in one step; readers see the old one or the new one, whole."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # mkstemp makes the file with mode 0600 from the start.
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "w") as file:
            json.dump({"url": url, "key": key, "pid": pid}, file)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def remove_local(path: Path, pid: int) -> None:
    """Removes the file if this process wrote it; one that a later `horae up` has written stays."""
    try:
        found = read_local(path)
    except SetupError:
        return
    if found is not None and found.get("pid") == pid:
        path.unlink(missing_ok=True)
