"""How long the worker may go on without a word from the server.

The server counts its lease from when it received a heartbeat, the worker from when it sent the last one that was
answered: earlier, so the worker's end comes first. MARGIN is for killing what runs, and for clocks that run unevenly.
"""

from typing import Final

from horae.worker.clock import now

MARGIN: Final = 3.0


class Lease:
    def __init__(self, seconds: float, sent: float) -> None:
        self._allowed = max(seconds - MARGIN, seconds / 2)
        self.fence_at = sent + self._allowed

    def renew(self, sent: float) -> None:
        self.fence_at = max(self.fence_at, sent + self._allowed)

    @property
    def over(self) -> bool:
        return now() >= self.fence_at
