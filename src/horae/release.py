"""Which release of Horae this is."""

from functools import cache
from importlib.metadata import version


@cache
def own_version() -> str:
    """Read once: each reading looks through all that is installed, and leaves cycles for the collector."""
    return version("horae")
