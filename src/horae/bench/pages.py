"""What the console's pages ask the server when they are opened, and again on a pulse: as `web/src/pages` has it."""

from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple
from urllib.parse import quote, urlencode

LIST_ROWS: Final = 50


class Things(NamedTuple):
    """What single pages are about."""

    waiting: str
    scheduled: str
    succeeded: str
    failed: str
    """Ids of jobs in these states."""
    worker: int
    task: str
    queue: str
    tenant: str
    schedule: str
    cause: str
    limit: str


class Page(NamedTuple):
    name: str
    calls: tuple[str, ...]
    """Sent at once; the page is there when all are answered."""


def pages(of: Things) -> list[Page]:
    return [*_overviews(of), *_lists(of), *_jobs(of), *_schedules(of), *_policy(of), *_rest(of)]


def _overviews(of: Things) -> list[Page]:
    return [
        Page("entry", ("/v1/session", "/v1/tenants")),
        Page("home", (_at("/v1/overview", range="15m"),)),
        Page("home_month", (_at("/v1/overview", range="30d"),)),
        Page("home_tenant", (_at("/v1/overview", range="15m", tenant=of.tenant),)),
    ]


def _lists(of: Things) -> list[Page]:
    """The list of jobs, by everything that it can be filtered by."""
    filters: dict[str, dict[str, object]] = {
        "jobs": {},
        **{f"jobs_{state}": {"status": state} for state in ("scheduled", "blocked", "ready", "running")},
        **{f"jobs_{state}": {"status": state} for state in ("succeeded", "failed", "cancelled")},
        "jobs_pending": {"status": "scheduled,blocked,ready"},
        "jobs_task": {"task": of.task},
        "jobs_queue": {"queue": of.queue},
        "jobs_tenant": {"tenant": of.tenant},
        "jobs_tenant_ready": {"tenant": of.tenant, "status": "ready"},
        "jobs_worker": {"worker": of.worker},
        "jobs_label": {"label": "customer:none"},
        "jobs_text": {"text": "nowhere"},
        "jobs_user": {"user": "bench-admin"},
        "jobs_cause": {"cause": of.cause},
        "jobs_hour": {"since": _ago(hours=1)},
        "jobs_old": {"until": _ago(hours=12)},
    }
    beside = ("/v1/tasks", "/v1/queues")
    return [Page(name, (_at("/v1/jobs", limit=LIST_ROWS, **chosen), *beside)) for name, chosen in filters.items()]


def _jobs(of: Things) -> list[Page]:
    def job(name: str, job_id: str, *parts: str) -> Page:
        return Page(name, (f"/v1/jobs/{job_id}", *(f"/v1/jobs/{job_id}/{part}" for part in parts)))

    every = ("executions", "timeline", "files", "logs?limit=1000")
    return [
        job("job_waiting", of.waiting, *every, "explain"),
        job("job_scheduled", of.scheduled, *every, "explain"),
        job("job_succeeded", of.succeeded, *every),
        job("job_failed", of.failed, *every),
    ]


def _schedules(of: Things) -> list[Page]:
    name = f"/v1/schedules/{quote(of.schedule)}"
    month = {"since": _ago(), "until": _ago(days=-30), "tz": "Europe/Berlin"}
    return [
        Page("schedules", (_at("/v1/schedules", next=3, latest=20, limit=LIST_ROWS), "/v1/tasks")),
        Page("schedules_text", (_at("/v1/schedules", text="nowhere", next=3, latest=20, limit=LIST_ROWS), "/v1/tasks")),
        Page("schedules_calendar", (_at("/v1/schedules/agenda", **month), "/v1/tasks")),
        Page("schedules_collisions", (_at("/v1/schedules/forecast", collisions=20),)),
        Page("schedule", (name, _at(f"{name}/preview", count=366), _at(f"{name}/ticks", limit=60, due="true"))),
        Page("schedule_calendar", (name, _at("/v1/schedules/agenda", schedule=of.schedule, tenant="default", **month))),
        Page("schedule_history", (name, _at(f"{name}/history", limit=200), f"{name}/backfills")),
    ]


def _policy(of: Things) -> list[Page]:
    queue = f"/v1/queues/{quote(of.queue)}"
    worker = f"/v1/workers/{of.worker}"
    return [
        Page("workers", (_at("/v1/workers", runs="true"),)),
        Page("worker", (worker, f"{worker}/history", _at("/v1/executions", worker_id=of.worker, limit=25))),
        Page("queues", ("/v1/queues",)),
        Page("queue", (f"{queue}/waiting", _at(f"{queue}/statistics", since=_ago(hours=1)))),
        Page("queue_week", (f"{queue}/waiting", _at(f"{queue}/statistics", since=_ago(days=7)))),
        Page("limits", ("/v1/limits",)),
        Page("limit", (f"/v1/limits/{quote(of.limit)}/use",)),
        Page("gates", (_at("/v1/gates", all="true"),)),
        Page("stop", ("/v1/stop",)),
    ]


def _rest(of: Things) -> list[Page]:
    task = f"/v1/tasks/{quote(of.task)}"
    letter = f"/v1/jobs/{of.failed}"
    return [
        Page("dead_letters", ("/v1/dead-letters",)),
        Page("dead_letters_day", (_at("/v1/dead-letters", since=_ago(days=1)),)),
        Page("dead_letters_cause", (_at("/v1/dead-letters", cause=of.cause, limit=LIST_ROWS),)),
        Page("dead_letter", (letter, f"{letter}/executions", f"{letter}/logs?limit=200")),
        Page("tasks", ("/v1/tasks", _at("/v1/tasks/statistics", since=_ago(days=1)))),
        Page(
            "task",
            (
                task,
                _at(f"{task}/statistics", since=_ago(days=1)),
                _at("/v1/jobs", task=of.task, limit=10),
                _at("/v1/schedules", task=of.task, limit=10),
            ),
        ),
        Page("task_month", (_at(f"{task}/statistics", since=_ago(days=30)),)),
        Page("actions", (_at("/v1/actions", limit=LIST_ROWS),)),
        Page("find_name", (_at("/v1/find", text="bench"),)),
        Page("find_job", (_at("/v1/find", text=of.succeeded[:13]),)),
    ]


def _at(path: str, **query: object) -> str:
    return f"{path}?{urlencode(query)}" if query else path


def _ago(**lengths: float) -> str:
    """At whole minutes, as the pages ask."""
    at = datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(**lengths)
    return at.isoformat().replace("+00:00", "Z")
