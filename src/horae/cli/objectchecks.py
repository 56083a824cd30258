"""What the doctor sees of object storage: whether it can be written and read, and what it can promise."""

import os
from pathlib import Path

from horae.cli.finding import Finding, fail, ok, warn
from horae.cli.server import s3_access
from horae.config import UpSettings
from horae.model.errors import HoraeError
from horae.store.objects import Objects, ObjectsConfig


async def check_objects(settings: UpSettings, data: Path) -> list[Finding]:
    """The store that the settings of this machine name. A folder that no server has made yet is none to look at."""
    folder = data / "objects"
    if settings.objects is None and not (folder.is_dir() and os.access(folder, os.W_OK)):
        return []
    address = settings.objects or str(folder)
    try:
        honoured = await Objects(ObjectsConfig(address, s3_access(settings))).probe()
    except HoraeError as error:
        fix = "correct the settings objects…, or bring the store back: results over 32 KiB wait for it"
        return [fail("objects", error.detail, fix)]
    if not honoured:
        seen = f"{address} does not honour conditional writes"
        return [warn("objects", seen, "nothing is lost by it; a sink's Parquet file could be written twice, alike")]
    return [ok("objects", f"{address}, conditional writes honoured")]
