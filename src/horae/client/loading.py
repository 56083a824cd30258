"""Finds the user's App from `package.module:app` or `path/to/file.py:app`, and says clearly why it cannot."""

import importlib
import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from horae.client.app import App
from horae.model.errors import SetupError

_SHOWN_LINES = 12


def load_app(spec: str) -> App:
    """The attribute defaults to `app`. The current directory becomes importable, as with `python -m`."""
    where, _, attribute = spec.rpartition(":") if ":" in spec else (spec, "", "")
    attribute = attribute or "app"
    if not where:
        raise SetupError(f"{spec!r} names no module: write package.module:app or path/to/file.py:app")
    module = _import_file(Path(where), spec) if where.endswith(".py") else _import_module(where, spec)
    return _find_app(module, attribute, spec)


def _find_app(module: ModuleType, attribute: str, spec: str) -> App:
    found: object = module
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if isinstance(found, App):
        return found
    problem = (
        f"has no {attribute!r}" if found is None else f"holds a {type(found).__name__} in {attribute!r}, not an App"
    )
    apps = sorted(name for name, value in vars(module).items() if isinstance(value, App))
    hint = f"it has {', '.join(apps)}" if apps else f"write `{attribute} = App()` in it"
    raise SetupError(f"{spec}: the module {problem}; {hint}")


def _import_module(name: str, spec: str) -> ModuleType:
    _make_importable(Path.cwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            raise SetupError(
                f"{spec}: there is no module {error.name!r} in {Path.cwd()} or the installed packages"
            ) from error
        raise _raised_at_import(spec, error) from error
    except (Exception, SystemExit) as error:
        raise _raised_at_import(spec, error) from error


def _import_file(path: Path, spec: str) -> ModuleType:
    if not path.is_file():
        raise SetupError(f"{spec}: there is no file {path} (seen from {Path.cwd()})")
    _make_importable(Path.cwd())
    _make_importable(path.parent.resolve())
    loader = importlib.util.spec_from_file_location(path.stem, path)
    if loader is None or loader.loader is None:
        raise SetupError(f"{spec}: Python cannot import {path}")
    module = importlib.util.module_from_spec(loader)
    # Registered under its own name first, so that pickling, dataclasses and self-imports find it.
    sys.modules[path.stem] = module
    try:
        loader.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[path.stem]
        raise _raised_at_import(spec, error) from error
    return module


def _make_importable(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def _raised_at_import(spec: str, error: BaseException) -> SetupError:
    lines = "".join(traceback.format_exception(error)).rstrip().splitlines()[-_SHOWN_LINES:]
    return SetupError(f"{spec}: the module raised {type(error).__name__} at import:\n" + "\n".join(lines))
