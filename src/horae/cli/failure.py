"""How a failed command ends: one clear line on stderr, what to do about it, and an exit code scripts can rely on."""

import os
import sys
import traceback
from typing import Final, TypeVar

from horae.cli.text import printable
from horae.model.errors import (
    AlreadyExists,
    DuplicateJob,
    Forbidden,
    HoraeError,
    IdempotencyConflict,
    InvalidInput,
    InvalidParams,
    NotFound,
    ResultTimeout,
    Unauthenticated,
    UnknownTask,
    WrongState,
)

T = TypeVar("T")

ERROR, USAGE, NOT_FOUND, AUTH, CONFLICT, TIMEOUT, INTERRUPTED = 1, 2, 3, 4, 5, 124, 130

_CODES: Final[dict[type[HoraeError], int]] = {
    NotFound: NOT_FOUND,
    Unauthenticated: AUTH,
    Forbidden: AUTH,
    WrongState: CONFLICT,
    AlreadyExists: CONFLICT,
    DuplicateJob: CONFLICT,
    IdempotencyConflict: CONFLICT,
    ResultTimeout: TIMEOUT,
    # These two name something that the server does not have or want; the command itself was well-formed.
    UnknownTask: ERROR,
    InvalidParams: ERROR,
    InvalidInput: USAGE,
}
_ADVICE: Final[dict[type[HoraeError], str]] = {
    Unauthenticated: "give a key with --key, HORAE_KEY or HORAE_KEY_FILE, or a profile with --profile",
    Forbidden: "`horae whoami` shows whose key this is; `horae key create` makes one with another role",
    UnknownTask: "`horae tasks` lists what can be submitted; a worker registers its tasks when it starts",
}


def report(error: BaseException) -> int:
    """Says what happened on stderr and returns the exit code."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(error, HoraeError):
        print(f"horae: {printable(error.detail, lines=True)}", file=sys.stderr)
        advice = _look_up(_ADVICE, error)
        if advice and "HORAE_KEY" not in error.detail:
            print(f"       {advice}", file=sys.stderr)
        return _look_up(_CODES, error) or ERROR
    if isinstance(error, ModuleNotFoundError) and not str(error.name).startswith("horae"):
        print(f"horae: the package {error.name!r} is missing: pip install 'horae[server]'", file=sys.stderr)
        return ERROR
    return _report_unexpected(error)


def _report_unexpected(error: BaseException) -> int:
    if isinstance(error, OSError) and error.strerror:
        where = f" ({error.filename})" if error.filename else ""
        print(f"horae: {error.strerror}{where}", file=sys.stderr)
        return ERROR
    if os.environ.get("HORAE_DEBUG"):
        traceback.print_exception(error)
    print(
        f"horae: an error nobody foresaw: {type(error).__name__}: {printable(str(error))}\n"
        "       with HORAE_DEBUG=1 it shows where; please report it",
        file=sys.stderr,
    )
    return ERROR


def _look_up(table: dict[type[HoraeError], T], error: HoraeError) -> T | None:
    return next((table[kind] for kind in type(error).__mro__ if kind in table), None)
