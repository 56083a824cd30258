"""Runs container tasks, with every limit unless the operator has named this worker unsandboxed for them."""

import asyncio
import contextlib
import os
from collections.abc import Iterator

import msgspec

from horae.model.errors import InvalidInput, SetupError
from horae.model.kinds import Container, Kind
from horae.model.states import End
from horae.model.work import JobError, Usage
from horae.worker.containers.confinement import NOBODY, confine, limit
from horae.worker.containers.container import AGENT_LABEL, Run, Site, outcome, run_container
from horae.worker.containers.disk import Disk, MountedDisk, PlainDisk, can_mount
from horae.worker.containers.engine import Engine
from horae.worker.containers.finding import find_engine
from horae.worker.containers.images import Images
from horae.worker.containers.order import arguments, supplies
from horae.worker.containers.profile import make_profile
from horae.worker.containers.references import ROOT, check_reference, find_root
from horae.worker.containers.settings import ContainerSettings
from horae.worker.errands.errand import Errand, Outcome, Readiness
from horae.worker.errands.events import Events
from horae.worker.errands.lastline import LastLine, Listener
from horae.worker.errands.quarters import Quarters
from horae.worker.errands.workspace import Workspace
from horae.worker.sandbox.cgroups import Hierarchy, Reading, group_name
from horae.worker.sandbox.hierarchy import find_hierarchy
from horae.worker.sandbox.limits import Bounds, bounds_of


