"""What a secret may be called and hold.

A value shorter than four characters is refused: whatever hides it in a job's output would hide half of the output.
"""

from typing import Final

from horae.model.errors import InvalidInput
from horae.model.template import is_secret_name

SHORTEST: Final = 4
LARGEST: Final = 64 * 1024


def check_secret_name(name: str, field: str = "name") -> str:
    """Names are those that environment variables can have."""
    if not is_secret_name(name):
        raise InvalidInput(
            f"{field}: {name!r} is not a secret's name: up to 128 letters, digits and _, no digit first", field=field
        )
    return name


def check_secret_value(value: str) -> str:
    """Errors tell the size, never the value."""
    if len(value.strip()) < SHORTEST:
        raise InvalidInput(
            f"value: a secret has at least {SHORTEST} characters beside white space; a shorter one could not be"
            " masked in output",
            field="value",
        )
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise InvalidInput("value: is not valid Unicode text; encode bytes as base64", field="value") from None
    if size > LARGEST:
        raise InvalidInput(f"value: has {size:,} bytes; the most is {LARGEST:,}", field="value")
    if "\0" in value:
        raise InvalidInput("value: holds a zero byte, which no environment variable can", field="value")
    return value
