import subprocess
import sys
from pathlib import Path

import pytest

from horae.client.loading import load_app
from horae.model.errors import SetupError

APP = "from horae import App\napp = other = App('found')\nnumber = 3\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current directory with modules of its own; what they add to the interpreter goes again."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    (tmp_path / "shop_tasks.py").write_text(APP)
    (tmp_path / "broken_tasks.py").write_text("def fail():\n    raise ValueError('no database')\nfail()\n")
    (tmp_path / "needy_tasks.py").write_text("import not_installed_anywhere\n")
    return tmp_path


@pytest.mark.parametrize(
    "spec", ["shop_tasks:app", "shop_tasks", "shop_tasks:other", "shop_tasks.py:app", "./shop_tasks.py"]
)
def test_an_app_is_found_by_module_or_by_file(spec):
    assert load_app(spec).name == "found"


def test_a_file_elsewhere_may_import_its_neighbours(folder: Path):
    (folder / "sub").mkdir()
    (folder / "sub" / "neighbour.py").write_text(APP)
    (folder / "sub" / "main_tasks.py").write_text("from neighbour import app\n")
    assert load_app("sub/main_tasks.py").name == "found"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nowhere_tasks:app", "there is no module 'nowhere_tasks'"),
        ("nowhere.py:app", "there is no file nowhere.py"),
        ("shop_tasks:missing", "has no 'missing'; it has app, other"),
        ("shop_tasks:number", "holds a int in 'number', not an App"),
        (":app", "names no module"),
        ("broken_tasks:app", r"raised ValueError at import:(.|\n)*line 2, in fail(.|\n)*no database"),
        ("broken_tasks.py:app", r"raised ValueError at import:(.|\n)*no database"),
        ("needy_tasks:app", "raised ModuleNotFoundError at import"),
    ],
)
def test_what_is_wrong_with_an_app_is_said_clearly(spec, message):
    with pytest.raises(SetupError, match=message):
        load_app(spec)


def test_import_horae_loads_neither_aiohttp_nor_the_server():
    code = "import sys; from horae import App, Context, Client; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"aiohttp", "asyncpg", "horae.store", "horae.server", "psycopg", "sqlalchemy"} & set(loaded)


def test_every_exported_name_is_there():
    import horae

    assert {name for name in horae.__all__ if getattr(horae, name, None) is None} == set()
    with pytest.raises(AttributeError):
        horae.Nothing  # noqa: B018
