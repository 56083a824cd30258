"""What people type, as values: pairs, parameters, instants, ids."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

import msgspec
from cyclopts import Group, Parameter

from horae.model.errors import InvalidInput
from horae.model.job import JobRequest, check_instant, check_request
from horae.model.placement import Requirements, Traits
from horae.model.unique import OnConflict, Unique, UniqueWhile
from horae.model.wishes import check_placement
from horae.wire.jobs import JobChanges

GROUP: Final = Group("Job", sort_key=50)
Dashed = Annotated[str, Parameter(allow_leading_hyphen=True)]
"""A word that may be `-`, for stdin."""


@Parameter(name="*", group=GROUP)
@dataclass(frozen=True, kw_only=True)
class JobArguments:
    param: list[str] = field(default_factory=list)
    """A parameter as name=value; the value is read as JSON if it is JSON, else as text. May be repeated."""
    json_params: Dashed | None = None
    """All parameters as a JSON object: the object itself, @FILE, or - for stdin."""
    at: str | None = None
    """When to run, e.g. 2026-11-20T10:00+01:00."""
    delay: str | None = None
    """How much later than now to run, e.g. 90s or 1h30m."""
    priority: int | None = None
    """1 (lowest) to 10 (emergency); 5 is normal."""
    queue: str | None = None
    """The queue to wait in."""
    deadline: str | None = None
    """Should have run by then; pulls the job forward."""
    timeout: str | None = None
    """How long one attempt may run, e.g. 30s."""
    max_attempts: int | None = None
    """How often to try."""
    label: list[str] = field(default_factory=list)
    """A label as name=value. May be repeated."""
    concurrency_key: str | None = None
    """Jobs of one key share its limits."""
    expires: str | None = None
    """Start by then, or never."""
    expires_in: str | None = None
    """The same, counted from when it is due, e.g. 10m."""
    requires: list[str] = field(default_factory=list)
    """What the worker must have, as name=value: slots, cpu, memory, gpu, disk, kind, region, zone, else a label."""
    prefers: list[str] = field(default_factory=list)
    """What the worker should be, as name=value: kind, region, zone, else a label. May be repeated."""
    avoids: list[str] = field(default_factory=list)
    """What the worker should not be, likewise."""
    sticky: str | None = None
    """Jobs of one sticky key go to the same worker while it is there."""
    spread: int | None = None
    """At most so many jobs like this one at once on one worker."""
    unique: bool = False
    """Let no second job with the same parameters wait or run beside this one."""
    unique_by: list[str] = field(default_factory=list)
    """The same by this parameter alone. May be repeated."""
    unique_during: UniqueWhile | None = None
    """How long it keeps others away: while waiting, running, or active (both)."""
    unique_period: str | None = None
    """Keep others away for this long instead, e.g. 1h."""
    on_conflict: OnConflict | None = None
    """What becomes of the second: return the first, reject, replace the first, or debounce."""

    def request(self, task: str, tenant: str | None) -> JobRequest:
        """Checked here already, so that a mistake costs no round trip."""
        given = self._given() | ({} if (unique := self._unique()) is None else {"unique": unique})
        return check_request(JobRequest(task=task, tenant=tenant, **{"params": {}, **given}))

    def changes(self) -> JobChanges:
        if self._unique() is not None:
            raise InvalidInput("--unique…: what makes a job unique is said when it is submitted and cannot be changed")
        return JobChanges(**self._given())

    def _given(self) -> dict[str, Any]:
        values: dict[str, Any] = {
            "params": read_params(self.param, self.json_params),
            "run_at": read_instant(self.at, "at"),
            "deadline": read_instant(self.deadline, "deadline"),
            "expires": read_instant(self.expires, "expires"),
            "labels": read_pairs(self.label, "label") or None,
        }
        values |= self._wishes()
        for name in ("delay", "priority", "queue", "timeout", "max_attempts", "concurrency_key", "expires_in"):
            values[name] = getattr(self, name)
        return {name: value for name, value in values.items() if value is not None}

    def _unique(self) -> Unique | None:
        said = {"during": self.unique_during, "period": self.unique_period, "on_conflict": self.on_conflict}
        given: dict[str, Any] = {name: value for name, value in said.items() if value is not None}
        if self.unique_by:
            given["by"] = self.unique_by
        return Unique(**given) if given or self.unique else None

    def _wishes(self) -> dict[str, Any]:
        """Where the job may and should run; checked here already, as everything that needs no look-up."""
        requires = read_wishes(self.requires, Requirements, "requires")
        prefers, avoids = read_wishes(self.prefers, Traits, "prefers"), read_wishes(self.avoids, Traits, "avoids")
        check_placement(requires, prefers, avoids, self.sticky, self.spread)
        return {
            "requires": requires, "prefers": prefers, "avoids": avoids, "sticky": self.sticky, "spread": self.spread,
        }  # fmt: skip


NOTHING: Final = JobArguments()


def read_pairs(pairs: Sequence[str], option: str) -> dict[str, str]:
    found = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise InvalidInput(f"--{option}: {pair[:80]!r} is not name=value")
        found[name] = value
    return found


W = TypeVar("W", Requirements, Traits)


def read_wishes(pairs: Sequence[str], kind: type[W], option: str) -> W | None:
    """`name=value` as the field of that name, else as a label."""
    if not pairs:
        return None
    fields = set(kind.__struct_fields__) - {"labels"}
    found = read_pairs(pairs, option)
    named: dict[str, Any] = {name: value for name, value in found.items() if name in fields}
    named["labels"] = {name: value for name, value in found.items() if name not in fields}
    try:
        return msgspec.convert(named, kind, strict=False)
    except msgspec.ValidationError as error:
        raise InvalidInput(f"--{option}: {error}") from error


def read_params(pairs: Sequence[str], document: str | None) -> dict[str, Any] | None:
    """None when nothing was said; single parameters go over those of the document."""
    if document is None and not pairs:
        return None
    whole = {} if document is None else _read_document(document)
    return whole | {name: _read_value(value) for name, value in read_pairs(pairs, "param").items()}


def _read_value(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _read_document(document: str) -> dict[str, Any]:
    if document == "-":
        text = sys.stdin.read()
    elif document.startswith("@"):
        text = Path(document[1:]).expanduser().read_text(encoding="utf-8")
    else:
        text = document
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise InvalidInput(f"--json-params: not a JSON object: {error}") from error


def read_file(file: str) -> str:
    """A file's text; - is stdin."""
    if file == "-":
        return sys.stdin.read()
    try:
        return Path(file).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{file} cannot be read: {error}") from error


def read_instant(text: str | None, option: str) -> datetime | None:
    if text is None:
        return None
    try:
        return check_instant(datetime.fromisoformat(text), option)
    except ValueError:
        raise InvalidInput(f"--{option}: {text[:80]!r} is not an instant such as 2026-11-20T10:00+01:00") from None


def read_ids(ids: Sequence[str]) -> list[str]:
    """The ids, with `-` replaced by the words on stdin."""
    for item in ids:
        if item.startswith("-") and item != "-":
            raise InvalidInput(f"there is no option {item}")
    found = [word for item in ids for word in (sys.stdin.read().split() if item == "-" else [item])]
    if not found and "-" not in ids:
        raise InvalidInput("no job was named: give ids, or - to read them from stdin")
    return found
