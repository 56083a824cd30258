from datetime import UTC, datetime, timedelta

import pytest

from horae.cli.text import cut, printable, relative, short, size, when

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0ms"),
        (0.000001, "1µs"),
        (0.00082, "820µs"),
        (0.0009996, "1ms"),
        (0.34, "340ms"),
        (4.25, "4.2s"),
        (60, "1m00s"),
        (185, "3m05s"),
        (7800, "2h10m"),
        (273600, "3d04h"),
    ],
)
def test_durations_are_short(seconds: float, shown: str) -> None:
    assert short(timedelta(seconds=seconds)) == shown


def test_times_are_relative_and_absolute() -> None:
    assert relative(NOON - timedelta(minutes=3), NOON) == "3m00s ago"
    assert relative(NOON + timedelta(seconds=5), NOON) == "in 5s"
    assert "2026-11-20" in when(NOON, NOON)


def test_control_characters_cannot_command_the_terminal() -> None:
    assert printable("a\x1b[2Jb\u202ec\nd") == "a\\x1b[2Jb\\u202ec\\nd"
    assert printable("two\nlines ✓", lines=True) == "two\nlines ✓"


def test_sizes_and_cuts() -> None:
    assert size(512) == "512B"
    assert size(1.5 * 1024**2) == "1.5MiB"
    assert cut("abcdef", 4) == "abc…"
