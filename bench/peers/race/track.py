"""One visit to a peer: a fresh store, then one workload after another; a failure of one does not end the others."""

from collections.abc import Callable, Sequence
from itertools import groupby

from horae.model.errors import HoraeError
from horae.testing.database import temporary_folder
from race.catalogue import Crew, Peer
from race.entrant import entered
from race.settings import Settings
from race.workloads import ONCE, WORKLOADS, Values

PROMPT = ("latency", "due")
Tell = Callable[[str, Values | HoraeError], None]


async def run_visit(peer: Peer, workloads: Sequence[str], settings: Settings, tell: Tell) -> None:
    """Workloads that share settings share a store; the long ones have one of their own."""
    for key, group in groupby(workloads, lambda name: name if name in ONCE else name in PROMPT):
        crew = peer.prompt if key is True else peer.busy
        await _share(peer, crew, list(group), settings, tell)


async def _share(peer: Peer, crew: Crew, left: list[str], settings: Settings, tell: Tell) -> None:
    """After a failure the next workload begins on a new store, for nobody knows what the old one holds."""
    while left:
        name = left[0]
        try:
            with temporary_folder() as folder:
                async with entered(peer, crew, folder) as entrant:
                    while left:
                        name = left.pop(0)
                        tell(name, await WORKLOADS[name](entrant, settings))
        except HoraeError as error:
            tell(name, error)
            left = [other for other in left if other != name]
