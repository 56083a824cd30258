"""Briefs: all that a worker needs to run one job whose task is data, or that gets secrets.

A brief is given to nobody but the worker that holds the lease of this very attempt, because it may hold secrets. The
definition in it is the one in force now, not the one of the submit: a task that was repaired or rolled back is so for
the jobs that wait.
"""

from collections.abc import Sequence
from typing import Protocol

import asyncpg
import msgspec

from horae.engine.callbacks import Callbacks
from horae.engine.taskrows import definition_of, secrets_giver
from horae.model.durations import parse_duration
from horae.model.errors import UnknownTask, WrongState
from horae.model.kinds import Kind
from horae.model.placement import read_placement
from horae.model.task import TaskDefinition, secret_names
from horae.store.tasks import TaskRows


class Secrets(Protocol):
    async def reveal(self, tenant_id: int, names: Sequence[str]) -> dict[str, str]: ...


class Callback(msgspec.Struct, frozen=True):
    url: str


class Brief(msgspec.Struct, frozen=True):
    id: str
    attempt: int
    tenant: str
    task: TaskDefinition
    version: int
    secrets: dict[str, str]
    callback: Callback | None = None

    def __repr__(self) -> str:
        return f"Brief({self.id}, attempt {self.attempt}, secrets {sorted(self.secrets)})"


class Briefs:
    def __init__(self, tasks: TaskRows, secrets: Secrets, callbacks: Callbacks | None = None) -> None:
        self._tasks = tasks
        self._secrets = secrets
        self._callbacks = callbacks

    async def give(self, worker_id: int, lane_id: int, job_id: str, attempt: int) -> Brief:
        row = await self._tasks.brief_get(worker_id, lane_id, job_id, attempt)
        if row is None:
            raise WrongState(f"the worker no longer holds attempt {attempt} of job {job_id}")
        task = _definition(row, job_id)
        tenant_id: int = row["lane_tenant_id"]
        names = secret_names(task)
        found = await self._secrets.reveal(_giver(row), names) if names else {}
        callback = None
        if task.http is not None and task.http.callback and self._callbacks is not None:
            patience = parse_duration(task.http.callback_timeout, "callback_timeout")
            callback = Callback(await self._callbacks.open(tenant_id, lane_id, job_id, attempt, patience))
        return Brief(job_id, attempt, row["lane_tenant"], task, row["version"], found, callback)


def _giver(row: asyncpg.Record) -> int:
    """Whose secrets the job gets. An owner's go to no worker of its guest's, which could show them to the guest."""
    owner, tenant_id = int(row["tenant_id"]), int(row["lane_tenant_id"])
    giver = secrets_giver(owner, tenant_id, row["lane_task"], shared=row["with_secrets"])
    if giver != tenant_id and row["worker_tenant_id"] not in (None, owner):
        raise WrongState(
            f"the task {row['lane_task']!r} was shared with its owner's secrets, and those are given to no worker of "
            f"the tenant {row['lane_tenant']}; let a worker run it that serves all tenants"
        )
    return giver


def _definition(row: asyncpg.Record, job_id: str) -> TaskDefinition:
    """What is in force under the name now, if it is still what the job's lane was made for."""
    name = row["lane_task"]
    if row["name"] is None:
        raise UnknownTask(f"the task {name!r} was deleted while job {job_id} waited; create it and retry the job")
    task = definition_of(row)
    wanted = read_placement(row["lane_requires"]).runner or Kind.FUNCTION
    if task.kind != wanted:
        raise UnknownTask(
            f"the task {name!r} is of kind {task.kind} now, and job {job_id} was submitted for the kind {wanted}; "
            "submit it again"
        )  # fmt: skip
    return task
