"""Runs scenarios: settles their settings, notes the circumstances, and hands back what they found."""

import os
import platform
from collections.abc import Mapping
from typing import Any

import asyncpg
import msgspec

from horae.bench.bench import Bench
from horae.bench.catalogue import SCENARIOS
from horae.bench.figures import Notes
from horae.bench.installation import cluster
from horae.bench.progress import Screen
from horae.bench.settings import Settings
from horae.model.errors import InvalidInput, NotFound
from horae.release import own_version
from horae.store.embedded import Cluster
from horae.store.embedded.binaries import find_binaries


def settle(name: str, given: Mapping[str, Any]) -> Settings:
    """The scenario's defaults, with what was given in their place."""
    if name not in SCENARIOS:
        raise NotFound(f"there is no scenario {name!r}; there are {', '.join(SCENARIOS)}")
    chosen = {field: value for field, value in given.items() if value is not None}
    try:
        return msgspec.convert(msgspec.to_builtins(SCENARIOS[name].defaults) | chosen, Settings)
    except msgspec.ValidationError as error:
        raise InvalidInput(f"{name}: {error}") from error


async def measure(name: str, settings: Settings, screen: Screen) -> Notes:
    """On a PostgreSQL of its own, so that no scenario inherits anything from the one before."""
    async with cluster() as running:
        return await measure_on(running, name, settings, screen)


async def measure_on(running: Cluster, name: str, settings: Settings, screen: Screen) -> Notes:
    notes = Notes(name, msgspec.to_builtins(settings) | circumstances(), versions())
    await SCENARIOS[name].run(Bench(settings, notes, screen, running))
    return notes


def circumstances() -> dict[str, Any]:
    """What a reader must know of the machine to believe a figure."""
    return {"cpus": os.cpu_count(), "load_average": round(os.getloadavg()[0], 2)}


def versions() -> dict[str, str]:
    return {
        "horae": own_version(),
        "python": platform.python_version(),
        "asyncpg": asyncpg.__version__,
        "postgresql": find_binaries().version,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }
