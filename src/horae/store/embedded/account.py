"""Which operating system account PostgreSQL runs under.

PostgreSQL refuses to run as root, and rightly so. When Horae is root, the database runs as an existing account without
rights: `postgres`, else `nobody`. No account is ever created. `initdb` looks its own account up by name, so a bare
number without an entry in the password database would not do.
"""

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path

from horae.model.errors import SetupError


@dataclass(frozen=True, slots=True)
class Account:
    uid: int
    gid: int
    name: str
    switch: bool
    """Whether we are root and step down to this account, or are this account already."""

    def run(self, *command: str | Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command as this account, with its output captured."""
        return subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            cwd="/",
            env=env,
            user=self.uid if self.switch else None,
            group=self.gid if self.switch else None,
            extra_groups=[] if self.switch else None,
        )

    def can_enter(self, folder: Path) -> bool:
        """Asked of the kernel as that account: modes alone would overlook access lists and mount options."""
        return self.run("sh", "-c", 'cd -- "$0"', folder).returncode == 0

    def own(self, path: Path) -> None:
        if self.switch:
            os.chown(path, self.uid, self.gid)


def serving_account(uid: int) -> Account:
    """The account to run PostgreSQL under, for a Horae that runs as `uid`."""
    if uid != 0:
        return Account(uid, os.getegid(), account_name(uid), switch=False)
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_uid, entry.pw_gid, name, switch=True)
    raise SetupError(
        "PostgreSQL does not run as root, and there is neither a user 'postgres' nor 'nobody' to run it as: "
        "add one of them, or run Horae as another user"
    )


def account_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"
