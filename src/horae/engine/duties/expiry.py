"""Expiry: no job waits on after the time by which it had to start.

A look each second is enough: a claim never grants an expired job, so the duty only says how it ended.
"""

from collections.abc import Mapping

from horae.engine.expiry import Expiry


class ExpiryDuty:
    name = "expiry"
    interval = 1.0

    def __init__(self, expiry: Expiry) -> None:
        self._expiry = expiry

    async def run_once(self) -> Mapping[str, int]:
        return {"expired": await self._expiry.end_due()}
