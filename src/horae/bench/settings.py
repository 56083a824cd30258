"""What a measurement may be told. Each scenario has defaults of its own for what is left open."""

from typing import Annotated

import msgspec
from msgspec import Meta

Count = Annotated[int, Meta(ge=1)]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    jobs: Count = 200_000
    """How many jobs a round runs; for latencies, how many samples it takes."""
    seconds: Annotated[float, Meta(gt=0)] = 5.0
    """How long a round lasts, where it is time that ends it."""
    rounds: Count = 3
    slots: Count = 2
    """Child processes of the worker."""
    connections: Count = 64
    batch: Count = 1000
    """Jobs in one bulk request."""
    pending: Count = 10_000_000
    tenants: Count = 1000
    lanes: Count = 10_000
    """Over how many lanes jobs are spread: concurrency keys, or queues of many tenants."""
