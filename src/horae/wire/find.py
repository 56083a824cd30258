"""What a few typed characters may mean."""

import msgspec


class Found(msgspec.Struct, kw_only=True, omit_defaults=True):
    kind: str
    """`job`, `task`, `schedule`, `queue` or `worker`."""
    name: str
    """Of a job: its task."""
    tenant: str | None = None
    """Absent: of all tenants."""
    id: str | None = None
    """Of jobs and workers."""
    note: str | None = None
    """What tells it from others: the description of a task, the task of a schedule, the host of a worker."""


class FoundPage(msgspec.Struct):
    items: list[Found]