class ContainerRunner:
    kind = Kind.CONTAINER

    def __init__(self, quarters: Quarters, settings: ContainerSettings | None = None) -> None:
        self._quarters = quarters
        self._settings = settings or ContainerSettings()
        self._shut_in = Kind.CONTAINER not in quarters.unsandboxed
        self._profile = quarters.folder / "seccomp.json"
        self._engine: Engine
        self._images: Images
        self._hierarchy: Hierarchy | None = None
        self._mounts = False
        self._ahead: asyncio.Task[None] | None = None

    # Getting ready.

    async def prepare(self) -> Readiness:
        try:
            self._profile.write_bytes(msgspec.json.encode(make_profile()))
        except SetupError as error:
            return Readiness(ready=False, reason=error.detail)
        found = await find_engine(self._settings, self._quarters.cache, self._profile, self._quarters.agent)
        if found.engine is None:
            return Readiness(ready=False, reason=found.reason)
        self._engine, self._images = found.engine, Images(found.engine)
        self._hierarchy = find_hierarchy(below_own=False).hierarchy
        self._mounts = await asyncio.to_thread(can_mount, self._quarters.folder)
        await self._clean_up()
        self._ahead = asyncio.create_task(self._images.fetch_ahead(self._settings.images))
        return Readiness(ready=True, isolation=self._isolation)

    @property
    def _isolation(self) -> str:
        return self._engine.isolation if self._shut_in else "none"

    async def _clean_up(self) -> None:
        """After dead agents. Their processes have been killed; the engine still knows their containers.

        Asked once for all of them: an engine takes a second to answer on a busy host, and the dead may be many.
        """
        if not self._quarters.dead:
            return
        listed = await self._engine.call("ps", "--all", "--quiet", f"--filter=label={AGENT_LABEL}")
        if not listed.out.split():
            return
        owner = f'--format={{{{.ID}}}} {{{{index .Config.Labels "{AGENT_LABEL}"}}}}'
        owners = await self._engine.call("inspect", "--type=container", owner, *listed.out.split())
        for container, agent in (line.split() for line in owners.out.splitlines()):
            if agent in self._quarters.dead:
                await self._engine.remove(container)

    async def close(self) -> None:
        if self._ahead is not None:
            self._ahead.cancel()
            await asyncio.gather(self._ahead, return_exceptions=True)

    # Running.

    async def run(self, errand: Errand) -> Outcome:
        container = errand.brief.task.container
        assert container is not None  # noqa: S101 - the agent gives us tasks of our kind
        try:
            return await self._run(errand, container)
        except InvalidInput as error:
            return self._refused("invalid", error.detail)
        except OSError as error:
            return self._refused("engine", f"the container could not be started: {error}")

    def _refused(self, kind: str, text: str) -> Outcome:
        return Outcome(end=End.ERROR, error=JobError(kind, text), usage=Usage(isolation=self._isolation))

    async def _run(self, errand: Errand, container: Container) -> Outcome:
        root = self._root(container)
        if "--rootfs" not in root:
            with errand.preparing():
                failed = await self._images.fetch(container.image, container.pull, errand)
            if failed is not None:
                return failed
        if errand.stop.done():
            return errand.stop.result().outcome()
        bounds = bounds_of(errand.brief.task.limits, errand.grant)
        workspace, last_line = Workspace(errand, owner=self._owner), LastLine()
        with self._disk(errand, workspace, bounds) as disk:
            words = [*supplies(errand, workspace, disk), *self._confinement(errand, bounds)]
            words += arguments(container, workspace, root)
            events = Events(workspace.events, errand)
            try:
                run = await run_container(self._site(errand, bounds, disk), Listener(errand, last_line), words)
                await events.close()
            finally:
                events.abandon()
            await _take(disk, workspace, errand)
        if run.status is None:
            self._images.forget(container.image)
        return self._conclude(run, container, workspace, last_line, events)

    def _conclude(
        self, run: Run, container: Container, workspace: Workspace, last_line: LastLine, events: Events
    ) -> Outcome:
        found = outcome(run, events.retry_after)
        found.usage = _usage(run.facts.reading, self._isolation)
        if found.end is End.SUCCEEDED:
            found.result = workspace.result(container.result, last_line.text)
        else:
            workspace.discard_result()
        return found

    def _root(self, container: Container) -> list[str]:
        if container.image.startswith(ROOT):
            if not self._engine.podman:
                raise InvalidInput("container.image: only podman runs root file systems that are no images")
            # As the lower part of an overlay, so that not even the engine changes it.
            return ["--rootfs", f"{find_root(container.image, self._settings.roots)}:O"]
        check_reference(container.image)
        return [container.image]

    def _confinement(self, errand: Errand, bounds: Bounds) -> list[str]:
        network = self._settings.network if errand.brief.task.network else None
        shut_in = confine(self._engine, network, self._profile) if self._shut_in else []
        return [*shut_in, *limit(self._engine, bounds)]

    def _site(self, errand: Errand, bounds: Bounds, disk: Disk) -> Site:
        return Site(
            engine=self._engine,
            name=group_name(self._quarters.agent, errand.grant.id, errand.grant.attempt),
            mark=errand.mark,
            folder=errand.folder,
            bounds=bounds,
            disk=disk,
            hierarchy=self._hierarchy,
        )

    @property
    def _owner(self) -> int | None:
        return NOBODY if os.geteuid() == 0 and self._shut_in and not self._mounts else None

    @contextlib.contextmanager
    def _disk(self, errand: Errand, workspace: Workspace, bounds: Bounds) -> Iterator[Disk]:
        disk: Disk
        if self._mounts:
            disk = MountedDisk(errand.folder / "disk", bounds.disk)
        else:
            disk = PlainDisk(self._engine, workspace, bounds)
        with contextlib.closing(disk):
            yield disk


async def _take(disk: Disk, workspace: Workspace, errand: Errand) -> None:
    left_behind = await asyncio.to_thread(disk.take, workspace.output)
    if left_behind:
        text = f"{left_behind} entries of the output folder were not taken: only files and folders are\n"
        errand.write("system", text.encode())


def _usage(reading: Reading, isolation: str) -> Usage:
    return Usage(
        isolation=isolation,
        cpu=reading.cpu,
        peak_memory=reading.peak_memory,
        read_bytes=reading.read_bytes,
        written_bytes=reading.written_bytes,
    )
