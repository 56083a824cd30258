"""What the doctor sees of the keys that secrets are sealed with."""

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from horae.cli.finding import Finding, fail, ok, warn
from horae.cli.masterkeys import FILE, master_keys
from horae.config import UpSettings
from horae.model.errors import HoraeError

if TYPE_CHECKING:
    from horae.engine.masterkeys import MasterKeys


async def check_secrets(dsn: str, settings: UpSettings, data: Path) -> list[Finding]:
    from horae.store import checkup

    own = data / FILE
    if settings.secrets_key is None and settings.secrets_key_file is None and own.exists():
        settings = msgspec.structs.replace(settings, secrets_key_file=str(own))
    try:
        async with checkup.connected(dsn) as connection:
            wrapped = await checkup.master_keys(connection)
        keys = master_keys(settings)
    except HoraeError as error:
        return [fail("secrets", error.detail, "correct HORAE_SECRETS_KEY or HORAE_SECRETS_KEY_FILE")]
    return [_check_keys(keys, wrapped), *_check_mode(settings.secrets_key_file)]


def _check_keys(keys: "MasterKeys", wrapped: dict[str, int]) -> Finding:
    if not wrapped:
        return ok("secrets", "none are kept yet")
    if not keys:
        return ok("secrets", f"sealed with the master key {', '.join(wrapped)}, which this command does not have")
    if missing := {master: count for master, count in wrapped.items() if master not in keys.names}:
        seen = ", ".join(f"{count} tenants need the master key {master}" for master, count in missing.items())
        return fail("secrets", f"{seen}; here is {', '.join(keys.names)}", "add the missing key, after the others")
    if older := sum(count for master, count in wrapped.items() if master != keys.current):
        return warn("secrets", f"{older} tenants need an older master key", "run `horae secret rotate-master`")
    return ok("secrets", f"sealed with the master key {keys.current}")


def _check_mode(path: str | None) -> list[Finding]:
    """A key in a file that others can read is none."""
    mode = 0 if path is None else Path(path).expanduser().stat().st_mode
    return [warn("secrets", f"others can read {path}", f"chmod 600 {path}")] if mode & 0o077 else []
