"""The engine: all use cases and duties of one server, put together. Several engines share nothing but PostgreSQL."""

import asyncio
import time
from contextlib import suppress
from datetime import timedelta
from typing import Final

import asyncpg
import msgspec

from horae.engine.access import Access
from horae.engine.actions import Actions
from horae.engine.actionwork import ActionWork
from horae.engine.admission import Admission
from horae.engine.backfill import Backfilling
from horae.engine.backlog import Backlog
from horae.engine.calendars import Calendars
from horae.engine.claims import Claims
from horae.engine.clock import DatabaseClock
from horae.engine.complete import Complete
from horae.engine.crew import Crews
from horae.engine.dead import Dead
from horae.engine.dispatch import Dispatch
from horae.engine.durations import Durations
from horae.engine.duties.actions import ActionsDuty
from horae.engine.duties.backfills import BackfillDuty
from horae.engine.duties.breaker import BreakerDuty
from horae.engine.duties.chores import KeyUse, WatchPoll
from horae.engine.duties.expiry import ExpiryDuty
from horae.engine.duties.gates import GatesDuty
from horae.engine.duties.limits import LimitWatch
from horae.engine.duties.loop import DutyLoop
from horae.engine.duties.notices import Notices
from horae.engine.duties.partitions import Partitions
from horae.engine.duties.policy import PolicyWatch
from horae.engine.duties.prospects import ProspectsDuty
from horae.engine.duties.quotas import Presence, QuotaWatch
from horae.engine.duties.reclaim import Reclaim
from horae.engine.duties.recount import Recount
from horae.engine.duties.rollups import RollupFlush, RollupUpkeep
from horae.engine.duties.scout import Scout
from horae.engine.duties.shedding import Shedding
from horae.engine.duties.ticks import Ticks
from horae.engine.duties.timers import Timers
from horae.engine.duties.uniques import UniquesDuty
from horae.engine.duties.waits import WaitsDuty
from horae.engine.estimate import Estimator
from horae.engine.expiry import Expiry
from horae.engine.explain import Explain
from horae.engine.facts import FactFinder
from horae.engine.fleet import LEASE_SECONDS, Fleet
from horae.engine.forecast import Forecasting
from horae.engine.gatekeeper import Gatekeeper
from horae.engine.gates import Gating
from horae.engine.grants import Grants
from horae.engine.lanes import Lanes
from horae.engine.limits import Limits
from horae.engine.lists import Lists
from horae.engine.output import Output
from horae.engine.planning import Planner
from horae.engine.policy import Policy
from horae.engine.prospects import Prospects
from horae.engine.quotas import Quotas
from horae.engine.reckoning import Reckoning
from horae.engine.relocate import Relocate
from horae.engine.schedules import Scheduling
from horae.engine.shares import Shares
from horae.engine.signals import Signals
from horae.engine.spending import Spending
from horae.engine.steer import Steer
from horae.engine.submit import Submit
from horae.engine.tally import Tally
from horae.engine.tasks import Tasks
from horae.engine.unique import Uniqueness
from horae.engine.watch import Watch
from horae.model.errors import HoraeError
from horae.model.ids import JobIds
from horae.store.actions import Actions as ActionStore
from horae.store.actions import DeadLetters
from horae.store.backfills import Backfills
from horae.store.breakers import Breakers
from horae.store.control import Control
from horae.store.database import LOST, Database, DatabaseConfig
from horae.store.explain import ExplainRows
from horae.store.gates import Gates
from horae.store.jobs import JobLists, Jobs
from horae.store.objects import Objects
from horae.store.policy import PolicyRows
from horae.store.quotas import Quotas as QuotaStore
from horae.store.rollups import Rollups
from horae.store.schedules import Schedules
from horae.store.unique import Expiries, Uniques
from horae.store.upkeep import Upkeep
from horae.store.workers import Workers

GOODBYE_SECONDS: Final = 2.0


