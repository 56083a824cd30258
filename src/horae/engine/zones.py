"""Which release of the time zone database this server reckons with."""

import zoneinfo
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


@cache
def tzdata_version() -> str:
    """As `zoneinfo` looks for it: the system's files first, then the package."""
    for folder in zoneinfo.TZPATH:
        for name in ("tzdata.zi", "+VERSION"):
            try:
                text = (Path(folder) / name).read_text(encoding="ascii").partition("\n")[0]
            except OSError:
                continue
            return text.removeprefix("# version").strip()
        if Path(folder).is_dir() and (Path(folder) / "UTC").exists():
            return "of the system"
    try:
        return version("tzdata")
    except PackageNotFoundError:
        return "unknown"
