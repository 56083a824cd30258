"""Amounts of memory and disk as people write them: `1048576`, `"512MiB"`, `"2GB"`, `"1.5 GiB"`."""

import re
from typing import Final

from horae.model.errors import InvalidInput

LARGEST: Final = 2**60
"""An exbibyte: more is a mistake of units."""
_UNITS: Final = {
    "": 1, "B": 1,
    "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15,
    "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40, "PIB": 2**50,
}  # fmt: skip
_SIZE: Final = re.compile(r"(\d{1,20}(?:\.\d{1,9})?)\s?([KMGTP]?I?B)?", re.ASCII | re.IGNORECASE)
_STEPS: Final = (("PiB", 2**50), ("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))


def parse_size(value: str | int, field: str = "size") -> int:
    """Bytes. A bare number is bytes; kB, MB, GB are powers of ten, KiB, MiB, GiB powers of two."""
    size = value if isinstance(value, int) else _read(value, field)
    if not 0 < size <= LARGEST:
        raise InvalidInput(f"{field}: {value!r} is outside 1 byte … 1024 PiB", field=field)
    return size


def _read(text: str, field: str) -> int:
    found = _SIZE.fullmatch(text.strip()[:64])
    unit = _UNITS.get((found[2] or "").upper()) if found else None
    if found is None or unit is None:
        raise InvalidInput(f'{field}: {text[:64]!r} is not a size such as "512MiB" or "2GiB"', field=field)
    return round(float(found[1]) * unit) if "." in found[1] else int(found[1]) * unit


def format_size(size: int) -> str:
    """For people to read: rounded to a tenth of the largest unit that fits."""
    for unit, step in _STEPS:
        if size >= step:
            return f"{round(size / step, 1):g}{unit}"
    return f"{size}B"
