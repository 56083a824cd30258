"""The reader of what jobs recorded (see `jobs`), and what must be true of it whatever went wrong."""

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from horae.testing.waiting import wait_for

JOBS = f"{Path(__file__).with_name('jobs.py')}:app"
COROUTINES = f"{Path(__file__).with_name('jobs.py')}:coroutines"


@dataclass
class Run:
    """One execution, as its job saw it."""

    job: str
    attempt: int
    pid: int
    first: float
    last: float
    """The last sign of life."""
    ended: bool = False


def read_runs(path: Path) -> list[Run]:
    """Each beginning of an attempt has a run of its own, in one process, too: to begin twice is to run twice."""
    runs: list[Run] = []
    latest: dict[tuple[str, int, int], Run] = {}
    text = path.read_text() if path.exists() else ""
    for line in text.splitlines():
        job, attempt, what, pid, instant = line.split()
        key = (job, int(attempt), int(pid))
        if what == "start" or key not in latest:
            latest[key] = Run(*key, float(instant), float(instant))
            runs.append(latest[key])
        latest[key].last, latest[key].ended = float(instant), what == "end"
    return runs


class Effects:
    def __init__(self, path: Path) -> None:
        self._path = path

    def environ(self) -> dict[str, str]:
        return {"EFFECTS": str(self._path)}

    def end_all(self) -> None:
        """Tells the jobs that wait for it to end."""
        self._path.with_name(f"{self._path.name}.end").touch()

    def runs(self) -> list[Run]:
        runs = read_runs(self._path)
        assert len({(run.job, run.attempt) for run in runs}) == len(runs), "one attempt ran twice"
        return runs

    def by_job(self) -> dict[str, list[Run]]:
        jobs: dict[str, list[Run]] = defaultdict(list)
        for run in sorted(self.runs(), key=lambda run: run.attempt):
            jobs[run.job].append(run)
        return jobs

    def overlaps(self) -> list[tuple[Run, Run]]:
        """Executions of one job of which the earlier one still lived when the later one began."""
        pairs = (pair for runs in self.by_job().values() for pair in pairwise(runs))
        return [(earlier, later) for earlier, later in pairs if earlier.last >= later.first]

    async def running(self, count: int, attempt: int = 1, timeout: float = 60) -> list[Run]:
        """Waits until that many jobs run, each in that attempt or a later one."""

        def started() -> list[Run] | None:
            found = [run for run in self.runs() if run.attempt >= attempt and not run.ended]
            return found if len(found) >= count else None

        return await wait_for(started, timeout, interval=0.1, what=f"{count} runs of attempt {attempt}") or []

    async def beyond(self, instant: float) -> None:
        """Waits until a job has given a sign of life after that instant."""
        await wait_for(lambda: any(run.last > instant for run in self.runs()), 100, interval=0.1)
