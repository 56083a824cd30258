"""What an operator can say about containers on a worker."""

from pathlib import Path
from typing import Final

import msgspec

from horae.model.errors import InvalidInput
from horae.worker.containers.references import check_reference

ENGINES: Final = ("podman", "docker")


class ContainerSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    engine: str | None = None
    """`podman`, `docker`, or the path of one; None: podman if it works, else docker."""
    runtime: str | None = None
    """The OCI runtime, such as `runsc`; None: the first that works."""
    network: str = "bridge"
    """The engine's network for tasks that may use one."""
    roots: list[str] = []
    """Folders below which `rootfs:/folder` of a task may lie. None: such tasks do not run here."""
    images: list[str] = []
    """Pulled when the worker starts, so that their first jobs need not wait."""

    def __post_init__(self) -> None:
        if self.engine is not None and self.engine_name not in ENGINES:
            raise InvalidInput(f"engine: {self.engine!r} is neither podman nor docker", field="containers.engine")
        for root in self.roots:
            if not Path(root).is_absolute():
                raise InvalidInput(f"roots: {root!r} is not an absolute path", field="containers.roots")
        for image in self.images:
            check_reference(image)
        for name in ("runtime", "network"):
            if (getattr(self, name) or "").startswith("-") or getattr(self, name) == "host":
                raise InvalidInput(f"{name}: {getattr(self, name)!r} is not possible", field=f"containers.{name}")

    @property
    def engine_name(self) -> str:
        return Path(self.engine or "").name
