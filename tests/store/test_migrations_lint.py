"""The migrations as squawk sees them: nothing that locks a running installation for long."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import horae

MIGRATIONS = Path(horae.__file__).parent / "store" / "migrations"
LEFT_OUT = {
    "prefer-bigint-over-int": "the numbers of tenants, lanes, workers and attempts stay small, and rows narrow",
    "prefer-bigint-over-smallint": "a priority is 1…10",
    "prefer-robust-stmts": "each file runs in a transaction of its own: there is no half",
    "require-lock-timeout": "the runner sets it",
    "require-statement-timeout": "the runner's lock timeout bounds the wait; the work itself may take its time",
}


def test_squawk_finds_nothing_to_worry_about():
    squawk = shutil.which("squawk", path=str(Path(sys.executable).parent))
    if squawk is None:
        pytest.skip("squawk is not installed")
    rules = [f"--exclude={rule}" for rule in LEFT_OUT]
    files = sorted(str(path) for path in MIGRATIONS.glob("*.sql"))
    done = subprocess.run([squawk, "--assume-in-transaction", "--pg-version=16.0", *rules, *files],
                          capture_output=True, text=True, timeout=60, check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
