"""Schedules: each due tick once, or recorded why not."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta

from chaos.case import Case, TickRow, Violation


def ticks(case: Case) -> Iterator[Violation]:
    """Each tick from a schedule's first to its cursor has one job, or was skipped for a reason that is on record."""
    made = Counter((row.schedule, row.tick) for row in case.jobs.values() if row.schedule is not None)
    for (schedule, tick), times in made.items():
        if times > 1:
            yield Violation("ticks", f"{schedule} made {times} jobs of the tick of {tick}")
    noted: dict[str, list[TickRow]] = defaultdict(list)
    for row in case.ticks:
        noted[row.schedule].append(row)
    for schedule in case.schedules:
        step = timedelta(seconds=schedule.every)
        if schedule.first_at - schedule.made_at > step + timedelta(seconds=1):
            yield Violation(
                "ticks", f"{schedule.name} was made {schedule.made_at}; its first tick is {schedule.first_at}"
            )
        due = [schedule.first_at + n * step for n in range(int((schedule.cursor_at - schedule.first_at) / step) + 1)]
        excused = {at for row in noted[schedule.name] if row.state == "skipped" and row.reason for at in _of(row, step)}
        for at in due:
            if not made[schedule.name, at] and at not in excused:
                yield Violation("ticks", f"{schedule.name} made no job of the tick of {at}, and nobody says why")
        for name, tick in made:
            if name == schedule.name and tick not in due and tick is not None and tick <= schedule.cursor_at:
                yield Violation("ticks", f"{name} made a job for {tick}, which is no tick of it")


def _of(row: TickRow, step: timedelta) -> list[datetime]:
    """Of several ticks missed in a row one is noted down, with how many."""
    return [row.at + n * step for n in range(row.count)]
