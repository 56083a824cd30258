"""Where the long-running programs write their own log: to stderr, for people on a terminal and as JSON elsewhere."""

import logging
import sys
from typing import Final, TextIO, cast

import structlog

from horae.model.errors import SetupError

LEVELS: Final = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


class _Stderr:
    """What sys.stderr is at the moment: loggers are kept for good, and it may be exchanged and closed."""

    def write(self, text: str) -> int:
        return sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()


def open_journal(level: str | None, program: str) -> None:
    """`level` is HORAE_LOG: debug, info (the default), warning or error."""
    chosen = LEVELS.get((level or "info").lower())
    if chosen is None:
        raise SetupError(f"HORAE_LOG: {level!r} is none of {', '.join(LEVELS)}")
    terminal = sys.stderr.isatty()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.dev.ConsoleRenderer() if terminal else structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(chosen),
        logger_factory=structlog.PrintLoggerFactory(cast("TextIO", _Stderr())),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(
        stream=sys.stderr, level=max(chosen, logging.WARNING), format="%(levelname)s %(name)s %(message)s"
    )
    structlog.contextvars.bind_contextvars(program=program)
