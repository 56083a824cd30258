"""HTTP calls: jobs that are requests, made by the agent itself, guarded against reaching inside."""

from horae.worker.web.runner import HttpRunner

__all__ = ["HttpRunner"]
