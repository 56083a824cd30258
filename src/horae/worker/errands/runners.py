"""The runners of this worker: one for each kind of task that it offers and its host can run.

A kind that the operator named must be ready, or the worker does not start: better than a fleet in which it is missing
unnoticed. Kinds that nobody named are offered where they are ready.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

import structlog

from horae.model.errors import SetupError
from horae.model.kinds import Kind
from horae.worker.config import AgentConfig
from horae.worker.errands.errand import Readiness, Runner
from horae.worker.errands.quarters import Quarters

log = structlog.get_logger()
KINDS: Final = (Kind.SCRIPT, Kind.CONTAINER, Kind.HTTP)
EVERY: Final = "all"
MakeRunner = Callable[[Kind, Quarters], Runner]


def make_runner(kind: Kind, quarters: Quarters, *, url: str, config: AgentConfig) -> Runner:
    """Imported when it is wanted: a worker that runs functions only needs none of them."""
    if kind is Kind.SCRIPT:
        from horae.worker.scripts import ScriptRunner

        return ScriptRunner(quarters)
    if kind is Kind.CONTAINER:
        from horae.worker.containers import ContainerRunner, ContainerSettings

        return ContainerRunner(quarters, ContainerSettings(**config.containers))
    from horae.worker.web import HttpRunner

    return HttpRunner(quarters, server_url=url, allow_networks=config.allow_networks)


async def ready_runners(names: Sequence[str], quarters: Quarters, make: MakeRunner) -> dict[str, Runner]:
    """By kind. `names` are those that the operator named, or `all`."""
    wanted = [kind for kind in KINDS if kind in names or EVERY in names]
    # After a crash all of them look for what it left, for it may have offered other kinds than we do.
    made = [make(kind, quarters) for kind in (KINDS if quarters.dead else wanted)]
    ready: dict[str, Runner] = {}
    try:
        for runner, readiness in zip(made, await asyncio.gather(*(runner.prepare() for runner in made)), strict=True):
            if runner.kind in wanted and _is_ready(runner.kind, readiness, named=runner.kind in names):
                ready[runner.kind.value] = runner
    except BaseException:
        # Those that are ready too: we end now, and the next start does not look for what we leave.
        ready.clear()
        raise
    finally:
        for runner in made:
            if runner.kind.value not in ready:
                await runner.close()
    return ready


def _is_ready(kind: Kind, readiness: Readiness, *, named: bool) -> bool:
    if readiness.ready:
        log.info("kind_ready", kind=kind.value, isolation=readiness.isolation)
    elif named:
        raise SetupError(f"this host cannot run tasks of the kind {kind.value}: {readiness.reason}")
    else:
        log.warning("kind_not_ready", kind=kind.value, reason=readiness.reason)
    return readiness.ready
