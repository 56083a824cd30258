"""The engine: all use cases and duties of one server, put together. Several engines share nothing but PostgreSQL."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Final

import asyncpg
import msgspec

from horae.engine.access import Access
from horae.engine.actions import Actions
from horae.engine.actionwork import ActionWork
from horae.engine.admission import Admission
from horae.engine.agenda import Agenda
from horae.engine.backfill import Backfilling
from horae.engine.backlog import Backlog
from horae.engine.briefs import Briefs
from horae.engine.calendars import Calendars
from horae.engine.callbacks import Callbacks
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
from horae.engine.duties.callbacks import CallbacksDuty
from horae.engine.duties.chores import KeyUse, WatchPoll
from horae.engine.duties.expiry import ExpiryDuty
from horae.engine.duties.flows import FlowFlush
from horae.engine.duties.gates import GatesDuty
from horae.engine.duties.lifetimes import LifetimesDuty
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
from horae.engine.duties.secrets import SecretUse
from horae.engine.duties.servicelevels import ServiceLevelsDuty
from horae.engine.duties.shedding import Shedding
from horae.engine.duties.ticks import Ticks
from horae.engine.duties.timers import Timers
from horae.engine.duties.uniques import UniquesDuty
from horae.engine.duties.waits import WaitsDuty
from horae.engine.estimate import Estimator
from horae.engine.examiner import Examiner
from horae.engine.expiry import Expiry
from horae.engine.explain import Explain
from horae.engine.facts import FactFinder
from horae.engine.files import Files
from horae.engine.find import Find
from horae.engine.fleet import LEASE_SECONDS, Fleet
from horae.engine.flows import Flows
from horae.engine.forecast import Forecasting
from horae.engine.gatekeeper import Gatekeeper
from horae.engine.gates import Gating
from horae.engine.glance import Glances
from horae.engine.grants import Grants
from horae.engine.keyrotation import KeyRotation
from horae.engine.lanes import Lanes
from horae.engine.lifetimes import Lifetimes
from horae.engine.limits import Limits
from horae.engine.limituse import LimitUses
from horae.engine.lineup import Lineups
from horae.engine.lists import Lists
from horae.engine.livelists import LiveLists
from horae.engine.masterkeys import MasterKeys
from horae.engine.output import Output
from horae.engine.overview import Overviews
from horae.engine.parking import Parking
from horae.engine.planning import Planner
from horae.engine.policy import Policy
from horae.engine.preparation import Preparation
from horae.engine.promises import Promises
from horae.engine.prospects import Prospects
from horae.engine.pulses import Pulses
from horae.engine.queues import Queues
from horae.engine.quotas import Quotas
from horae.engine.reckoning import Reckoning
from horae.engine.relocate import Relocate
from horae.engine.schedules import Scheduling
from horae.engine.schemas import Schemas
from horae.engine.secrets import Secrets
from horae.engine.servicelevels import ServiceLevels
from horae.engine.shares import Shares
from horae.engine.signals import Signals
from horae.engine.signins import SignIns
from horae.engine.sinks import Sinks
from horae.engine.spending import Spending
from horae.engine.statistics import Statistics
from horae.engine.steer import Steer
from horae.engine.submit import Submit
from horae.engine.tally import Tally
from horae.engine.tasks import Tasks
from horae.engine.tasksharing import TaskSharing
from horae.engine.taskversions import TaskVersions
from horae.engine.unique import Uniqueness
from horae.engine.vault import Vault
from horae.engine.watch import Watch
from horae.model.addresses import read_networks
from horae.model.errors import HoraeError
from horae.model.ids import JobIds
from horae.store.database import LOST, Database, DatabaseConfig
from horae.store.objects import DEFAULT_ACCESS, ObjectsConfig
from horae.store.s3 import S3Access
from horae.store.stores import Stores

GOODBYE_SECONDS: Final = 2.0


class EngineConfig(msgspec.Struct, frozen=True, kw_only=True):
    database: DatabaseConfig
    objects: str
    """Where large results and files lie: a folder, or s3://bucket/prefix."""
    s3: S3Access = DEFAULT_ACCESS
    retention: timedelta = timedelta(days=30)
    lease_seconds: float = LEASE_SECONDS
    max_pending: int | None = None
    """How many jobs may wait in all; the lowest priorities are refused from 80 % of it on."""
    secrets: MasterKeys = MasterKeys()
    """What secrets are sealed with. None: they cannot be used."""
    shed: bool = False
    """Whether waiting jobs of the lowest priorities are dropped when there are more."""
    public_url: str | None = None
    """Where services reach this installation to call back; None: as its workers do."""
    allow_networks: Sequence[str] = ()
    """What sinks may reach beside the public internet."""

    def __post_init__(self) -> None:
        if self.retention < timedelta(days=2):
            raise ValueError("retention must be at least two days")
        if self.lease_seconds < 4:
            raise ValueError("a lease must last at least four seconds")


