"""Documents as the API sends them."""

from typing import Any

ID = "0198a000-0000-7000-8000-000000000001"
OTHER = "0198a000-0000-7000-8000-000000000002"


def job(**changes: Any) -> dict[str, Any]:
    return {
        "id": ID,
        "task": "add",
        "state": "ready",
        "queue": "default",
        "tenant": "default",
        "priority": 5,
        "params": {"a": 1, "b": 2},
        "run_at": "2026-01-01T00:00:00Z",
        "created_at": "2026-01-01T00:00:00Z",
    } | changes


def worker(**changes: Any) -> dict[str, Any]:
    return {
        "id": 7,
        "name": "w1",
        "host": "box",
        "state": "active",
        "health": "healthy",
        "tenant": None,
        "slots": 4,
        "running": 1,
        "tasks": ["add"],
        "joined_at": "2026-01-01T00:00:00Z",
        "seen_at": "2026-01-01T00:00:00Z",
    } | changes


def key(**changes: Any) -> dict[str, Any]:
    return {
        "id": 3,
        "name": "ci",
        "role": "submitter",
        "prefix": "hk_abc",
        "created_at": "2026-01-01T00:00:00Z",
    } | changes
