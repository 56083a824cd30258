import fcntl

import pytest
from baseinstall import BaseInstall, find, install


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> BaseInstall:
    """Made once, whatever the number of xdist workers."""
    parent = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):
        parent = parent.parent
    done = parent / "base.done"
    with (parent / "base.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            install(parent / "base")
            done.touch()
    return find(parent / "base")
