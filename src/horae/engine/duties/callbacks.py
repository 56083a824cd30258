"""Callbacks: no parked attempt waits longer than it may, no answer to one is left lying, no cancel is ignored.

Answers and cancels are carried out by the server that gets them. What it leaves because it died, and what another
server was asked, is found here within a second.
"""

from collections.abc import Mapping
from typing import Final

from horae.engine.callbacks import Callbacks

FORGET_SECONDS: Final = 86_400.0
RUNS_PER_CLEANING: Final = 600


class CallbacksDuty:
    name = "callbacks"
    interval = 1.0

    def __init__(self, callbacks: Callbacks) -> None:
        self._callbacks = callbacks
        self._runs = 0

    async def run_once(self) -> Mapping[str, int]:
        cancelled = await self._callbacks.carry_out_cancels()
        answered, overdue = await self._callbacks.see_to_due()
        self._runs += 1
        if self._runs % RUNS_PER_CLEANING == 0:
            await self._callbacks.forget(FORGET_SECONDS)
        return {"cancelled": cancelled, "answered": answered, "overdue": overdue}
