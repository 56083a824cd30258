"""`GET /jobs/{id}/explain`: why a job waits, when it will start, where its time went."""

from horae.model.explanation import (
    Ahead,
    Code,
    Estimate,
    Explanation,
    HeldBy,
    HoldingGate,
    HoldingJob,
    HoldingLimit,
    HoldingWorker,
    Place,
    Reason,
    RunningNow,
    Spent,
    Stretch,
    Timeline,
    What,
)

__all__ = [
    "Ahead",
    "Code",
    "Estimate",
    "Explanation",
    "HeldBy",
    "HoldingGate",
    "HoldingJob",
    "HoldingLimit",
    "HoldingWorker",
    "Place",
    "Reason",
    "RunningNow",
    "Spent",
    "Stretch",
    "Timeline",
    "What",
]
