"""Offers: what the workers of the store are, in the words of `model.matching`, and which of them could run a lane."""

from collections.abc import Iterable
from typing import Final

import asyncpg
import msgspec

from horae.model.matching import Misfit, Offer, misfits
from horae.model.placement import Placement, canonical, read_placement
from horae.store.control import LaneKey

LIVING: Final = ("active", "draining")
"""The states of workers that may run something."""
MOST_LEFT_OUT: Final = 16
"""How many workers a job's lane leaves out: the ones it was moved from last."""
_labels = msgspec.json.Decoder(dict[str, str])


def offer_of(row: asyncpg.Record) -> Offer:
    """Of a row of `worker`."""
    return Offer(
        worker_id=row["id"],
        labels=_labels.decode(row["labels"]),
        kind=row["kind"],
        region=row["region"],
        zone=row["zone"],
        slots=row["widest"] or row["slots"],
        cpus=row["cpus"],
        memory=row["memory"],
        gpus=row["gpus"],
        disk=row["disk"],
        kinds=frozenset(row["kinds"]),
    )


def knows(row: asyncpg.Record, key: LaneKey) -> bool:
    """Whether a worker has the task, for this tenant. One that is data comes with the job: `fits` asks for its kind."""
    if row["tenant_id"] not in (None, key.tenant_id):
        return False
    return key.task in row["tasks"] or bool(key.requires and read_placement(key.requires).runner)


def serves(row: asyncpg.Record, key: LaneKey) -> bool:
    """Whether a worker takes jobs of this tenant, task and queue at all."""
    return knows(row, key) and (row["queues"] is None or key.queue in row["queues"])


def away_from(key: LaneKey, worker_id: int) -> LaneKey:
    """The lane of the same jobs that this worker gets none of."""
    placement = read_placement(key.requires)
    left_out = (*(other for other in placement.not_workers if other != worker_id), worker_id)[-MOST_LEFT_OUT:]
    return key._replace(requires=canonical(msgspec.structs.replace(placement, not_workers=left_out)))


def nearest(rows: Iterable[asyncpg.Record], placement: Placement) -> tuple[asyncpg.Record, list[Misfit]] | None:
    """The worker that fits best, with what it lacks; None when there is none. The rows are of workers that serve."""
    judged = [(row, misfits(placement, offer_of(row))) for row in rows]
    return min(judged, key=lambda found: len(found[1]), default=None)
