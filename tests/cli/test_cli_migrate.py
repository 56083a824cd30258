import os
from pathlib import Path

import msgspec

from .conftest import program


def test_a_new_database_is_migrated_and_then_has_nothing_missing(home: Path, empty_database: str) -> None:
    environ = {**os.environ, "HORAE_DATABASE": empty_database}
    before = program("migrate", "--status", "--json", env=environ)
    assert before.returncode == 1
    assert msgspec.json.decode(before.stdout.splitlines()[0])["applied_at"] is None
    assert "applied 0001" in program("migrate", env=environ).stdout
    assert program("migrate", "--json", env=environ).stdout == '{"applied":[]}\n'
    assert program("migrate", "--status", env=environ).returncode == 0


def test_a_database_that_does_not_answer_is_an_error_in_words(home: Path) -> None:
    done = program("migrate", "--database", "postgresql://x@127.0.0.1:1/x")
    assert done.returncode == 1
    assert "cannot be reached" in done.stderr
    assert "Traceback" not in done.stderr
