"""Where the programs of the suite keep what Python compiled of them.

They are started hundreds of times, and compiling takes three times as long as all else of a start. Whether whoever runs
the suite wants compiled files beside the sources is another matter, so they go to a folder that ends with the suite.
"""

from functools import cache
from tempfile import TemporaryDirectory


def compiled_once() -> dict[str, str]:
    """For the environment of a program."""
    return {"PYTHONPYCACHEPREFIX": _folder().name, "PYTHONDONTWRITEBYTECODE": ""}


@cache
def _folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="horae-chaos-bytecode-")
