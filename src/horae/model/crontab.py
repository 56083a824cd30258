"""Reading a crontab: every line of it, with what was understood and the traps of its dialect.

Nothing is guessed silently. An entry that cannot become a schedule has an `error` instead of a rule; one that can, but
may mean something else here than its author thought, has `warnings`.
"""

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from horae.model.cron import parse
from horae.model.errors import InvalidInput
from horae.model.timing import Rule
from horae.model.zones import check_zone

_VARIABLE: Final = re.compile(r"""([A-Za-z_][A-Za-z0-9_]*|"[^"]+"|'[^']+')\s*=\s*(.*)""")
_TIME_LIKE: Final = re.compile(r"(?:[\d*?,/#LWH()~-]|(?:SUN|MON|TUE|WED|THU|FRI|SAT))+", re.ASCII | re.IGNORECASE)
"""No command looks like this; a field too many does."""
_UNEVEN: Final = re.compile(r"\*/(\d{1,2})", re.ASCII)
_ZONE_VARIABLES: Final = ("CRON_TZ", "TZ")
_IGNORED_VARIABLES: Final = {
    "MAILTO": "Horae does not mail what a command prints: its output is in the job's log",
    "MAILFROM": "Horae does not mail what a command prints: its output is in the job's log",
    "RANDOM_DELAY": "not read: give the schedule a jitter",
    "START_HOURS_RANGE": "not read: give the schedule a window",
}


class Entry(msgspec.Struct, kw_only=True, frozen=True, omit_defaults=True):
    """One line that asks for something to be run."""

    line: int
    text: str
    """The line as it stands."""
    rule: Rule | None = None
    error: str | None = None
    """Why it has no rule."""
    tz: str | None = None
    """The zone by CRON_TZ or TZ above it; None: cron's own, the machine's."""
    user: str | None = None
    command: str = ""
    stdin: str | None = None
    """What the first unescaped % of the line began: cron feeds it to the command."""
    env: dict[str, str] = {}
    notes: tuple[str, ...] = ()
    """What was understood."""
    warnings: tuple[str, ...] = ()


def read_crontab(text: str, system: bool) -> list[Entry]:  # noqa: FBT001 - the caller's words
    """`system`: of /etc/crontab and /etc/cron.d, where a user stands before the command."""
    env: dict[str, str] = {}
    entries = []
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        variable = _VARIABLE.fullmatch(stripped)
        if variable:
            env[variable[1].strip("\"'")] = _unquoted(variable[2].strip())
        else:
            entries.append(_entry(number, stripped, dict(env), system=system))
    return entries


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def _entry(number: int, line: str, env: dict[str, str], *, system: bool) -> Entry:
    expression, rest = _split_expression(line)
    user, command = _split_user(rest) if system else (None, rest)
    command, stdin = _split_stdin(command)
    kept = {name: value for name, value in env.items() if name not in (*_ZONE_VARIABLES, *_IGNORED_VARIABLES)}
    entry = Entry(line=number, text=line, user=user, command=command, stdin=stdin, env=kept)
    if not command:
        return msgspec.structs.replace(entry, error="there is no command" + (" after the user" if system else ""))
    try:
        return _understood(entry, expression, env)
    except InvalidInput as error:
        return msgspec.structs.replace(entry, error=error.detail)


def _split_expression(line: str) -> tuple[str, str]:
    """The expression and what follows. A sixth field (seconds first) is taken as one where it cannot be a command."""
    words = line.split(None, 7)
    fields = 1 if line.startswith("@") else 5
    while 5 <= fields < len(words) and fields < 7 and _TIME_LIKE.fullmatch(words[fields]):
        fields += 1
    parts = line.split(None, fields)
    return " ".join(parts[:fields]), parts[fields] if len(parts) > fields else ""


def _split_user(rest: str) -> tuple[str | None, str]:
    user, command = ([*rest.split(None, 1), "", ""])[:2]
    return user or None, command


def _split_stdin(command: str) -> tuple[str, str | None]:
    """As cron does: the first bare % ends the command, the others are line ends of its input; \\% is a plain %."""
    first, *lines = [part.replace("\\%", "%") for part in re.split(r"(?<!\\)%", command)]
    return first.strip(), "\n".join(lines) if lines else None


def _understood(entry: Entry, expression: str, env: dict[str, str]) -> Entry:
    expression = expression.removeprefix("-")
    if expression.lower() == "@reboot":
        raise InvalidInput("@reboot is no time: start such a command with the machine, by systemd for instance")
    if "~" in expression:
        raise InvalidInput("a~b, a time by chance, is not read: H(a-b) gives each schedule a time of its own")
    zone = _zone(env)
    cron = parse(expression, f"line {entry.line}")
    return msgspec.structs.replace(
        entry,
        rule=Rule(cron=expression),
        tz=zone,
        notes=(f"{cron.describe()}, {zone or 'in the zone you give it (cron: that of the machine)'}",),
        warnings=(*_traps(expression.upper().split()), *_line_traps(entry, env)),
    )


def _zone(env: dict[str, str]) -> str | None:
    name = next((name for name in _ZONE_VARIABLES if env.get(name)), None)
    return check_zone(env[name].removeprefix(":"), name) if name else None


def _traps(fields: list[str]) -> Iterator[str]:
    """What other dialects read differently in the expression."""
    if len(fields) < 5:
        return
    if len(fields) == 6:
        yield "six fields: read as seconds first; Debian's cron would take the sixth for the command"
    minute, hour, day, _, weekday = fields[-5:]
    if day[0] not in "*?" and weekday[0] not in "*?":
        yield "day of month and day of week are both given: it fires on days that match either, as in cron"
    elif day not in "*?" and weekday not in "*?":
        yield "a day field starts with *: it fires on days that match both day fields, as in Debian's cron"
    if ("?" in (day, weekday) or len(fields) == 6) and re.search(r"\d", weekday.partition("#")[0]):
        yield "looks like Quartz, where 1 is Sunday: here 0 and 7 are Sunday and 1 is Monday; names are safe"
    for name, field, size in (("minute", minute, 60), ("hour", hour, 24)):
        step = _UNEVEN.fullmatch(field)
        if step and int(step[1]) and size % int(step[1]):
            yield f"{name} {field} starts again at 0 every {'hour' if size == 60 else 'day'}: it is no even interval"


def _line_traps(entry: Entry, env: dict[str, str]) -> Iterator[str]:
    if entry.stdin is not None:
        yield "a % in the command: what follows it is the command's input, as in cron; write \\% for a plain %"
    for name, why in _IGNORED_VARIABLES.items():
        if name in env:
            yield f"{name}: {why}"
    if env.get("TZ") and not env.get("CRON_TZ"):
        yield "TZ: taken as the schedule's zone; Debian's cron gives it to the command only"
