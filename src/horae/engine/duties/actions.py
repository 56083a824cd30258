"""Actions: every bulk action goes on until it is done, whatever happens to the server that began it."""

import time
from collections.abc import Mapping
from typing import Final

from horae import failpoints
from horae.engine.actionwork import ActionWork
from horae.engine.signals import Signals
from horae.engine.tally import Tally
from horae.engine.watch import Watch
from horae.store.actions import Actions

RUN_SECONDS: Final = 2.0
CLEAN_RUNS: Final = 60
FORGET_SECONDS: Final = 30 * 86_400.0
CLEAN_ROWS: Final = 10_000


class ActionsDuty:
    name = "actions"
    interval = 1.0

    def __init__(self, work: ActionWork, store: Actions, signals: Signals, watch: Watch, tally: Tally) -> None:
        self._work = work
        self._store = store
        self._signals = signals
        self._watch = watch
        self._tally = tally
        self._runs = 0

    async def run_once(self) -> Mapping[str, int]:
        done = undone = 0
        until = time.monotonic() + RUN_SECONDS
        while time.monotonic() < until and (deed := await self._work.step()) is not None:
            failpoints.reach("action.after_commit")
            deed.tell(self._signals, self._watch, self._tally)
            done += deed.done
            undone += deed.undone
        if self._runs % CLEAN_RUNS == 0:
            await self._store.action_clean(FORGET_SECONDS, CLEAN_ROWS)
        self._runs += 1
        return {"done": done, "undone": undone}
