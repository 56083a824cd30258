"""A cron expression in plain words: "at 10:00 on Friday". Told from the masks, so it says what will really happen."""

from typing import Final

from horae.model.crondays import Days
from horae.model.cronfields import DAY, HOUR, MINUTE, MONTH, SECOND, WEEKDAY, Field, bits

WEEKDAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
MONTHS: Final = (
    "", "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_NTH: Final = ("", "first", "second", "third", "fourth", "fifth")
_MOST_TIMES: Final = 6


def describe(seconds: int, minutes: int, hours: int, days: Days, months: int) -> str:
    parts = [_time(seconds, minutes, hours), _days(days), _months(months)]
    if parts[0].startswith("at ") and ":" in parts[0] and not any(parts[1:]):
        parts.append("every day")
    return " ".join(part for part in parts if part)


def _time(seconds: int, minutes: int, hours: int) -> str:
    times = [(h, m, s) for h in bits(hours)[: _MOST_TIMES + 1] for m in bits(minutes) for s in bits(seconds)]
    if len(times) <= _MOST_TIMES and (hours.bit_count() < 4 or minutes.bit_count() > 1):
        return "at " + _join([f"{h:02}:{m:02}" + (f":{s:02}" if seconds != 1 else "") for h, m, s in times])
    if seconds == 1 and minutes.bit_count() == 1:
        return _hourly(bits(minutes)[0], hours)
    words = [] if seconds == 1 else [_often(SECOND, seconds)]
    if minutes != _whole(MINUTE) or not words:
        words.append(_often(MINUTE, minutes))
    return " ".join(filter(None, [*words, _within(hours, after_a_list=words[-1].startswith("at "))]))


def _hourly(minute: int, hours: int) -> str:
    values = bits(hours)
    step = _step(values)
    if step and (step == 1 or values[-1] + step > 23):
        every = "every hour" if step == 1 else f"every {step} hours"
        if hours == _whole(HOUR):
            return every if minute == 0 else f"at minute {minute} of every hour"
        return f"{every} from {values[0]:02}:{minute:02} to {values[-1]:02}:{minute:02}"
    return "at " + _join([f"{hour:02}:{minute:02}" for hour in values])


def _within(hours: int, *, after_a_list: bool) -> str:
    values = bits(hours)
    if hours == _whole(HOUR):
        return "of every hour" if after_a_list else ""
    if _step(values) == 1 or len(values) == 1:
        return f"from {values[0]:02}:00 to {values[-1]:02}:59"
    return f"in the hours {_numbers(values)}"


def _often(field: Field, mask: int) -> str:
    """ "every minute", "every 15 minutes", "every 15 minutes from minute 7" or "at minutes 0 and 20"."""
    values = bits(mask)
    if mask == _whole(field):
        return f"every {field.name}"
    step = _step(values)
    if step > 1 and values[0] < step and values[-1] + step > field.high and field.size % step == 0:
        return f"every {step} {field.name}s" + (f" from {field.name} {values[0]}" if values[0] else "")
    return f"at {field.name}{'s' if len(values) > 1 else ''} {_numbers(values)}"


def _step(values: list[int]) -> int:
    """The distance of neighbours if it is the same everywhere, else 0."""
    step = values[1] - values[0] if len(values) > 1 else 0
    return step if step and values == list(range(values[0], values[-1] + 1, step)) else 0


def _days(days: Days) -> str:
    by_day, by_weekday = _by_day(days), _by_weekday(days)
    if by_day and by_weekday:
        both = days.day_starred or days.weekday_starred
        return f"on {by_day}, {'if it is' if both else 'and also on'} {by_weekday}"
    return f"on {by_day or by_weekday}" if by_day or by_weekday else ""


def _by_day(days: Days) -> str:
    values = bits(days.days)
    if days.days == _whole(DAY):
        return ""
    words = [f"day{'s' if len(values) > 1 else ''} {_numbers(values)} of the month"] if values else []
    words += [_back(back) for back in days.back_from_last]
    words += ["the last weekday of the month"] if days.last_weekday else []
    words += [f"the weekday nearest day {day}" for day in days.nearest]
    return _join(words)


def _back(back: int) -> str:
    if back == 0:
        return "the last day of the month"
    return f"the day {back} day{'s' if back > 1 else ''} before the last of the month"


def _by_weekday(days: Days) -> str:
    if days.weekdays == _whole(WEEKDAY):
        return ""
    words = [_weekdays(days.weekdays)] if days.weekdays else []
    words += [f"the {_NTH[nth]} {WEEKDAYS[weekday]} of the month" for weekday, nth in days.nth]
    words += [f"the last {WEEKDAYS[weekday]} of the month" for weekday in days.last]
    return _join(words)


def _weekdays(mask: int) -> str:
    if mask == 0b0111110:
        return "Monday to Friday"
    return _join([WEEKDAYS[number] for number in sorted(bits(mask), key=lambda number: (number - 1) % 7)])


def _months(mask: int) -> str:
    return "" if mask == _whole(MONTH) else "in " + _join([MONTHS[number] for number in bits(mask)])


def _whole(field: Field) -> int:
    return (1 << field.high + 1) - (1 << field.low)


def _numbers(values: list[int]) -> str:
    """Runs of three and more as "9–17", the rest one by one."""
    runs: list[list[int]] = []
    for value in values:
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    return _join([word for run in runs for word in (_run(run) if len(run) > 2 else map(str, run))])


def _run(run: list[int]) -> list[str]:
    return [f"{run[0]}–{run[-1]}"]


def _join(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
