"""Results that are tables: a list of objects, or text with an object on each line (NDJSON)."""

from typing import Any, Final

import msgspec

from horae.model.errors import InvalidInput

MAX_ROWS: Final = 1_000_000
MAX_COLUMNS: Final = 1600
"""As many as a PostgreSQL table can have."""
Row = dict[str, Any]
_rows = msgspec.json.Decoder(list[Row])
_row = msgspec.json.Decoder(Row)


def read_rows(data: bytes) -> list[Row]:
    """The rows of a result, JSON as it was uploaded. Null has none."""
    try:
        value = msgspec.json.decode(data)
        if isinstance(value, str):
            rows = [_row.decode(line) for line in value.splitlines() if line.strip()]
        else:
            rows = [] if value is None else _rows.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise InvalidInput(
            f"the task has a sink, so its result must be a list of objects, or lines of them: {str(error)[:200]}"
        ) from error
    if len(rows) > MAX_ROWS:
        raise InvalidInput(f"the result has {len(rows):,} rows; a sink takes {MAX_ROWS:,}")
    return rows


def column_names(rows: list[Row]) -> list[str]:
    """Every name that a row has, in the order of their first appearance."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    if len(names) > MAX_COLUMNS:
        raise InvalidInput(f"the result has {len(names):,} columns; a sink takes {MAX_COLUMNS:,}")
    return names
