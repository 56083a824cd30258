"""Where a job may and should run: what it requires of a worker, what it prefers and what it avoids.

The engine keeps jobs with the same placement in the same lane: `canonical` gives it one spelling, and the lane's
`requires` column holds that. Matching a placement with what a worker offers is in `matching`.
"""

from typing import Final, TypeVar

import msgspec

from horae.model.errors import InvalidInput
from horae.model.sizes import parse_size


class Requirements(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """All of it must hold. CPU, memory, GPU and disk are used up by a running job; labels and places are not."""

    labels: dict[str, str] = {}
    kind: str | None = None
    region: str | None = None
    zone: str | None = None
    cpu: float | None = None
    memory: str | int | None = None
    """Bytes, or text such as "2GiB"."""
    gpu: float | None = None
    disk: str | int | None = None
    slots: int = 1
    """How many of the worker's slots the job takes."""


class Traits(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a worker may be like: preferred or avoided, as far as there is a choice."""

    labels: dict[str, str] = {}
    kind: str | None = None
    region: str | None = None
    zone: str | None = None


class Placement(msgspec.Struct, kw_only=True, frozen=True, omit_defaults=True):
    requires: Requirements = Requirements()
    prefers: Traits = Traits()
    avoids: Traits = Traits()
    sticky: int | None = None
    """The bucket of the sticky key: jobs of one bucket go to one worker, as long as it is there."""
    spread: int | None = None
    """At most so many of the lane's jobs at once on one worker."""
    not_workers: tuple[int, ...] = ()
    """Workers that a job was moved away from."""
    runner: str | None = None
    """The kind of a task that is data; None: a function, which the worker must have by name."""


ANYWHERE: Final = Placement()
STICKY_BUCKETS: Final = 64
T = TypeVar("T", Requirements, Traits)

_encoder = msgspec.json.Encoder(order="sorted")
_decoder = msgspec.json.Decoder(Placement)


def canonical(placement: Placement) -> str:
    """The one spelling of a placement; empty when any worker will do."""
    if placement == ANYWHERE:
        return ""
    # A part that says nothing is left out only when it is the default itself.
    said = msgspec.structs.replace(
        placement,
        requires=normal(placement.requires),
        prefers=ANYWHERE.prefers if placement.prefers == ANYWHERE.prefers else placement.prefers,
        avoids=ANYWHERE.avoids if placement.avoids == ANYWHERE.avoids else placement.avoids,
        not_workers=tuple(sorted(set(placement.not_workers))),
    )
    return _encoder.encode(said).decode()


def normal(requires: Requirements) -> Requirements:
    """The same in bytes and plain numbers, so that "2GiB" and 2147483648 are one."""
    if requires == ANYWHERE.requires:
        return ANYWHERE.requires
    return msgspec.structs.replace(
        requires,
        cpu=requires.cpu and float(requires.cpu),
        memory=None if requires.memory is None else parse_size(requires.memory, "requires.memory"),
        gpu=requires.gpu and float(requires.gpu),
        disk=None if requires.disk is None else parse_size(requires.disk, "requires.disk"),
    )


def merged(own: T | None, default: T | None) -> T | None:
    """What a job says over what its task says, field by field; labels name by name."""
    if own is None or default is None:
        return default if own is None else own
    # Only what differs from "nothing said": a job cannot take back what its task needs, only say something else.
    silent = type(own)()
    said = {name: value for name, value in msgspec.structs.asdict(own).items() if value != getattr(silent, name)}
    return msgspec.structs.replace(default, **said | {"labels": default.labels | own.labels})


def read_placement(text: str) -> Placement:
    if not text:
        return ANYWHERE
    try:
        return _decoder.decode(text)
    except msgspec.MsgspecError as error:
        raise InvalidInput(f"requires: {text[:200]!r} is not a placement: {error}") from error
