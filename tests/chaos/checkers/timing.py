"""Schedules: each due tick once, or recorded why not."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta

from chaos.case import Case, ScheduleRow, TickRow, Violation
from horae.model.overlap import Overlap


def ticks(case: Case) -> Iterator[Violation]:
    """Each tick from a schedule's first to its cursor has one job, or was skipped for a reason that is on record."""
    made = Counter((row.schedule, row.tick) for row in case.jobs.values() if row.schedule is not None)
    for (schedule, tick), times in made.items():
        if times > 1:
            yield Violation("ticks", f"{schedule} made {times} jobs of the tick of {tick}")
    noted: dict[str, list[TickRow]] = defaultdict(list)
    for row in case.ticks:
        noted[row.schedule].append(row)
    yield from _silent(case)
    for schedule in case.schedules:
        if schedule.first_at is None:
            yield Violation("ticks", f"{schedule.name} never ticked")
            continue
        step = timedelta(seconds=schedule.every)
        if schedule.first_at - schedule.made_at > step + timedelta(seconds=1):
            yield Violation(
                "ticks", f"{schedule.name} was made {schedule.made_at}; its first tick is {schedule.first_at}"
            )
        due = [schedule.first_at + n * step for n in range(int((schedule.cursor_at - schedule.first_at) / step) + 1)]
        skipped = [row for row in noted[schedule.name] if row.state == "skipped"]
        excused = {at for row in skipped for at in _of(row, step) if _for_good_reason(case, schedule, row, at)}
        for at in due:
            if not made[schedule.name, at] and at not in excused:
                why = ", ".join(f"{row.reason}" for row in skipped if at in _of(row, step)) or "nobody says why"
                yield Violation("ticks", f"{schedule.name} made no job of the tick of {at}: {why}")
        for name, tick in made:
            if name == schedule.name and tick not in due and tick is not None and tick <= schedule.cursor_at:
                yield Violation("ticks", f"{name} made a job for {tick}, which is no tick of it")


def _for_good_reason(case: Case, schedule: ScheduleRow, row: TickRow, at: datetime) -> bool:
    """Because another run had not ended, where that counts; or because its time was jumped over. Nothing in a campaign
    lasts so long that a tick could be missed otherwise, and that something failed is no reason."""
    if row.reason == "overlap":
        return schedule.overlap != Overlap.ALLOW
    return row.reason == "missed" and not case.trusted(at)


def _silent(case: Case) -> Iterator[Violation]:
    """A schedule that nobody looks after has no tick that is due by its own cursor: the clock must tell."""
    for schedule in case.schedules:
        cursor = case.cursors.get(schedule.name, schedule.made_at)
        if case.well_at is not None and cursor < case.well_at - timedelta(seconds=schedule.every):
            what = f"{schedule.name} had come to {cursor} and no further, long after all was well at {case.well_at}"
            yield Violation("ticks", what)


def _of(row: TickRow, step: timedelta) -> list[datetime]:
    """Of several ticks missed in a row one is noted down, with how many."""
    return [row.at + n * step for n in range(row.count)]
