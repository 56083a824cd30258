"""One S3 server for all tests of a session that ask for it."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from horae.store.objects import Objects

from .s3 import S3Server


@pytest.fixture(scope="session")
def s3() -> Iterator[S3Server]:
    with tempfile.TemporaryDirectory(prefix="weed") as folder:
        server = S3Server(Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.kill()


@pytest.fixture(params=["folder", "s3"])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> Objects:
    """An empty store of each kind."""
    from horae.store.objects import ObjectsConfig

    if request.param == "folder":
        return Objects(ObjectsConfig(str(tmp_path / "objects")))
    return Objects(request.getfixturevalue("s3").config(str(uuid4())))
