"""The engine: all use cases and duties of one server, put together. Several engines share nothing but PostgreSQL."""

import time
from datetime import timedelta

import msgspec

from horae.engine.access import Access
from horae.engine.clock import DatabaseClock
from horae.engine.complete import Complete
from horae.engine.dispatch import Dispatch
from horae.engine.duties.chores import KeyUse, WatchPoll
from horae.engine.duties.loop import DutyLoop
from horae.engine.duties.notices import Notices
from horae.engine.duties.partitions import Partitions
from horae.engine.duties.reclaim import Reclaim
from horae.engine.duties.scout import Scout
from horae.engine.duties.timers import Timers
from horae.engine.fleet import LEASE_SECONDS, Fleet
from horae.engine.lanes import Lanes
from horae.engine.lists import Lists
from horae.engine.output import Output
from horae.engine.signals import Signals
from horae.engine.steer import Steer
from horae.engine.submit import Submit
from horae.engine.tasks import Tasks
from horae.engine.watch import Watch
from horae.model.ids import JobIds
from horae.store.control import Control
from horae.store.database import Database, DatabaseConfig
from horae.store.jobs import JobLists, Jobs
from horae.store.objects import Objects
from horae.store.upkeep import Upkeep
from horae.store.workers import Workers


class EngineConfig(msgspec.Struct, frozen=True, kw_only=True):
    database: DatabaseConfig
    objects: str
    """Where large results lie: a folder, or s3://bucket/prefix."""
    retention: timedelta = timedelta(days=30)
    lease_seconds: float = LEASE_SECONDS

    def __post_init__(self) -> None:
        if self.retention < timedelta(days=2):
            raise ValueError("retention must be at least two days")
        if self.lease_seconds < 4:
            raise ValueError("a lease must last at least four seconds")


class Engine:
    def __init__(self, config: EngineConfig) -> None:
        self.config = config
        self.database = Database(config.database)
        self.clock = DatabaseClock()
        self.signals = Signals(self.clock)
        jobs, workers = Jobs(self.database), Workers(self.database)
        control, self.upkeep = Control(self.database), Upkeep(self.database)
        objects = Objects(config.objects)
        self.access = Access(control)
        self.lanes = Lanes(control)
        self.tasks = Tasks(control)
        self.watch = Watch(jobs)
        self.submit = Submit(jobs, self.lanes, self.tasks, self.access, self.clock, self.signals, JobIds())
        self.dispatch = Dispatch(jobs, workers, self.lanes)
        self.complete = Complete(jobs, self.lanes, self.watch, self.signals)
        self.fleet = Fleet(workers, self.tasks, self.complete, self.signals, config.lease_seconds)
        self.steer = Steer(
            jobs, self.lanes, self.tasks, self.submit, self.watch, self.signals, self.clock, config.retention
        )
        self.lists = Lists(jobs, JobLists(self.database), self.clock)
        self.output = Output(jobs, workers, objects, self.watch)
        self.signals.on_ready.append(self.dispatch.note_ready)
        self.timers = Timers(self.upkeep, self.clock, self.signals)
        self.notices = Notices(self.database, self.signals)
        self._partitions = Partitions(self.upkeep, objects, self.clock, config.retention)
        self.duties = [
            DutyLoop(duty)
            for duty in (
                Reclaim(jobs, workers, self.watch, self.signals),
                Scout(self.upkeep, self.dispatch),
                self._partitions,
                WatchPoll(self.watch),
                KeyUse(self.access),
            )
        ]

    async def start(self) -> None:
        await self.database.open()
        sent = time.monotonic()
        self.clock.observe(await self.upkeep.clock(), sent, time.monotonic())
        # Before anything is stored: a job without its day's partition would fall into the default one.
        await self._partitions.make_ahead(self.clock.now().date())
        self.timers.start()
        self.notices.start()
        for duty in self.duties:
            duty.start()

    async def stop(self) -> None:
        for duty in self.duties:
            await duty.stop()
        await self.notices.stop()
        await self.timers.stop()
        await self.database.close()

    async def ready(self) -> dict[str, str]:
        """What is wrong, by component; empty when jobs can be submitted and run."""
        wrong: dict[str, str] = {}
        try:
            await self.upkeep.clock()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
            wrong["database"] = repr(error)
        wrong |= {d.duty.name: f"failed {d.failures} times in a row" for d in self.duties if d.failures > 3}
        if self.timers.failures > 3:
            wrong["timers"] = f"failed {self.timers.failures} times in a row"
        return wrong
