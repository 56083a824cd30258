from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from .house import House


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    house = House(tmp_path / "state")
    readiness = await house.runner.prepare()
    assert readiness.ready, readiness.reason
    yield house
    await house.runner.close()
    await house.quarters.close()
