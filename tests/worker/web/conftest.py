"""A service to call and somebody who calls it."""

from collections.abc import AsyncIterator

import pytest

from .service import Caller, Service, serving


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    async with serving() as service:
        yield service


@pytest.fixture
async def caller() -> AsyncIterator[Caller]:
    caller = Caller()
    yield caller
    await caller.runner.close()
