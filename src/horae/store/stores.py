"""The store as a whole: one thin module for each aggregate, all on the same connections."""

from horae.store.actions import Actions, DeadLetters
from horae.store.backfills import Backfills
from horae.store.breakers import Breakers
from horae.store.callbacks import CallbackRows
from horae.store.control import Control
from horae.store.database import Database
from horae.store.explain import ExplainRows
from horae.store.files import FileRows
from horae.store.finding import Finding
from horae.store.flows import Flows
from horae.store.gates import Gates
from horae.store.jobs import Jobs
from horae.store.lines import Lines
from horae.store.lists import JobLists
from horae.store.objects import Objects, ObjectsConfig
from horae.store.policy import PolicyRows
from horae.store.quotas import Quotas
from horae.store.rollups import Rollups
from horae.store.schedules import Schedules
from horae.store.secrets import SecretRows
from horae.store.servicelevels import ServiceLevelRows
from horae.store.sessions import ConsoleSessions
from horae.store.statistics import Statistics
from horae.store.tasks import TaskRows
from horae.store.unique import Expiries, Uniques
from horae.store.upkeep import Upkeep
from horae.store.workers import Workers


class Stores:
    def __init__(self, database: Database, objects: ObjectsConfig) -> None:
        self.jobs = Jobs(database)
        self.lines = Lines(database)
        self.lists = JobLists(database)
        self.workers = Workers(database)
        self.control = Control(database)
        self.tasks = TaskRows(database)
        self.secrets = SecretRows(database)
        self.upkeep = Upkeep(database)
        self.objects = Objects(objects)
        self.files = FileRows(database)
        self.policy = PolicyRows(database)
        self.service_levels = ServiceLevelRows(database)
        self.gates = Gates(database)
        self.breakers = Breakers(database)
        self.quotas = Quotas(database)
        self.rollups = Rollups(database)
        self.flows = Flows(database)
        self.sessions = ConsoleSessions(database)
        self.statistics = Statistics(database)
        self.finding = Finding(database)
        self.uniques = Uniques(database)
        self.expiries = Expiries(database)
        self.actions = Actions(database)
        self.dead_letters = DeadLetters(database)
        self.explain = ExplainRows(database)
        self.schedules = Schedules(database)
        self.backfills = Backfills(database)
        self.callbacks = CallbackRows(database)
