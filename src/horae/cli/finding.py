"""What a check of the doctor comes to: how it looks, what was seen, and what to do about it."""

from enum import StrEnum
from typing import Final

import msgspec


class Mark(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


STYLES: Final = {Mark.OK: "green", Mark.WARN: "bold yellow", Mark.FAIL: "bold red"}


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    check: str
    mark: Mark
    seen: str
    fix: str = ""


def ok(check: str, seen: str) -> Finding:
    return Finding(check, Mark.OK, seen)


def warn(check: str, seen: str, fix: str) -> Finding:
    return Finding(check, Mark.WARN, seen, fix)


def fail(check: str, seen: str, fix: str) -> Finding:
    return Finding(check, Mark.FAIL, seen, fix)
