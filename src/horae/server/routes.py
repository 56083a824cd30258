"""The one table of routes. A row says method, path, permission, request and answer records, and who handles it; from it
come routing, authorisation, the API's description, and the test of every role against every route."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec

from horae.model.job import MAX_RESULT_BYTES
from horae.model.roles import Permission
from horae.model.task import TaskDefinition
from horae.server import about, access, actions, gates, jobs, limits, quotas, schedules, steering, work
from horae.server.calls import Call, EventStream, Reply
from horae.wire import access as access_wire
from horae.wire import actions as action_wire
from horae.wire import explanation as explanation_wire
from horae.wire import gates as gate_wire
from horae.wire import jobs as job_wire
from horae.wire import limits as limit_wire
from horae.wire import quotas as quota_wire
from horae.wire import schedules as schedule_wire
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
          query=("status", "tenant", "user", "task", "queue", "worker", "label", "since", "until", "cause",
                 "cursor", "limit")),
    Route("POST", "/v1/jobs/actions", P.JOBS_CONTROL, actions.create, "Do something to all jobs that match, or count",
          action_wire.Action, action_wire.ActionRequest, 202, tag="actions"),
    Route("GET", "/v1/actions", P.JOBS_READ, actions.list_actions, "List bulk actions, newest first",
          action_wire.ActionPage, query=("cursor", "limit"), tag="actions"),
    Route("GET", "/v1/actions/{action_id}", P.JOBS_READ, actions.get, "One bulk action and how far it is",
          action_wire.Action, tag="actions"),
    Route("POST", "/v1/actions/{action_id}/cancel", P.JOBS_CONTROL, actions.cancel, "Stop a bulk action where it is",
          action_wire.Action, tag="actions"),
    Route("POST", "/v1/actions/{action_id}/undo", P.JOBS_CONTROL, actions.undo, "Undo a bulk action, within an hour",
          action_wire.Action, status=202, tag="actions"),
    Route("GET", "/v1/dead-letters", P.JOBS_READ, actions.dead_letters, "Failed jobs by cause, or the jobs of one",
          action_wire.DeadLetters, query=("cause", "task", "queue", "tenant", "since", "until", "cursor", "limit"),
          tag="actions"),
    Route("POST", "/v1/dead-letters/redrive", P.JOBS_CONTROL, actions.redrive, "Run dead letters again, at a rate",
          action_wire.Action, action_wire.DeadLetterRequest, 202, tag="actions"),
    Route("POST", "/v1/dead-letters/discard", P.JOBS_CONTROL, actions.discard, "Take jobs out of the dead letters",
          action_wire.Action, action_wire.DeadLetterRequest, 202, tag="actions"),
    Route("GET", "/v1/jobs/{job_id}", P.JOBS_READ, jobs.get, "One job", job_wire.Job),
    Route("PATCH", "/v1/jobs/{job_id}", P.JOBS_CONTROL, steering.change, "Change a job that has not started",
          job_wire.Job, job_wire.JobChanges),
    Route("DELETE", "/v1/jobs/{job_id}", P.JOBS_CONTROL, steering.cancel, "Cancel a job, pending or running",
          job_wire.Job, query=("reason",)),
    Route("POST", "/v1/jobs/{job_id}/retry", P.JOBS_CONTROL, steering.retry, "Run a failed or cancelled job again",
          job_wire.Job, job_wire.JobChanges),
    Route("POST", "/v1/jobs/{job_id}/move", P.JOBS_CONTROL, steering.move, "Let a running job go on at another worker",
          job_wire.Job, job_wire.Move, 202),
    Route("POST", "/v1/jobs/{job_id}/clone", P.JOBS_SUBMIT, steering.clone, "Submit a job like this one",
          job_wire.Submitted, job_wire.JobChanges, 201),
    Route("GET", "/v1/jobs/{job_id}/explain", P.JOBS_READ, jobs.explain, "Why a job waits, or where its time went",
          explanation_wire.Explanation),
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
          worker_wire.Worker, worker_wire.Drain, tag="workers"),
    Route("POST", "/v1/workers/{worker_id}/resume", P.WORKERS_CONTROL, work.resume, "Let a drained worker go on",
          worker_wire.Worker, tag="workers"),
    Route("GET", "/v1/tasks", P.TASKS_READ, access.list_tasks, "List tasks", access_wire.TaskPage, query=("tenant",),
          tag="tasks"),
    Route("GET", "/v1/tasks/{name}", P.TASKS_READ, access.get_task, "One task", access_wire.Task, query=("tenant",),
          tag="tasks"),
    Route("PUT", "/v1/tasks/{name}", P.TASKS_WRITE, access.put_task, "Register a task", access_wire.Task,
          TaskDefinition, query=("tenant",), tag="tasks"),
    Route("GET", "/v1/limits", P.LIMITS_READ, limits.list_limits, "List the limits on what runs",
          limit_wire.LimitPage, query=("tenant",), tag="limits"),
    Route("GET", "/v1/limits/{name}", P.LIMITS_READ, limits.get, "One limit, and how much of it is used",
          limit_wire.Limit, query=("tenant",), tag="limits"),
    Route("PUT", "/v1/limits/{name}", P.LIMITS_MANAGE, limits.put, "Make or change a limit, effective at once",
          limit_wire.Limit, limit_wire.LimitPut, tag="limits"),
    Route("DELETE", "/v1/limits/{name}", P.LIMITS_MANAGE, limits.remove, "Remove a limit", None, None, 204,
          query=("tenant",), tag="limits"),
    Route("GET", "/v1/schedules", P.SCHEDULES_READ, schedules.list_schedules, "List schedules, by name",
          schedule_wire.SchedulePage, query=("tenant", "task", "cursor", "limit"), tag="schedules"),
    Route("POST", "/v1/schedules", P.SCHEDULES_WRITE, schedules.create, "Create a schedule", schedule_wire.Schedule,
          schedule_wire.ScheduleSave, 201, tag="schedules"),
    Route("POST", "/v1/schedules/preview", P.SCHEDULES_READ, schedules.preview_new, "The ticks of a schedule not saved",
          schedule_wire.Preview, schedule_wire.PreviewRequest, tag="schedules"),
    Route("GET", "/v1/schedules/forecast", P.SCHEDULES_READ, schedules.forecast, "All schedules, minute by minute",
          schedule_wire.Forecast, query=("tenant", "since", "hours", "collisions"), tag="schedules"),
    Route("GET", "/v1/schedules/limits", P.SCHEDULES_READ, schedules.get_limits, "How often schedules may fire",
          schedule_wire.ScheduleLimits, query=("tenant",), tag="schedules"),
    Route("PUT", "/v1/schedules/limits", P.TENANTS_MANAGE, schedules.put_limits, "Say how often schedules may fire",
          schedule_wire.ScheduleLimits, schedule_wire.ScheduleLimits, query=("tenant",), tag="schedules"),
    Route("GET", "/v1/schedules/{name}", P.SCHEDULES_READ, schedules.get, "One schedule", schedule_wire.Schedule,
          query=("tenant",), tag="schedules"),
    Route("PUT", "/v1/schedules/{name}", P.SCHEDULES_WRITE, schedules.put, "Create a schedule, or make it so",
          schedule_wire.SchedulePut, schedule_wire.ScheduleSave, query=("tenant",), tag="schedules"),
    Route("PATCH", "/v1/schedules/{name}", P.SCHEDULES_WRITE, schedules.change, "Change parts of a schedule",
          schedule_wire.Schedule, schedule_wire.ScheduleChange, query=("tenant",), tag="schedules"),
    Route("DELETE", "/v1/schedules/{name}", P.SCHEDULES_WRITE, schedules.delete, "Delete a schedule", None,
          schedule_wire.Why, 204, query=("tenant", "why"), tag="schedules"),
    Route("POST", "/v1/schedules/{name}/pause", P.SCHEDULES_WRITE, schedules.pause, "Let a schedule rest",
          schedule_wire.Schedule, schedule_wire.Why, query=("tenant",), tag="schedules"),
    Route("POST", "/v1/schedules/{name}/resume", P.SCHEDULES_WRITE, schedules.resume, "Let a paused schedule go on",
          schedule_wire.Schedule, schedule_wire.Why, query=("tenant",), tag="schedules"),
    Route("POST", "/v1/schedules/{name}/trigger", P.SCHEDULES_WRITE, schedules.trigger, "Run a schedule's job now",
          schedule_wire.Triggered, schedule_wire.Trigger, 201, query=("tenant",), tag="schedules"),
    Route("GET", "/v1/schedules/{name}/preview", P.SCHEDULES_READ, schedules.preview, "The ticks to come",
          schedule_wire.Preview, query=("tenant", "count", "since", "until"), tag="schedules"),
    Route("GET", "/v1/schedules/{name}/ticks", P.SCHEDULES_READ, schedules.list_ticks, "What became of its ticks",
          schedule_wire.TickPage, query=("tenant", "state", "cursor", "limit"), tag="schedules"),
    Route("GET", "/v1/schedules/{name}/history", P.SCHEDULES_READ, schedules.history, "Who changed it, when and why",
          schedule_wire.VersionPage, query=("tenant", "limit"), tag="schedules"),
    Route("POST", "/v1/schedules/{name}/backfill", P.SCHEDULES_WRITE, schedules.backfill, "Run ticks of the past",
          schedule_wire.Backfill, schedule_wire.BackfillRequest, 201, query=("tenant",), tag="schedules"),
    Route("GET", "/v1/schedules/{name}/backfills", P.SCHEDULES_READ, schedules.list_backfills, "List backfills",
          schedule_wire.BackfillPage, query=("tenant",), tag="schedules"),
    Route("GET", "/v1/schedules/{name}/backfills/{backfill}", P.SCHEDULES_READ, schedules.get_backfill, "One backfill",
          schedule_wire.Backfill, query=("tenant",), tag="schedules"),
    Route("DELETE", "/v1/schedules/{name}/backfills/{backfill}", P.SCHEDULES_WRITE, schedules.cancel_backfill,
          "Cancel a backfill", schedule_wire.Backfill, query=("tenant",), tag="schedules"),
    Route("GET", "/v1/calendars", P.SCHEDULES_READ, schedules.list_calendars, "List calendars",
          schedule_wire.CalendarPage, query=("tenant",), tag="calendars"),
    Route("GET", "/v1/calendars/{name}", P.SCHEDULES_READ, schedules.get_calendar, "One calendar",
          schedule_wire.Calendar, query=("tenant",), tag="calendars"),
    Route("PUT", "/v1/calendars/{name}", P.SCHEDULES_WRITE, schedules.put_calendar, "Create or change a calendar",
          schedule_wire.Calendar, schedule_wire.CalendarDefinition, query=("tenant",), tag="calendars"),
    Route("DELETE", "/v1/calendars/{name}", P.SCHEDULES_WRITE, schedules.delete_calendar, "Delete a calendar", None,
          None, 204, query=("tenant",), tag="calendars"),
    Route("GET", "/v1/tenants", P.TENANTS_READ, access.list_tenants, "List tenants", access_wire.TenantPage,
          tag="tenants"),
    Route("POST", "/v1/tenants", P.TENANTS_MANAGE, access.create_tenant, "Create a tenant", access_wire.Tenant,
          access_wire.TenantCreate, 201, tag="tenants"),
    Route("GET", "/v1/queues", P.JOBS_READ, quotas.list_queues, "Queues: how much waits and runs, and the rates",
          quota_wire.QueuePage, query=("tenant",), tag="queues"),
    Route("GET", "/v1/quotas", P.QUOTAS_READ, quotas.list_quotas, "List quotas", quota_wire.QuotaPage,
          query=("tenant",), tag="quotas"),
    Route("PUT", "/v1/quotas/{scope}/{name}", P.QUOTAS_MANAGE, quotas.put_quota, "Set a quota", quota_wire.Quota,
          quota_wire.QuotaPut, query=("tenant",), tag="quotas"),
    Route("DELETE", "/v1/quotas/{scope}/{name}", P.QUOTAS_MANAGE, quotas.remove_quota, "Remove a quota", None, None,
          204, query=("tenant",), tag="quotas"),
    Route("PATCH", "/v1/tenants/{name}", P.TENANTS_MANAGE, access.change_tenant, "Change a tenant's weight",
          access_wire.Tenant, access_wire.TenantChange, tag="tenants"),
    Route("GET", "/v1/gates", P.GATES_READ, gates.list_gates, "List gates, those in force or all", gate_wire.GatePage,
          query=("all",), tag="gates"),
    Route("POST", "/v1/gates", P.GATES_MANAGE, gates.create, "Close a gate: hold, drop or reject jobs", gate_wire.Gate,
          gate_wire.GateCreate, 201, tag="gates"),
    Route("POST", "/v1/gates/preview", P.GATES_READ, gates.preview, "What a gate would be for, without closing it",
          gate_wire.GatePreview, gate_wire.GateCreate, tag="gates"),
    Route("GET", "/v1/gates/{gate_id}", P.GATES_READ, gates.get, "One gate", gate_wire.Gate, tag="gates"),
    Route("PATCH", "/v1/gates/{gate_id}", P.GATES_MANAGE, gates.change, "Change a gate's expiry or reason",
          gate_wire.Gate, gate_wire.GateChanges, tag="gates"),
    Route("POST", "/v1/gates/{gate_id}/release", P.GATES_MANAGE, gates.release, "Open a gate, at once or at a rate",
          gate_wire.Gate, gate_wire.GateRelease, tag="gates"),
    Route("POST", "/v1/gates/{gate_id}/restore", P.GATES_MANAGE, gates.restore, "Bring back what a gate dropped",
          gate_wire.Restored, gate_wire.GateRestore, tag="gates"),
    Route("POST", "/v1/stop", P.GATES_MANAGE, gates.stop, "Emergency stop of everything the key may touch",
          gate_wire.Gate, gate_wire.Stop, tag="gates"),
    Route("DELETE", "/v1/stop", P.GATES_MANAGE, gates.go, "End the emergency stop, at once or at a rate",
          gate_wire.GatePage, query=("tenant", "rate"), tag="gates"),
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
