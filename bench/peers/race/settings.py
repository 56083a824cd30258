"""How large the race is."""

from typing import NamedTuple


class Settings(NamedTuple):
    seconds: float = 1.5
    """Of single submits."""
    samples: int = 50
    """Of latency."""
    due: int = 1000
    """Jobs for one instant."""
    shallow: int = 10_000
    deep: int = 1_000_000
    fill_seconds: float = 25.0
    """The longest that the waiting million may take to put there."""
    killed: int = 1000
    """Jobs under a kill."""
    patience: float = 45.0
    """Seconds for jobs of killed workers to come back."""
    share: float = 1.0
    """Of each peer's own number of jobs."""

    def size(self, jobs: int) -> int:
        return max(int(jobs * self.share), 500)


QUICK = Settings(
    seconds=0.5, samples=5, due=50, shallow=300, deep=2000, fill_seconds=5.0, killed=100, patience=8.0, share=0.001
)
