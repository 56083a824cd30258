"""Which worker can run which job, and which should: the predicates that dispatch and `explain` share.

A job's placement lists what it requires; a worker's `Offer` is what it has when idle, its `Free` what is left now.
`misfits` says why a worker could never run a job; `fits` is the same question for the hot path; `room` asks how many
fit at this moment. `affinity` and `sticky_choice` order workers that could. All of it is pure, so every server
comes to the same answer.
"""

from collections.abc import Sequence
from enum import StrEnum
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from horae.model.placement import ANYWHERE, STICKY_BUCKETS, Placement, Requirements, Traits, merged, normal
from horae.model.sizes import format_size, parse_size
from horae.model.wishes import check_placement

if TYPE_CHECKING:
    from horae.model.job import JobRequest
    from horae.model.task import TaskDefinition

_EPSILON: Final = 1e-9
_WORD: Final = 2**64 - 1


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker is and has. Not told is nothing: a worker that named no GPU has none."""

    worker_id: int
    labels: dict[str, str] = {}
    kind: str | None = None
    region: str | None = None
    zone: str | None = None
    slots: int = 1
    """The most slots that one job can take here."""
    cpus: float | None = None
    memory: int | None = None
    gpus: float | None = None
    disk: int | None = None
    kinds: frozenset[str] = frozenset()
    """The kinds of task that are data which it runs."""


class Free(msgspec.Struct, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a worker has left beside what it holds."""

    slots: int = 0
    cpu: float = 0.0
    memory: int = 0
    gpu: float = 0.0
    disk: int = 0


class Demand(NamedTuple):
    """What one job takes of a worker while it runs."""

    slots: int
    cpu: float
    memory: int
    gpu: float
    disk: int

    @property
    def heavy(self) -> bool:
        """Takes more than the one slot that every job takes."""
        return self != LIGHT


LIGHT: Final = Demand(1, 0.0, 0, 0.0, 0)


class MisfitCode(StrEnum):
    NO_SUCH_RUNNER = "no_such_runner"
    MISSING_LABEL = "missing_label"
    WRONG_KIND = "wrong_kind"
    WRONG_REGION = "wrong_region"
    WRONG_ZONE = "wrong_zone"
    TOO_FEW_SLOTS = "too_few_slots"
    TOO_LITTLE_CPU = "too_little_cpu"
    TOO_LITTLE_MEMORY = "too_little_memory"
    TOO_FEW_GPUS = "too_few_gpus"
    TOO_LITTLE_DISK = "too_little_disk"
    MOVED_AWAY = "moved_away"


class Misfit(msgspec.Struct, frozen=True):
    code: MisfitCode
    words: str
    """What is wanted and what is there."""


# Could this worker run it?


def demand(placement: Placement) -> Demand:
    wants = placement.requires
    if wants.cpu is None and wants.memory is None and wants.gpu is None and wants.disk is None and wants.slots == 1:
        return LIGHT
    memory = 0 if wants.memory is None else parse_size(wants.memory, "requires.memory")
    disk = 0 if wants.disk is None else parse_size(wants.disk, "requires.disk")
    return Demand(wants.slots, wants.cpu or 0.0, memory, wants.gpu or 0.0, disk)


def whole(offer: Offer) -> Free:
    """What a worker has free when it is idle."""
    return Free(
        slots=offer.slots, cpu=offer.cpus or 0.0, memory=offer.memory or 0, gpu=offer.gpus or 0.0, disk=offer.disk or 0
    )


def fits(placement: Placement, offer: Offer) -> bool:
    """Whether the worker could run such a job when idle: the same as having no misfits, for less."""
    if placement is ANYWHERE:
        return True
    wants = placement.requires
    return (
        offer.worker_id not in placement.not_workers
        and (placement.runner is None or placement.runner in offer.kinds)
        and (wants.kind is None or wants.kind == offer.kind)
        and (wants.region is None or wants.region == offer.region)
        and (wants.zone is None or wants.zone == offer.zone)
        and wants.labels.items() <= offer.labels.items()
        and room(placement, whole(offer)) > 0
    )


def room(placement: Placement, free: Free) -> int:
    """How many such jobs fit into what is free."""
    need = demand(placement)
    if need is LIGHT:
        return max(free.slots, 0)
    return max(0, min(_times(has, takes) for has, takes in zip(_amounts(free), need, strict=True) if takes > 0))


def less(free: Free, need: Demand, jobs: int) -> Free:
    """What is left when so many such jobs run too."""
    return Free(
        slots=free.slots - need.slots * jobs,
        cpu=free.cpu - need.cpu * jobs,
        memory=free.memory - need.memory * jobs,
        gpu=free.gpu - need.gpu * jobs,
        disk=free.disk - need.disk * jobs,
    )


def misfits(placement: Placement, offer: Offer) -> list[Misfit]:
    """Every reason why this worker could not run such a job even when idle."""
    wrong = _wrong_places(placement.requires, offer) + _too_little(demand(placement), offer)
    if placement.runner is not None and placement.runner not in offer.kinds:
        offered = ", ".join(sorted(offer.kinds)) or "none"
        words = f"a worker for tasks of kind {placement.runner} is wanted, its kinds are: {offered}"
        wrong.insert(0, Misfit(MisfitCode.NO_SUCH_RUNNER, words))
    if offer.worker_id in placement.not_workers:
        wrong.append(Misfit(MisfitCode.MOVED_AWAY, "the job was moved away from this worker"))
    return wrong


