"""Which names are images.

Podman reads `dir:…`, `oci-archive:…` and the like as places on the host. A task must not choose those, so an image is a
reference to a registry, or a root file system below a folder that the operator has named.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from horae.model.errors import InvalidInput

ROOT: Final = "rootfs:"
_NAME: Final = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_REFERENCE: Final = re.compile(
    rf"(?:[a-zA-Z0-9][a-zA-Z0-9.-]*(?::\d{{1,5}})?/)?{_NAME}(?:/{_NAME})*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?",
    re.ASCII,
)
_PLACES: Final = frozenset(
    {"atomic", "containers-storage", "dir", "docker", "docker-archive", "docker-daemon", "oci", "oci-archive", "ostree"}
    | {"sif", "tarball"}
)
_LONGEST: Final = 512


def check_reference(image: str) -> None:
    fits = len(image) <= _LONGEST and _REFERENCE.fullmatch(image)
    if not fits or image.partition(":")[0] in _PLACES:
        raise InvalidInput(
            f"container.image: {image[:200]!r} is not the name of an image such as docker.io/library/alpine:3"
        )


def find_root(image: str, roots: Iterable[str]) -> Path:
    """The folder of `rootfs:/folder`, wherever its links lead, if the operator allows it."""
    folder = Path(os.path.realpath(image.removeprefix(ROOT)))
    allowed = [Path(os.path.realpath(root)) for root in roots]
    if not any(root == folder or root in folder.parents for root in allowed) or ":" in str(folder):
        raise InvalidInput(f"container.image: {image[:200]!r} is not below a folder that this worker's settings name")
    if not folder.is_dir():
        raise InvalidInput(f"container.image: {image[:200]!r} is not on this worker")
    return folder