class Engine:
    def __init__(self, config: EngineConfig) -> None:
        self.config = config
        self.database = Database(config.database)
        self.clock = DatabaseClock(patience=2 * config.lease_seconds)
        self.signals = Signals(self.clock)
        self.stores = Stores(self.database, ObjectsConfig(config.objects, config.s3))
        self.upkeep = self.stores.upkeep
        self.access = Access(self.stores.control)
        self.signins = SignIns(self.stores.sessions, self.access)
        self.flows, self.pulses = Flows(), Pulses()
        self.lanes = Lanes(self.stores.control)
        self._examiner = Examiner()
        self.schemas = Schemas(self._examiner)
        self.tasks = Tasks(self.stores.control, self.stores.tasks, self.schemas)
        self.task_versions = TaskVersions(self.stores.tasks, self.tasks)
        self.task_sharing = TaskSharing(self.stores.tasks, self.tasks, self.access)
        self.statistics = Statistics(self.stores.statistics, self.clock)
        self.find = Find(self.stores.finding, self.access)
        self.watch = Watch(self.stores.jobs)
        self.tally, self.durations = Tally(), Durations()
        self._make_policy()
        self._make_submit()
        self._make_dispatch()
        self._make_steering()
        self._make_schedules()
        self._make_duties()
        self._connect()

    def _make_policy(self) -> None:
        stores = self.stores
        self.policy = Policy(stores.policy, stores.control)
        self.limits = Limits(self.database, stores.policy, self.policy, self.access, self.signals)
        self.service_levels = ServiceLevels(
            self.database, stores.service_levels, self.policy, self.access, self.signals
        )  # fmt: skip
        self.gatekeeper = Gatekeeper(stores.gates, self.watch, self.signals, self.tally)
        self.gating = Gating(
            stores.gates, self.policy, self.access, self.signals, self.clock, self.tally, self.config.retention
        )  # fmt: skip
        self.admission = Admission(self.config.max_pending)
        self.quotas = Quotas(stores.quotas, self.access)
        self.overviews = Overviews(stores.flows, self.policy, self.limits, self.clock)

    def _make_submit(self) -> None:
        stores = self.stores
        self.expiry = Expiry(stores.expiries, self.watch, self.signals, self.tally)
        self.prospects = Prospects(stores.workers, self.lanes)
        self._ids = JobIds()
        preparation = Preparation(
            self.lanes, self.tasks, self.access, self.clock, self._ids, self.policy, self.durations, self.schemas
        )
        self.submit = Submit(
            stores.jobs, self.lanes, preparation, self.signals,
            Uniqueness(stores.uniques, self.watch, self.signals, self.clock, self.tally), self.admission,
            self.policy, self.gatekeeper, self.tally, self.prospects,
        )  # fmt: skip

    def _make_dispatch(self) -> None:
        stores = self.stores
        self._backlog = Backlog(Shares(self.policy.weight, self.durations.expected))
        self.dispatch = Dispatch(
            self.lanes, self.policy, self._backlog, Claims(stores.jobs, self.policy),
            Grants(stores.workers, self.lanes, self.policy, self.clock, self.expiry, self.gatekeeper), self.tally,
        )  # fmt: skip
        self._reckoning = Reckoning(
            self.lanes, self.policy, self._backlog, self.durations, self.signals, self.dispatch.session
        )  # fmt: skip
        self.complete = Complete(
            stores.jobs, self.lanes, self.watch, self.signals, self.tally, self.durations,
            Parking(stores.callbacks, self.signals),
        )  # fmt: skip
        self.fleet = Fleet(
            stores.workers, self.tasks, self.complete, self.signals, self.clock, self.config.lease_seconds
        )
        vault = Vault(self.config.secrets)
        self.secrets = Secrets(stores.secrets, vault)
        self.key_rotation = KeyRotation(stores.secrets, vault)
        self.lifetimes = Lifetimes(self.tasks, self.clock)
        self.files = Files(stores.files, stores.objects, self.lifetimes, self.clock)
        self.sinks = Sinks(
            stores.objects, self.tasks, self.secrets, read_networks(self.config.allow_networks)
        )  # fmt: skip
        self.output = Output(
            stores.jobs, stores.workers, stores.files, stores.objects, self.watch, self.lifetimes, self.sinks
        )
        self.callbacks = Callbacks(
            stores.callbacks, self.complete, self.output, self.sinks, self.signals, self.config.public_url
        )  # fmt: skip
        self.briefs = Briefs(stores.tasks, self.secrets, self.callbacks)

    def _make_steering(self) -> None:
        stores = self.stores
        self.steer = Steer(
            stores.jobs, self.lanes, self.tasks, self.submit, self.watch, self.signals, self.clock, self.tally,
            self.durations, self.config.retention, self.callbacks,
        )  # fmt: skip
        self.relocate = Relocate(self.steer, stores.workers, self.lanes, self.signals)
        self.lists = Lists(stores.lists, stores.flows, self.clock)
        self.live_lists = LiveLists(self.lists, stores.lines)
        # Of one maker: an action is for jobs with smaller ids, also for one that was made in the same millisecond.
        self.actions = Actions(stores.actions, self.lists, self.access, self.clock, self._ids)
        self.dead = Dead(stores.dead_letters, self.lists)
        crews = Crews(stores.workers, stores.explain, stores.policy, self.dispatch)
        lineups = Lineups(self._backlog, stores.explain, stores.policy, self.policy, self.prospects)
        self.queues = Queues(stores.rollups, lineups)
        self.limit_use = LimitUses(self.limits, lineups, stores.policy)
        self.explain = Explain(
            self.steer, stores.workers,
            FactFinder(stores.explain, stores.policy, self.policy, self.gatekeeper, crews, self.clock),
            Estimator(stores.explain, self.durations, self.policy),
            Spending(stores.explain, self.policy, self.gatekeeper, self._backlog.waits, self.clock), self.clock,
            self.callbacks,
        )  # fmt: skip

    def _make_schedules(self) -> None:
        schedules = self.stores.schedules
        self.calendars = Calendars(schedules)
        planner = Planner(self.submit, self.calendars)
        self.scheduling = Scheduling(schedules, planner, self.calendars, self.clock, self.signals, self.tally)
        self.forecasting = Forecasting(schedules, planner)
        self.agenda = Agenda(self.scheduling, planner)
        self.glances = Glances(schedules, planner, self.clock)
        self.backfilling = Backfilling(self.stores.backfills, planner, self.scheduling, self.clock)
        self.ticks = Ticks(schedules, planner, self.scheduling, self.steer, self.clock, self.config.retention)

    def _make_duties(self) -> None:
        stores, config = self.stores, self.config
        self.timers = Timers(stores.upkeep, self.clock, self.signals)
        self.notices = Notices(self.database, self.signals, self.pulses)
        self.limit_watch = LimitWatch(stores.policy, self.policy)
        self._partitions = Partitions(stores.upkeep, stores.objects, self.clock, config.retention)
        self._flush = RollupFlush(stores.rollups, self.tally, self.lanes, self.durations)
        self._flow_flush = FlowFlush(stores.flows, self.flows, self.tally, self.lanes, self.clock)
        self._presence = Presence(stores.quotas, self.admission)
        action_work = ActionWork(stores.actions, self.lists, self.steer, self.clock, self.config.retention)
        self.duties = [
            DutyLoop(duty)
            for duty in (
                PolicyWatch(self.policy),
                Reclaim(stores.jobs, stores.workers, self.watch, self.signals, self.clock, self.tally),
                Scout(stores.upkeep, self.dispatch),
                self.limit_watch,
                self._partitions,
                WatchPoll(self.watch),
                KeyUse(self.access),
                SecretUse(self.secrets),
                self._flush,
                self._flow_flush,
                RollupUpkeep(self.database),
                Recount(self.database, self.lanes, self._flush.flush),
                self._presence,
                QuotaWatch(stores.quotas, stores.rollups, self.admission, self._flush.flush),
                Shedding(
                    self.database, self.admission, self.tally, self.watch, self._flush.flush, allowed=config.shed
                ),
                self.ticks,
                BackfillDuty(stores.backfills, self.backfilling, self.scheduling),
                ExpiryDuty(self.expiry),
                ServiceLevelsDuty(Promises(stores.service_levels, self.signals), stores.service_levels),
                UniquesDuty(stores.uniques),
                GatesDuty(
                    stores.gates, self.policy, self.gatekeeper, self.prospects, self.watch, self.signals, self.tally
                ),
                BreakerDuty(stores.breakers, stores.gates, self.policy, self.signals, self.clock),
                ActionsDuty(action_work, stores.actions, self.signals, self.watch, self.tally),
                WaitsDuty(
                    stores.explain, self._backlog.waits, self.lanes, self.policy, self.dispatch.probing,
                    config.retention,
                ),
                ProspectsDuty(self.prospects),
                LifetimesDuty(stores.files, stores.objects, self.tasks, self.access, self.clock, config.retention),
                CallbacksDuty(self.callbacks),
            )
        ]  # fmt: skip

    def _connect(self) -> None:
        """Who hears of what."""
        loops = {loop.duty.name: loop for loop in self.duties}
        self.signals.on_ready.append(self.dispatch.note_ready)
        self.signals.on_freed.append(self.dispatch.note_freed)
        self.signals.on_lost.append(self.dispatch.note_lost)
        self.signals.on_ended.append(self._reckoning.note_ended)
        self.signals.on_policy.append(loops[PolicyWatch.name].wake)
        self.policy.on_change.append(self.pulses.policy_changed)
        self._flush.on_written += [lambda flows, _: self.flows.add(flows), self.pulses.happened]
        self.tasks.on_register.append(self.limits.of_task)
        self.ticks.wake = self.scheduling.nudge = loops[self.ticks.name].wake
        self.gating.nudge = loops[GatesDuty.name].wake
        self.timers.on_jump = self.ticks.recall
        self.callbacks.nudge = loops[CallbacksDuty.name].wake

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
        await self._examiner.close()
        await self.database.close()

    async def _say_goodbye(self) -> None:
        """The last counts, and off the list of servers. Nothing relies on it, so it waits for no database."""
        with suppress(HoraeError, asyncpg.PostgresError, *LOST):
            async with asyncio.timeout(GOODBYE_SECONDS):
                await self._flush.flush()
                await self._flow_flush.flush()
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
