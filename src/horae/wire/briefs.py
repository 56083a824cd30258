"""What a worker asks for before it starts a job whose task is data, or one that gets secrets.

Grants stay small: only such jobs need a brief, and it is given only to the worker that holds the lease.
"""

import msgspec

from horae.model.task import TaskDefinition


class BriefRequest(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    id: str
    lane: int
    attempt: int


class Callback(msgspec.Struct, kw_only=True):
    url: str
    """Whoever calls it ends the attempt; the token in it is good for this attempt only."""


class Brief(msgspec.Struct, kw_only=True, omit_defaults=True):
    id: str
    attempt: int
    tenant: str
    task: TaskDefinition
    """As it is now, not as it was at submit: a fixed or rolled back task takes effect for what waits."""
    version: int = 0
    secrets: dict[str, str] = {}
    """Every secret that the task names, in clear."""
    callback: Callback | None = None

    def __repr__(self) -> str:
        return f"Brief({self.id}, attempt {self.attempt}, secrets {sorted(self.secrets)})"