class EngineConfig(msgspec.Struct, frozen=True, kw_only=True):
    database: DatabaseConfig
    objects: str
    """Where large results lie: a folder, or s3://bucket/prefix."""
    retention: timedelta = timedelta(days=30)
    lease_seconds: float = LEASE_SECONDS
    max_pending: int | None = None
    """How many jobs may wait in all; the lowest priorities are refused from 80 % of it on."""
    shed: bool = False
    """Whether waiting jobs of the lowest priorities are dropped when there are more."""

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
        self.tally, self.durations = Tally(), Durations()
        self.policy = Policy(PolicyRows(self.database), control)
        self.gates = Gates(self.database)
        self.gatekeeper = Gatekeeper(self.gates, jobs, self.watch, self.signals, self.tally)
        self.gating = Gating(
            self.gates, self.policy, self.access, self.signals, self.clock, self.tally, config.retention
        )  # fmt: skip
        backlog = Backlog(Shares(self.policy.weight, self.durations.expected))
        self._policy_loop = DutyLoop(PolicyWatch(self.policy))
        self.admission = Admission(config.max_pending)
        rollups, quotas = Rollups(self.database), QuotaStore(self.database)
        self.quotas = Quotas(quotas, rollups, self.access)
        uniques = Uniques(self.database)
        self.expiry = Expiry(Expiries(self.database), self.watch, self.tally)
        self.prospects = Prospects(workers, self.lanes)
        self.submit = Submit(
            jobs, self.lanes, self.tasks, self.access, self.clock, self.signals, JobIds(),
            Uniqueness(uniques, self.watch, self.signals, self.clock, self.tally), self.admission,
            self.policy, self.gatekeeper, self.tally, self.durations, self.prospects,
        )  # fmt: skip
        self.limits = Limits(self.database, PolicyRows(self.database), self.policy, self.access, self.signals)
        self.limit_watch = LimitWatch(PolicyRows(self.database), self.policy)
        self.tasks.on_register.append(self.limits.of_task)
        self.dispatch = Dispatch(
            self.lanes, self.policy, backlog, Claims(jobs, self.policy),
            Grants(workers, self.lanes, self.policy, self.clock, self.expiry, self.gatekeeper), self.tally,
        )  # fmt: skip
        reckoning = Reckoning(
            self.lanes, self.policy, backlog, self.durations, self.signals, self.dispatch.session
        )  # fmt: skip
        self.complete = Complete(jobs, self.lanes, self.watch, self.signals, self.tally, self.durations)
        self.fleet = Fleet(workers, self.tasks, self.complete, self.signals, config.lease_seconds)
        self.steer = Steer(
            jobs, self.lanes, self.tasks, self.submit, self.watch, self.signals, self.clock, self.tally,
            self.durations, config.retention,
        )  # fmt: skip
        explain_rows, policy_rows = ExplainRows(self.database), PolicyRows(self.database)
        self.explain = Explain(
            self.steer, workers,
            FactFinder(
                explain_rows, policy_rows, self.policy, self.gatekeeper,
                Crews(workers, explain_rows, policy_rows, self.dispatch), self.clock,
            ),
            Estimator(explain_rows, self.durations, self.policy),
            Spending(explain_rows, self.policy, self.gatekeeper, backlog.waits, self.clock), self.clock,
        )  # fmt: skip
        self.relocate = Relocate(self.steer, workers, self.lanes, self.signals)
        self.lists = Lists(jobs, JobLists(self.database), self.clock)
        actions = ActionStore(self.database)
        self.actions = Actions(actions, self.lists, self.access, self.clock, JobIds())
        self.dead = Dead(DeadLetters(self.database), self.lists)
        action_work = ActionWork(actions, self.lists, self.steer, self.clock)
        self.output = Output(jobs, workers, objects, self.watch)
        self.signals.on_ready.append(self.dispatch.note_ready)
        self.signals.on_freed.append(self.dispatch.note_freed)
        self.signals.on_lost.append(self.dispatch.note_lost)
        self.signals.on_ended.append(reckoning.note_ended)
        self.signals.on_policy.append(self._policy_loop.wake)
        self.timers = Timers(self.upkeep, self.clock, self.signals)
        self.notices = Notices(self.database, self.signals)
        schedules = Schedules(self.database)
        self.calendars = Calendars(schedules)
        planner = Planner(self.submit, self.calendars)
        self.scheduling = Scheduling(schedules, planner, self.calendars, self.clock, self.signals, self.tally)
        self.forecasting = Forecasting(self.scheduling, planner)
        backfills = Backfills(self.database)
        self.backfilling = Backfilling(backfills, planner, self.scheduling, self.clock)
        self.ticks = Ticks(schedules, planner, self.scheduling, self.steer, config.retention)
        self._partitions = Partitions(self.upkeep, objects, self.clock, config.retention)
        self._flush = RollupFlush(rollups, self.tally, self.lanes, self.durations)
        self._presence = Presence(quotas, self.admission)
        self.duties = [self._policy_loop] + [
            DutyLoop(duty)
            for duty in (
                Reclaim(jobs, workers, self.watch, self.signals, self.tally),
                Scout(self.upkeep, self.dispatch),
                self.limit_watch,
                self._partitions,
                WatchPoll(self.watch),
                KeyUse(self.access),
                self._flush,
                RollupUpkeep(self.database),
                Recount(self.database, self.lanes),
                self._presence,
                QuotaWatch(quotas, rollups, self.admission, self._flush.flush),
                Shedding(self.database, self.admission, self.tally, self.watch, allowed=config.shed),
                self.ticks,
                BackfillDuty(backfills, self.backfilling, self.scheduling),
                ExpiryDuty(self.expiry),
                UniquesDuty(uniques),
                GatesDuty(self.gates, self.policy, self.gatekeeper, self.watch, self.signals, self.tally),
                BreakerDuty(Breakers(self.database), self.gates, self.policy, self.signals, self.clock),
                ActionsDuty(action_work, actions, self.signals, self.watch, self.tally),
                WaitsDuty(
                    explain_rows, backlog.waits, self.lanes, self.policy, self.dispatch.probing, config.retention
                ),
                ProspectsDuty(self.prospects),
            )
        ]
        ticking = next(loop for loop in self.duties if loop.duty is self.ticks)
        self.ticks.wake = self.scheduling.nudge = ticking.wake
        self.gating.nudge = next(loop for loop in self.duties if loop.duty.name == GatesDuty.name).wake

    async def start(self) -> None:
        await self.database.open()
        sent = time.monotonic()
        self.clock.observe(await self.upkeep.clock(), sent, time.monotonic())
        # Before anything is stored: a job without its day's partition would fall into the default one.
        await self._partitions.make_ahead(self.clock.now().date())
        await self.ticks.recall()
        self.timers.start()
        self.notices.start()
        for duty in self.duties:
            duty.start()

    async def stop(self) -> None:
        for duty in self.duties:
            await duty.stop()
        await self.notices.stop()
        await self.timers.stop()
        await self._say_goodbye()
        await self.database.close()

    async def _say_goodbye(self) -> None:
        """The last counts, and off the list of servers. Nothing relies on it, so it waits for no database."""
        with suppress(HoraeError, asyncpg.PostgresError, *LOST):
            async with asyncio.timeout(GOODBYE_SECONDS):
                await self._flush.flush()
                await self._presence.leave()

    async def ready(self) -> dict[str, str]:
        """What is wrong, by component; empty when jobs can be submitted and run."""
        wrong: dict[str, str] = {}
        try:
            await self.upkeep.clock()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
            wrong["database"] = repr(error)
        wrong |= {name: f"{count} found: see the log" for name, count in self.limit_watch.faults.items()}
        wrong |= {d.duty.name: f"failed {d.failures} times in a row" for d in self.duties if d.failures > 3}
        if self.timers.failures > 3:
            wrong["timers"] = f"failed {self.timers.failures} times in a row"
        return wrong
