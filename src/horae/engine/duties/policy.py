"""Policy watch: limits, gates and weights in memory are those of the database, within a moment.

Claims do not rely on it: they name the version they were chosen by. It is for whoever waits, and for new submits.
"""

from collections.abc import Mapping

from horae.engine.policy import Policy


class PolicyWatch:
    name = "policy"
    interval = 0.5

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    async def run_once(self) -> Mapping[str, int]:
        return {"changed": int(await self._policy.refresh())}