def _wrong_places(wants: Requirements, offer: Offer) -> list[Misfit]:
    wrong = [
        Misfit(MisfitCode.MISSING_LABEL, f"label {name}={value} is wanted, {_label(offer, name)}")
        for name, value in sorted(wants.labels.items())
        if offer.labels.get(name) != value
    ]
    for code, field in (
        (MisfitCode.WRONG_KIND, "kind"),
        (MisfitCode.WRONG_REGION, "region"),
        (MisfitCode.WRONG_ZONE, "zone"),
    ):
        want, there = getattr(wants, field), getattr(offer, field)
        if want is not None and want != there:
            wrong.append(Misfit(code, f"{field} {want} is wanted, " + (f"it is {there}" if there else "it has none")))
    return wrong


def _label(offer: Offer, name: str) -> str:
    there = offer.labels.get(name)
    return f"it has no label {name}" if there is None else f"it has {name}={there}"


_AMOUNTS: Final = (
    (MisfitCode.TOO_FEW_SLOTS, "slots"),
    (MisfitCode.TOO_LITTLE_CPU, "CPUs"),
    (MisfitCode.TOO_LITTLE_MEMORY, "of memory"),
    (MisfitCode.TOO_FEW_GPUS, "GPUs"),
    (MisfitCode.TOO_LITTLE_DISK, "of disk"),
)


def _too_little(need: Demand, offer: Offer) -> list[Misfit]:
    wrong = []
    for (code, unit), has, takes in zip(_AMOUNTS, _amounts(whole(offer)), need, strict=True):
        if takes > 0 and _times(has, takes) < 1:
            wrong.append(Misfit(code, f"{_worded(takes, unit)} wanted, it has {_worded(has, unit)}"))
    return wrong


def _worded(amount: float, unit: str) -> str:
    return f"{format_size(int(amount)) if unit.startswith('of ') else f'{amount:g}'} {unit}"


def _amounts(free: Free) -> tuple[float, ...]:
    return free.slots, free.cpu, free.memory, free.gpu, free.disk


def _times(has: float, takes: float) -> int:
    """How often it goes in. A hair is forgiven: three tenths taken three times leave a tenth for a fourth."""
    return int(has / takes + _EPSILON)


# Should it?


def affinity(placement: Placement, offer: Offer) -> float:
    """-1…1: the share of what is preferred that the worker has, less the share of what is avoided."""
    return _likeness(placement.prefers, offer) - _likeness(placement.avoids, offer)


def _likeness(traits: Traits, offer: Offer) -> float:
    said = [
        *(offer.labels.get(name) == value for name, value in traits.labels.items()),
        *(there == want for want, there in _places(traits, offer) if want is not None),
    ]
    return sum(said) / len(said) if said else 0.0


def _places(traits: Traits, offer: Offer) -> tuple[tuple[str | None, str | None], ...]:
    return (traits.kind, offer.kind), (traits.region, offer.region), (traits.zone, offer.zone)


def sticky_bucket(key: str) -> int:
    """Sticky keys share a few buckets, so that lanes stay few."""
    return int.from_bytes(blake2b(key.encode(errors="replace"), digest_size=8).digest(), "big") % STICKY_BUCKETS


def sticky_choice(bucket: int, worker_ids: Sequence[int]) -> int:
    """The worker for a bucket, by rendezvous: when a worker goes, only its own buckets move."""
    if not worker_ids:
        raise ValueError("no worker to choose from")
    return max(worker_ids, key=lambda worker_id: (_mixed(bucket, worker_id), worker_id))


def _mixed(bucket: int, worker_id: int) -> int:
    """A number that looks random and is the same on every server, for the price of three multiplications."""
    value = ((bucket << 40) + worker_id + 1) * 0x9E3779B97F4A7C15 & _WORD
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    value = (value ^ value >> 27) * 0x94D049BB133111EB & _WORD
    return value ^ value >> 31


# From what was asked.


def placement_of(request: "JobRequest", task: "TaskDefinition") -> Placement:
    """Where the job may run: what it says itself over its task's defaults. What cannot be is refused."""
    requires = merged(request.requires, task.requires)
    prefers = merged(request.prefers, task.prefers)
    avoids = merged(request.avoids, task.avoids)
    spread = task.spread if request.spread is None else request.spread
    runner = None if task.script is None and task.container is None and task.http is None else str(task.kind)
    if requires is None and prefers is None and avoids is None and spread is None and request.sticky is None:
        return ANYWHERE if runner is None else Placement(runner=runner)
    check_placement(requires, prefers, avoids, request.sticky, spread)
    return Placement(
        requires=ANYWHERE.requires if requires is None else normal(requires),
        prefers=prefers or ANYWHERE.prefers,
        avoids=avoids or ANYWHERE.avoids,
        sticky=None if request.sticky is None else sticky_bucket(request.sticky),
        spread=spread,
        runner=runner,
    )
