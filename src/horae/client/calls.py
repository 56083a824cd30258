"""The API's calls, each described once, without doing any I/O: what to send, and how to read the answer.

The two clients and their transports only carry these descriptions, so a call cannot differ between them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from typing import Any, Final, Generic, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from horae.model.errors import HoraeError, InvalidParams
from horae.model.job import JobRequest
from horae.model.task import TaskDefinition
from horae.wire.access import (
    Key,
    KeyCreate,
    KeyCreated,
    KeyPage,
    Task,
    Tenant,
    TenantChange,
    TenantCreate,
    TenantPage,
    Whoami,
)
from horae.wire.actions import Action, ActionPage, ActionRequest, DeadLetterRequest, DeadLetters
from horae.wire.console import ConsoleTicket, Overview
from horae.wire.explanation import Explanation, Timeline
from horae.wire.files import AddressRequest, FileAddress, FilePage, PartialPage
from horae.wire.find import FoundPage
from horae.wire.gates import (
    Gate,
    GateChanges,
    GateCreate,
    GatePage,
    GatePreview,
    GateRelease,
    GateRestore,
    Restored,
    Stop,
    StopPreview,
)
from horae.wire.jobs import BulkAnswer, ExecutionPage, Job, JobChanges, JobPage, JobResult, LogPage, Move, Submitted
from horae.wire.limits import Limit, LimitPage, LimitPut, LimitUse
from horae.wire.quotas import QueuePage, Quota, QuotaPage, QuotaPut, WaitingPage
from horae.wire.secrets import Rotated, Secret, SecretPage, SecretPut
from horae.wire.servicelevels import ServiceLevel, ServiceLevelPage, ServiceLevelPut
from horae.wire.tasks import TaskStatistics
from horae.wire.workers import Drain, Worker, WorkerHistory, WorkerPage

T = TypeVar("T")
Query = dict[str, Any]

JSON: Final = {"Content-Type": "application/json"}
NDJSON: Final = {"Content-Type": "application/x-ndjson"}
_NONE: Final[dict[str, str]] = {}
_SUBMIT_IN_DOUBT: Final = (
    "the job may or may not exist. Give an idempotency key (_idempotency_key=…): then the SDK repeats the call safely"
)
_IN_DOUBT: Final = "it may or may not have been carried out: look before you repeat it"


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    method: str
    path: str
    decode: Callable[[bytes], T]
    query: Query = field(default_factory=dict)
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=lambda: _NONE)
    repeatable: bool = True
    """A second one does no harm, so it is sent again when nobody knows whether the first one arrived."""
    waits: float = 0.0
    """Seconds the server may think before it answers, on top of the usual."""
    public: bool = False
    doubt: str = _IN_DOUBT

    @property
    def target(self) -> str:
        return f"{self.path}?{urlencode(self.query, doseq=True)}" if self.query else self.path

    def read(self, body: bytes) -> T:
        try:
            return self.decode(body)
        except msgspec.MsgspecError as error:
            raise HoraeError(
                f"{self.method} {self.path}: the answer is not what this version of the SDK expects: {error}. "
                "Is the address a Horae server's, of the same version?"
            ) from error


def submit(job: JobRequest, idempotency_key: str | None = None) -> Call[Submitted]:
    headers = JSON if idempotency_key is None else JSON | {"Idempotency-Key": idempotency_key}
    return Call(
        "POST",
        "/v1/jobs",
        _reads(Submitted),
        body=_encode_jobs(msgspec.json.encode, job),
        headers=headers,
        repeatable=idempotency_key is not None,
        doubt=_SUBMIT_IN_DOUBT,
    )


def submit_many(jobs: list[JobRequest]) -> Call[BulkAnswer]:
    body = _encode_jobs(_LINES.encode_lines, jobs)
    return Call("POST", "/v1/jobs/bulk", _reads(BulkAnswer), body=body, headers=NDJSON, repeatable=False,
                doubt="some, all or none of the jobs may exist: look before you repeat it", waits=30.0)  # fmt: skip


def job(job_id: str) -> Call[Job]:
    return Call("GET", _job(job_id), _reads(Job))


def jobs(**filters: Any) -> Call[JobPage]:
    """Filters are those of the API; `label` is a dict, or `"name:value"`."""
    label = filters.get("label")
    if isinstance(label, dict):
        filters["label"] = [f"{name}:{value}" for name, value in label.items()]
    return Call("GET", "/v1/jobs", _reads(JobPage), _query(**filters))


def change(job_id: str, changes: JobChanges) -> Call[Job]:
    return Call("PATCH", _job(job_id), _reads(Job), body=msgspec.json.encode(changes), headers=JSON)


def cancel(job_id: str, reason: str = "") -> Call[Job]:
    return Call("DELETE", _job(job_id), _reads(Job), _query(reason=reason or None))


def retry(job_id: str, changes: JobChanges | None = None) -> Call[Job]:
    return _post(_job(job_id) + "/retry", Job, changes)


def move(job_id: str, reason: str = "", *, force: bool = False) -> Call[Job]:
    return _post(_job(job_id) + "/move", Job, Move(reason=reason, force=force))


def clone(job_id: str, changes: JobChanges | None = None) -> Call[Submitted]:
    return _post(_job(job_id) + "/clone", Submitted, changes)


def act(request: ActionRequest) -> Call[Action]:
    return _post("/v1/jobs/actions", Action, request)


def actions(cursor: str | None = None, limit: int | None = None, tenant: str | None = None) -> Call[ActionPage]:
    return Call("GET", "/v1/actions", _reads(ActionPage), _query(cursor=cursor, limit=limit, tenant=tenant))


def action(action_id: str) -> Call[Action]:
    return Call("GET", _action(action_id), _reads(Action))


def cancel_action(action_id: str) -> Call[Action]:
    return _post(_action(action_id) + "/cancel", Action, None)


def undo_action(action_id: str) -> Call[Action]:
    return _post(_action(action_id) + "/undo", Action, None)


def dead_letters(**filters: Any) -> Call[DeadLetters]:
    return Call("GET", "/v1/dead-letters", _reads(DeadLetters), _query(**filters))


def redrive(request: DeadLetterRequest) -> Call[Action]:
    return _post("/v1/dead-letters/redrive", Action, request)


def discard(request: DeadLetterRequest) -> Call[Action]:
    return _post("/v1/dead-letters/discard", Action, request)


def _action(action_id: str) -> str:
    return f"/v1/actions/{quote(str(action_id), safe='')}"


def result(job_id: str, wait: float = 30.0) -> Call[JobResult]:
    return Call("GET", _job(job_id) + "/result", _reads(JobResult), {"wait": f"{wait:g}"}, waits=wait)


def explain(job_id: str) -> Call[Explanation]:
    return Call("GET", _job(job_id) + "/explain", _reads(Explanation))


def timeline(job_id: str) -> Call[Timeline]:
    return Call("GET", _job(job_id) + "/timeline", _reads(Timeline))


def executions(job_id: str) -> Call[ExecutionPage]:
    return Call("GET", _job(job_id) + "/executions", _reads(ExecutionPage))


def executions_by_worker(worker_id: int, cursor: str | None = None, limit: int | None = None) -> Call[ExecutionPage]:
    query = _query(worker_id=worker_id, cursor=cursor, limit=limit)
    return Call("GET", "/v1/executions", _reads(ExecutionPage), query)


def logs(job_id: str, cursor: str | None = None, limit: int | None = None) -> Call[LogPage]:
    return Call("GET", _job(job_id) + "/logs", _reads(LogPage), _query(cursor=cursor, limit=limit))


def partials(job_id: str, cursor: str | None = None, limit: int | None = None) -> Call[PartialPage]:
    return Call("GET", _job(job_id) + "/partial", _reads(PartialPage), _query(cursor=cursor, limit=limit))


def follow_partials(job_id: str, cursor: str | None = None) -> Call[bytes]:
    return _stream(_job(job_id) + "/partial", _query(follow="true", cursor=cursor))


def files(job_id: str) -> Call[FilePage]:
    return Call("GET", _job(job_id) + "/files", _reads(FilePage))


def file_content(file_id: str, start: int = 0) -> Call[bytes]:
    headers = {"Range": f"bytes={start}-"} if start else _NONE
    return Call("GET", f"/v1/files/{quote(file_id, safe='')}", bytes, headers=headers)


def file_address(file_id: str, lifetime: str | float) -> Call[FileAddress]:
    return _post(f"/v1/files/{quote(file_id, safe='')}/address", FileAddress, AddressRequest(lifetime=lifetime))


def follow_logs(job_id: str, cursor: str | None = None) -> Call[bytes]:
    return _stream(_job(job_id) + "/logs", _query(follow="true", cursor=cursor))


def events(job_id: str) -> Call[bytes]:
    return _stream(_job(job_id) + "/events", {})


def workers(state: str | None = None, cursor: str | None = None, *, runs: bool = False) -> Call[WorkerPage]:
    query = _query(state=state, cursor=cursor, runs="true" if runs else None)
    return Call("GET", "/v1/workers", _reads(WorkerPage), query)


def worker(worker_id: int) -> Call[Worker]:
    return Call("GET", f"/v1/workers/{worker_id}", _reads(Worker))


def worker_history(worker_id: int) -> Call[WorkerHistory]:
    return Call("GET", f"/v1/workers/{worker_id}/history", _reads(WorkerHistory))


def drain(worker_id: int, reason: str = "", lasts: str | float | None = None, *, move: bool = False) -> Call[Worker]:
    body = msgspec.json.encode(Drain(reason=reason, lasts=lasts, move=move))
    return Call("POST", f"/v1/workers/{worker_id}/drain", _reads(Worker), body=body, headers=JSON)


def resume(worker_id: int) -> Call[Worker]:
    return Call("POST", f"/v1/workers/{worker_id}/resume", _reads(Worker))


def put_task(definition: TaskDefinition) -> Call[Task]:
    path = f"/v1/tasks/{quote(definition.name, safe='')}"
    return Call("PUT", path, _reads(Task), body=msgspec.json.encode(definition), headers=JSON)


def gates(*, over: bool = False) -> Call[GatePage]:
    """Those in force; with `over` also those that are no longer."""
    return Call("GET", "/v1/gates", _reads(GatePage), _query(all="true" if over else None))


def gate(gate_id: int) -> Call[Gate]:
    return Call("GET", f"/v1/gates/{gate_id}", _reads(Gate))


def create_gate(gate: GateCreate) -> Call[Gate]:
    return _post("/v1/gates", Gate, gate)


def preview_gate(gate: GateCreate) -> Call[GatePreview]:
    return _post("/v1/gates/preview", GatePreview, gate)


def change_gate(gate_id: int, changes: GateChanges) -> Call[Gate]:
    return Call("PATCH", f"/v1/gates/{gate_id}", _reads(Gate), body=msgspec.json.encode(changes), headers=JSON)


def release_gate(gate_id: int, rate: str | float | None = None) -> Call[Gate]:
    return _post(f"/v1/gates/{gate_id}/release", Gate, GateRelease(rate=rate))


def restore_gate(gate_id: int, which: GateRestore | None = None) -> Call[Restored]:
    return replace(_post(f"/v1/gates/{gate_id}/restore", Restored, which), repeatable=True, waits=10.0)


def preview_stop(tenant: str | None = None) -> Call[StopPreview]:
    return Call("GET", "/v1/stop", _reads(StopPreview), _query(tenant=tenant))


def stop(order: Stop | None = None) -> Call[Gate]:
    return replace(_post("/v1/stop", Gate, order), repeatable=True)


def go(tenant: str | None = None, rate: str | float | None = None) -> Call[GatePage]:
    text = f"{rate:f}/s" if isinstance(rate, int | float) else rate
    return Call("DELETE", "/v1/stop", _reads(GatePage), _query(tenant=tenant, rate=text))


def tenants() -> Call[TenantPage]:
    return Call("GET", "/v1/tenants", _reads(TenantPage))


def create_tenant(tenant: TenantCreate) -> Call[Tenant]:
    return _post("/v1/tenants", Tenant, tenant)


def change_tenant(name: str, weight: float) -> Call[Tenant]:
    return Call("PATCH", _named("tenants", name), _reads(Tenant), body=msgspec.json.encode(TenantChange(weight=weight)),
                headers=JSON)  # fmt: skip


def limits(tenant: str | None = None) -> Call[LimitPage]:
    return Call("GET", "/v1/limits", _reads(LimitPage), query=_query(tenant=tenant))


def limit(name: str, tenant: str | None = None) -> Call[Limit]:
    return Call("GET", _named("limits", name), _reads(Limit), query=_query(tenant=tenant))


def limit_use(name: str, tenant: str | None = None) -> Call[LimitUse]:
    return Call("GET", _named("limits", name) + "/use", _reads(LimitUse), query=_query(tenant=tenant))


def put_limit(name: str, wanted: LimitPut) -> Call[Limit]:
    return Call("PUT", _named("limits", name), _reads(Limit), body=msgspec.json.encode(wanted), headers=JSON)


def remove_limit(name: str, tenant: str | None = None) -> Call[None]:
    return Call("DELETE", _named("limits", name), lambda _: None, query=_query(tenant=tenant))


def service_levels(tenant: str | None = None) -> Call[ServiceLevelPage]:
    return Call("GET", "/v1/service-levels", _reads(ServiceLevelPage), query=_query(tenant=tenant))


def service_level(name: str, tenant: str | None = None) -> Call[ServiceLevel]:
    return Call("GET", _named("service-levels", name), _reads(ServiceLevel), query=_query(tenant=tenant))


def put_service_level(name: str, wanted: ServiceLevelPut) -> Call[ServiceLevel]:
    body = msgspec.json.encode(wanted)
    return Call("PUT", _named("service-levels", name), _reads(ServiceLevel), body=body, headers=JSON)


def delete_service_level(name: str, tenant: str | None = None) -> Call[None]:
    return Call("DELETE", _named("service-levels", name), lambda _: None, query=_query(tenant=tenant))


def keys() -> Call[KeyPage]:
    return Call("GET", "/v1/keys", _reads(KeyPage))


def create_key(key: KeyCreate) -> Call[KeyCreated]:
    return _post("/v1/keys", KeyCreated, key)


def revoke_key(key_id: int) -> Call[Key]:
    return Call("DELETE", f"/v1/keys/{key_id}", _reads(Key))


def queues(tenant: str | None = None) -> Call[QueuePage]:
    return Call("GET", "/v1/queues", _reads(QueuePage), _query(tenant=tenant))


def queue_statistics(
    queue: str, tenant: str | None = None, since: datetime | None = None, until: datetime | None = None
) -> Call[TaskStatistics]:
    query = _query(tenant=tenant, since=since, until=until)
    return Call("GET", _named("queues", queue) + "/statistics", _reads(TaskStatistics), query)


def queue_waiting(queue: str, tenant: str | None = None) -> Call[WaitingPage]:
    return Call("GET", _named("queues", queue) + "/waiting", _reads(WaitingPage), _query(tenant=tenant))


def quotas(tenant: str | None = None) -> Call[QuotaPage]:
    return Call("GET", "/v1/quotas", _reads(QuotaPage), _query(tenant=tenant))


def set_quota(scope: str, name: str, tenant: str | None = None, **limits: Any) -> Call[Quota]:
    """Limits are the fields of `QuotaPut`."""
    body = msgspec.json.encode(QuotaPut(**limits))
    return Call("PUT", _quota(scope, name), _reads(Quota), _query(tenant=tenant), body=body, headers=JSON)


def remove_quota(scope: str, name: str, tenant: str | None = None) -> Call[None]:
    return Call("DELETE", _quota(scope, name), lambda _body: None, _query(tenant=tenant))


def secrets(tenant: str | None = None) -> Call[SecretPage]:
    return Call("GET", "/v1/secrets", _reads(SecretPage), _query(tenant=tenant))


def secret(name: str, tenant: str | None = None) -> Call[Secret]:
    return Call("GET", _named("secrets", name), _reads(Secret), _query(tenant=tenant))


def set_secret(name: str, value: str, tenant: str | None = None) -> Call[Secret]:
    body = msgspec.json.encode(SecretPut(value=value))
    return Call("PUT", _named("secrets", name), _reads(Secret), _query(tenant=tenant), body=body, headers=JSON)


def delete_secret(name: str, tenant: str | None = None, *, force: bool = False) -> Call[None]:
    query = _query(tenant=tenant, force="true" if force else None)
    return Call("DELETE", _named("secrets", name), lambda _body: None, query)


def rotate_tenant_key(tenant: str | None = None) -> Call[Rotated]:
    path = "/v1/secrets/rotate-tenant"
    return Call("POST", path, _reads(Rotated), _query(tenant=tenant), repeatable=False, waits=60.0)


def rotate_master_key() -> Call[Rotated]:
    return Call("POST", "/v1/secrets/rotate-master", _reads(Rotated), waits=300.0)


def find(text: str, tenant: str | None = None, limit: int | None = None) -> Call[FoundPage]:
    return Call("GET", "/v1/find", _reads(FoundPage), _query(text=text, tenant=tenant, limit=limit))


def overview(time_range: str | None = None, tenant: str | None = None) -> Call[Overview]:
    return Call("GET", "/v1/overview", _reads(Overview), _query(range=time_range, tenant=tenant))


def console_ticket() -> Call[ConsoleTicket]:
    return Call("POST", "/v1/session/tickets", _reads(ConsoleTicket))


def whoami() -> Call[Whoami]:
    return Call("GET", "/v1/whoami", _reads(Whoami))


def ready() -> Call[bool]:
    return Call("GET", "/readyz", lambda _body: True, public=True)


_LINES: Final = msgspec.json.Encoder()


def _reads(kind: type[T]) -> Callable[[bytes], T]:
    hashable: Any = kind
    return _decoder(hashable).decode


@cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def _named(kind: str, name: str) -> str:
    return f"/v1/{kind}/{quote(name, safe='')}"


def _job(job_id: str) -> str:
    return f"/v1/jobs/{quote(str(job_id), safe='')}"


def _quota(scope: str, name: str) -> str:
    return f"/v1/quotas/{quote(str(scope), safe='')}/{quote(name, safe='')}"


def _query(**given: Any) -> Query:
    return {name: _text(value) for name, value in given.items() if value is not None}


def _text(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else value


def _post(path: str, kind: type[T], body: msgspec.Struct | None) -> Call[T]:
    encoded = None if body is None else msgspec.json.encode(body)
    return Call("POST", path, _reads(kind), body=encoded, headers=JSON if encoded else _NONE, repeatable=False)


def _stream(path: str, query: Query) -> Call[bytes]:
    return Call("GET", path, bytes, query, headers={"Accept": "text/event-stream"})


def _encode_jobs(encode: Callable[[Any], bytes], jobs: Any) -> bytes:
    try:
        return encode(jobs)
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
        raise InvalidParams(f"the params cannot be written as JSON: {error}") from error
