"""What the courier makes of answers that come at a bad moment."""

import asyncio

import pytest

from horae.model.errors import WorkerGone
from horae.wire.workers import Exchanged
from horae.worker.courier import Courier


async def test_nothing_of_an_answer_that_outlasted_the_lease_begins():
    """As after a freeze: the answer lies there, and is read before anybody has looked at the clock."""
    over, accepted = asyncio.Event(), list[Exchanged]()

    class SlowLink:
        async def ask(self, *_args: object, **_options: object) -> Exchanged:
            over.set()
            return Exchanged()

    courier = Courier(SlowLink(), lambda _asked: 1, lambda: None, accepted.append, over.is_set)  # type: ignore[arg-type]
    with pytest.raises(WorkerGone, match="lease is over"):
        await courier.fetch()
    assert accepted == []
