"""The one table of routes. A row says method, path, permission, request and answer records, and who handles it; from it
come routing, authorisation, the API's description, and the test of every role against every route."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec

from horae.model.job import MAX_RESULT_BYTES
from horae.model.roles import Permission
from horae.model.task import TaskDefinition
from horae.server import about, access, jobs, steering, work
from horae.server.calls import Call, EventStream, Reply
from horae.wire import access as access_wire
from horae.wire import jobs as job_wire
from horae.wire import workers as worker_wire

Handler = Callable[[Call], Awaitable[Reply | EventStream]]

MIB: Final = 1024 * 1024


class Route(msgspec.Struct, frozen=True):
    method: str
    path: str
    permission: Permission
    handler: Handler
    summary: str
    answer: Any = None
    body: Any = None
    status: int = 200
    query: tuple[str, ...] = ()
    limit: int = 2 * MIB
    """Bytes of body at most."""
    tag: str = "jobs"


P = Permission
ROUTES: Final = (
    Route("POST", "/v1/jobs", P.JOBS_SUBMIT, jobs.submit, "Submit a job", job_wire.Submitted, job_wire.JobRequest, 201),
    Route("POST", "/v1/jobs/bulk", P.JOBS_SUBMIT, jobs.submit_bulk, "Submit many jobs, as NDJSON or an array",
          job_wire.BulkAnswer, list[job_wire.JobRequest], limit=32 * MIB),
    Route("GET", "/v1/jobs", P.JOBS_READ, jobs.list_jobs, "List jobs, newest first", job_wire.JobPage,
          query=("status", "tenant", "user", "task", "queue", "worker", "label", "since", "until", "cursor", "limit")),
    Route("GET", "/v1/jobs/{job_id}", P.JOBS_READ, jobs.get, "One job", job_wire.Job),
    Route("PATCH", "/v1/jobs/{job_id}", P.JOBS_CONTROL, steering.change, "Change a job that has not started",
          job_wire.Job, job_wire.JobChanges),
    Route("DELETE", "/v1/jobs/{job_id}", P.JOBS_CONTROL, steering.cancel, "Cancel a job, pending or running",
          job_wire.Job, query=("reason",)),
    Route("POST", "/v1/jobs/{job_id}/retry", P.JOBS_CONTROL, steering.retry, "Run a failed or cancelled job again",
          job_wire.Job, job_wire.JobChanges),
    Route("POST", "/v1/jobs/{job_id}/clone", P.JOBS_SUBMIT, steering.clone, "Submit a job like this one",
          job_wire.Submitted, job_wire.JobChanges, 201),
    Route("GET", "/v1/jobs/{job_id}/executions", P.JOBS_READ, jobs.executions, "Every attempt at a job",
          job_wire.ExecutionPage),
    Route("GET", "/v1/jobs/{job_id}/logs", P.JOBS_READ, jobs.logs, "Output of a job, by page or followed",
          job_wire.LogPage, query=("cursor", "limit", "follow")),
    Route("GET", "/v1/jobs/{job_id}/events", P.JOBS_READ, jobs.events, "A job's states as server-sent events",
          job_wire.JobEvent),
    Route("GET", "/v1/jobs/{job_id}/result", P.JOBS_READ, jobs.result, "The result, waited for if asked",
          job_wire.JobResult, query=("wait",)),
    Route("GET", "/v1/executions", P.JOBS_READ, jobs.executions_by_worker, "What a worker ran, latest first",
          job_wire.ExecutionPage, query=("worker_id", "cursor", "limit")),
    Route("POST", "/v1/workers", P.WORK, work.join, "Join as a worker", worker_wire.Joined, worker_wire.Join, 201,
          limit=16 * MIB, tag="workers"),
    Route("GET", "/v1/workers", P.WORKERS_READ, work.list_workers, "List workers", worker_wire.WorkerPage,
          query=("state", "tenant"), tag="workers"),
    Route("GET", "/v1/workers/{worker_id}", P.WORKERS_READ, work.get, "One worker", worker_wire.Worker, tag="workers"),
    Route("POST", "/v1/workers/{worker_id}/exchange", P.WORK, work.exchange, "Finished work up, new work down",
          worker_wire.Exchanged, worker_wire.Exchange, limit=64 * MIB, tag="workers"),
    Route("POST", "/v1/workers/{worker_id}/heartbeat", P.WORK, work.heartbeat, "Renew a worker's lease",
          worker_wire.HeartbeatAnswer, worker_wire.Heartbeat, tag="workers"),
    Route("POST", "/v1/workers/{worker_id}/logs", P.WORK, work.logs, "Output of running jobs", None,
          worker_wire.LogUpload, 204, limit=16 * MIB, tag="workers"),
    Route("POST", "/v1/workers/{worker_id}/checkpoints", P.WORK, work.checkpoint, "Save a job's checkpoint", None,
          worker_wire.CheckpointUpload, 204, limit=4 * MIB, tag="workers"),
    Route("PUT", "/v1/workers/{worker_id}/results/{job_id}/{attempt}", P.WORK, work.result, "Upload a large result",
          None, msgspec.Raw, 204, limit=MAX_RESULT_BYTES + 1024, tag="workers"),
    Route("POST", "/v1/workers/{worker_id}/leave", P.WORK, work.leave, "Leave, giving back what is held", None, None,
          204, tag="workers"),
    Route("POST", "/v1/workers/{worker_id}/drain", P.WORKERS_CONTROL, work.drain, "Let a worker take no more work",
          worker_wire.Worker, tag="workers"),
    Route("POST", "/v1/workers/{worker_id}/resume", P.WORKERS_CONTROL, work.resume, "Let a drained worker go on",
          worker_wire.Worker, tag="workers"),
    Route("GET", "/v1/tasks", P.TASKS_READ, access.list_tasks, "List tasks", access_wire.TaskPage, query=("tenant",),
          tag="tasks"),
    Route("GET", "/v1/tasks/{name}", P.TASKS_READ, access.get_task, "One task", access_wire.Task, query=("tenant",),
          tag="tasks"),
    Route("PUT", "/v1/tasks/{name}", P.TASKS_WRITE, access.put_task, "Register a task", access_wire.Task,
          TaskDefinition, query=("tenant",), tag="tasks"),
    Route("GET", "/v1/tenants", P.TENANTS_READ, access.list_tenants, "List tenants", access_wire.TenantPage,
          tag="tenants"),
    Route("POST", "/v1/tenants", P.TENANTS_MANAGE, access.create_tenant, "Create a tenant", access_wire.Tenant,
          access_wire.TenantCreate, 201, tag="tenants"),
    Route("GET", "/v1/keys", P.KEYS_MANAGE, access.list_keys, "List API keys", access_wire.KeyPage, tag="keys"),
    Route("POST", "/v1/keys", P.KEYS_MANAGE, access.create_key, "Create an API key", access_wire.KeyCreated,
          access_wire.KeyCreate, 201, tag="keys"),
    Route("DELETE", "/v1/keys/{key_id}", P.KEYS_MANAGE, access.revoke_key, "Revoke an API key", access_wire.Key,
          tag="keys"),
    Route("GET", "/v1/whoami", P.SELF_READ, access.whoami, "Who this key is", access_wire.Whoami, tag="keys"),
    Route("GET", "/healthz", P.PUBLIC, about.health, "Whether the process lives", dict[str, str], tag="about"),
    Route("GET", "/readyz", P.PUBLIC, about.ready, "Whether jobs can be submitted and run", dict[str, Any],
          tag="about"),
    Route("GET", "/openapi.json", P.PUBLIC, about.openapi, "This description", dict[str, Any], tag="about"),
    Route("GET", "/docs", P.PUBLIC, about.docs, "The description, to read", tag="about"),
)  # fmt: skip
