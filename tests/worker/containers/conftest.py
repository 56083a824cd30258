import os
import secrets
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from .house import House, add_python, archive, make_root, missing


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small root file system, of one static program."""
    lacking = missing()
    if lacking and not os.environ.get("CI"):
        pytest.skip(lacking)
    assert lacking is None, lacking
    folder = tmp_path_factory.mktemp("roots") / "small"
    make_root(folder)
    return folder


@pytest.fixture(scope="session")
def python_root(root: Path) -> Path:
    folder = root.parent / "python"
    make_root(folder)
    add_python(folder)
    return folder


@pytest.fixture(scope="session")
def image(root: Path) -> Iterator[str]:
    name = f"localhost/horae-test-{secrets.token_hex(4)}:1"
    subprocess.run(
        ["podman", "import", "--change", 'CMD ["echo", "from the image"]', "-", name],
        input=archive(root), check=True, capture_output=True,
    )  # fmt: skip
    yield name
    subprocess.run(["podman", "rmi", "--force", name], check=True, capture_output=True)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def house(tmp_path_factory: pytest.TempPathFactory, image: str, root: Path) -> AsyncIterator[House]:
    house = House(tmp_path_factory.mktemp("state") / "state", image, roots=[str(root.parent)])
    readiness = await house.runner.prepare()
    assert readiness.ready, readiness.reason
    assert readiness.isolation == "podman+runc+seccomp+cgroup"
    yield house
    await house.runner.close()
    await house.quarters.close()
