"""The console's types are those of the API as it is."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

WEB = Path(__file__).parents[2] / "web"


def test_the_types_of_the_console_are_those_of_the_api() -> None:
    node = shutil.which("node")
    if node is None or not (WEB / "node_modules" / "openapi-typescript").is_dir():
        pytest.skip("the console's packages are not installed: cd web && npm ci")
    made = subprocess.run(
        [node, "scripts/types.mjs", "--print"],
        cwd=WEB,
        env={**os.environ, "HORAE_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    assert made.stdout == (WEB / "src" / "api" / "schema.ts").read_text(), "run `npm run types` in web/"


def test_the_lock_file_names_no_registry() -> None:
    lock = json.loads((WEB / "package-lock.json").read_text())
    assert [name for name, package in lock["packages"].items() if "resolved" in package] == []
