"""The console is in the wheel, and whoever installs that needs no Node.js to serve it."""

import os
import re
import shutil
import zipfile
from http.client import HTTPResponse
from pathlib import Path
from urllib.request import urlopen

import pytest
from baseinstall import ROOT, BaseInstall

from cli.installation import installation
from horae.testing.database import temporary_folder

pytestmark = pytest.mark.timeout(600)
STATIC = "horae/console/static/"


@pytest.fixture
def held(base: BaseInstall) -> list[str]:
    """The console's files in the wheel."""
    if not (ROOT / "src" / STATIC / "index.html").is_file():
        if os.environ.get("CI") == "true":
            pytest.fail("the console is not built: make console")
        pytest.skip("the console is not built: make console")
    return [name for name in zipfile.ZipFile(base.wheel).namelist() if name.startswith(STATIC)]


def test_the_wheel_holds_the_console_as_it_was_built(base: BaseInstall, held: list[str]) -> None:
    built = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src" / STATIC).rglob("*") if path.is_file()}
    assert set(held) == built
    page = zipfile.ZipFile(base.wheel).read(f"{STATIC}index.html").decode()
    named = re.findall(r'(?:src|href)="/console/([^"]+)"', page)
    assert [name for name in named if name.startswith("assets/")]
    assert {STATIC + name for name in named} <= set(held)
    assert "<script>" not in page
    assert "<style" not in page


def test_the_console_of_the_wheel_is_served_without_node(base: BaseInstall, held: list[str]) -> None:
    with temporary_folder(quick=True) as folder:
        zipfile.ZipFile(base.wheel).extractall(folder / "wheel")
        (folder / "wheel").chmod(0o755)
        programs = _without_node(folder / "bin")
        with installation(folder, "--no-worker", PYTHONPATH=str(folder / "wheel"), PATH=str(programs)) as up:
            with _get(f"{up.url}/") as answer:
                page = answer.read().decode()
                assert answer.url == f"{up.url}/console/"
                assert "default-src 'none'" in answer.headers["content-security-policy"]
            assets = re.findall(r'(?:src|href)="(/console/assets/[^"]+)"', page)
            assert assets
            for path in assets:
                with _get(up.url + path) as answer:
                    assert answer.read() == (folder / "wheel" / "horae/console/static" / path[9:]).read_bytes()


def _without_node(folder: Path) -> Path:
    """All programs of the system but Node.js."""
    folder.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for program in sorted(Path(place).iterdir()) if Path(place).is_dir() else ():
            link = folder / program.name
            if program.name not in {"node", "nodejs", "npm", "npx"} and not link.is_symlink():
                link.symlink_to(program)
    assert shutil.which("node", path=str(folder)) is None
    return folder


def _get(url: str) -> HTTPResponse:
    return urlopen(url, timeout=30)  # type: ignore[no-any-return]
