"""The peers: what each is run on, with which settings for two cores, and what its acceptance of a job is worth."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple


class Runtime(StrEnum):
    PYTHON = "python"
    NODE = "node"
    HORAE = "horae"


class StoreKind(StrEnum):
    POSTGRESQL = "PostgreSQL"
    REDIS = "Redis"
    RABBITMQ = "RabbitMQ"


class Crew(NamedTuple):
    """Worker processes, all alike."""

    command: tuple[str, ...]
    """After the interpreter: a file of drivers/, or `-m module …`; for Horae the options of its worker."""
    processes: int
    settings: Mapping[str, Any] = {}
    """What the driver reads and gives to its library."""
    environ: Mapping[str, str] = {}
    beside: tuple[str, ...] = ()
    """One more process, where timers need one of their own."""


class Peer(NamedTuple):
    title: str
    driver: str
    runtime: Runtime
    store: StoreKind
    jobs: int
    """In one drain: some seconds' worth."""
    busy: Crew
    """The settings that drained quickest of those tried."""
    prompt: Crew
    """The settings that started single and due jobs soonest."""
    settings: str
    accepted: str
    """What stands when a submission has been answered."""
    kept: str
    """What is left of a job that has ended."""
    safe: Crew | None = None
    """For the kill, where a documented switch keeps jobs that the fastest settings would lose."""
    bulk: bool = False
    """Whether its API submits many jobs in one call."""
    package: str = ""
    """Its name in the registry, where that is not the driver's."""


SYNCED: Final = "synced to disk by PostgreSQL"
EVERY_SECOND: Final = "in Redis; on disk within a second"


def _node(title: str, driver: str, store: StoreKind, **more: Any) -> Peer:
    return Peer(title, driver, Runtime.NODE, store, bulk=True, **more)


def _redis(title: str, driver: str, **more: Any) -> Peer:
    return Peer(title, driver, Runtime.PYTHON, StoreKind.REDIS, accepted=EVERY_SECOND, **more)


def _postgresql(title: str, driver: str, **more: Any) -> Peer:
    return Peer(title, driver, Runtime.PYTHON, StoreKind.POSTGRESQL, accepted=SYNCED, **more)


def _celery(pool: str, concurrency: int, *more: str) -> tuple[str, ...]:
    command = ("-m", "celery", "-A", "celery_peer", "worker", "--pool", pool, "-c", str(concurrency))
    return (*command, "-l", "WARNING", "--without-gossip", "--without-mingle", "--without-heartbeat", *more)


_HORAE = Crew(("--slots", "2"), 1)
_GRAPHILE = {"concurrentJobs": 24, "maxPoolSize": 6, "completeJobBatchDelay": 0, "failJobBatchDelay": 0}
_PGBOSS = {"localConcurrency": 2, "batchSize": 2000, "burstWhenBatchFull": True, "pollingIntervalSeconds": 0.5}
# While it listens it polls every 30 s only, unless it is told; and no notice comes of a job that falls due.
_PGBOSS_PROMPT = _PGBOSS | {"notifyPollingIntervalSeconds": 0.5}
_PGQUEUER = Crew(("pgqueuer_peer.py",), 2, {"batch_size": 1000})
_PROCRASTINATE = ("-m", "procrastinate", "--app", "procrastinate_peer.app", "worker", "--concurrency", "5")
_DBOS = Crew(("dbos_peer.py",), 2, {"worker_concurrency": 100, "polling_interval_sec": 0.05})
_SOLO = Crew(_celery("solo", 1, "-n", "worker@%h"), 3, {"worker_prefetch_multiplier": 64})
_DRAMATIQ = ("-m", "dramatiq", "dramatiq_peer", "-p", "2", "-t", "2", "--skip-logging")
_HUEY = ("-m", "huey.bin.huey_consumer", "huey_peer.huey", "-w", "4", "-k", "process", "-q", "-d", "0.01", "-m", "0.05")
_TASKIQ_TIMERS = ("-m", "taskiq", "scheduler", "taskiq_peer:scheduler", "--update-interval", "1")
_TASKIQ = ("-m", "taskiq", "worker", "taskiq_peer:broker", "-w", "2", "--no-parse", "--log-level", "WARNING")

PEERS: Final[Mapping[str, Peer]] = {
    "horae": Peer(
        "Horae",
        "horae",
        Runtime.HORAE,
        StoreKind.POSTGRESQL,
        jobs=150_000,
        busy=_HORAE,
        prompt=_HORAE,
        settings="1 server, 1 worker with 2 slots (as `horae bench drain`), otherwise defaults; bulk by "
        "`asubmit_many`, which sends 5,000 a call, 3 abreast",
        accepted=SYNCED,
        kept="everything, for the time that retention says",
        bulk=True,
    ),
    "graphile": _node(
        "Graphile Worker",
        "graphile",
        StoreKind.POSTGRESQL,
        package="graphile-worker",
        jobs=150_000,
        busy=Crew(("graphile_peer.mjs", "worker"), 2, _GRAPHILE | {"localQueue": {"size": 2000}}),
        prompt=Crew(("graphile_peer.mjs", "worker"), 2, {"concurrentJobs": 24, "maxPoolSize": 12, "pollInterval": 100}),
        settings="2 processes × 24, localQueue 2,000, batched completions; latency, timers: no localQueue, poll 100 ms",
        accepted=SYNCED,
        kept="nothing",
    ),
    "pgboss": _node(
        "pg-boss",
        "pgboss",
        StoreKind.POSTGRESQL,
        package="pg-boss",
        jobs=100_000,
        busy=Crew(("pgboss_peer.mjs", "worker"), 2, {"work": _PGBOSS, "notify": False}),
        prompt=Crew(("pgboss_peer.mjs", "worker"), 2, {"work": _PGBOSS_PROMPT, "notify": True}),
        settings="2 processes × 2, batchSize 2,000 (in one call of the handler), burstWhenBatchFull; latency, timers: "
        "notify, poll 0.5 s",
        accepted=SYNCED,
        kept="the job, for 7 days",
    ),
    "pgqueuer": _postgresql(
        "pgqueuer",
        "pgqueuer",
        jobs=60_000,
        busy=_PGQUEUER,
        prompt=_PGQUEUER,
        settings="2 processes, batch_size 1,000, asyncpg, uvloop",
        kept="a line in its log table",
        bulk=True,
    ),
    "procrastinate": _postgresql(
        "Procrastinate",
        "procrastinate",
        jobs=3000,
        busy=Crew(_PROCRASTINATE, 4),
        prompt=Crew((*_PROCRASTINATE, "-p", "0.1"), 4),
        settings="4 processes × concurrency 5; latency and timers: poll 100 ms",
        kept="the job and its events",
        bulk=True,
    ),
    "dbos": _postgresql(
        "DBOS",
        "dbos",
        jobs=3000,
        busy=_DBOS,
        prompt=_DBOS,
        settings="2 processes, worker_concurrency 100, polling 50 ms",
        kept="the workflow",
    ),
    "bullmq": _node(
        "BullMQ",
        "bullmq",
        StoreKind.REDIS,
        jobs=50_000,
        busy=Crew(("bullmq_peer.mjs", "worker"), 1, {"concurrency": 100}),
        prompt=Crew(("bullmq_peer.mjs", "worker"), 1, {"concurrency": 100}),
        settings="1 process, concurrency 100, removeOnComplete",
        accepted=EVERY_SECOND,
        kept="nothing",
    ),
    "celery-redis": _redis(
        "Celery (Redis)",
        "celery",
        jobs=6000,
        busy=_SOLO,
        prompt=Crew(_celery("prefork", 2), 1, {"worker_prefetch_multiplier": 64}),
        settings="3 solo workers, prefetch 64; latency and timers: prefork 2; kill: acks_late",
        kept="nothing (results ignored)",
        safe=_SOLO._replace(settings={"worker_prefetch_multiplier": 64, "task_acks_late": True}),
    ),
    "celery-rabbitmq": Peer(
        "Celery (RabbitMQ)",
        "celery",
        Runtime.PYTHON,
        StoreKind.RABBITMQ,
        jobs=10_000,
        busy=_SOLO,
        prompt=Crew(_celery("prefork", 2), 1, {"worker_prefetch_multiplier": 64}),
        settings="3 solo workers, prefetch 64, publisher confirms; latency and timers: prefork 2; kill: acks_late",
        accepted="confirmed by RabbitMQ, which persists it first (not Celery's default)",
        kept="nothing (results ignored)",
        safe=_SOLO._replace(settings={"worker_prefetch_multiplier": 64, "task_acks_late": True}),
    ),
    "dramatiq": _redis(
        "Dramatiq",
        "dramatiq",
        jobs=15_000,
        busy=Crew(_DRAMATIQ, 1, environ={"dramatiq_queue_prefetch": "200"}),
        prompt=Crew(_DRAMATIQ, 1),
        settings="2 processes × 2 threads, queue prefetch 200",
        kept="nothing",
    ),
    "huey": _redis(
        "Huey",
        "huey",
        jobs=15_000,
        busy=Crew(_HUEY, 1),
        prompt=Crew(_HUEY, 1),
        settings="4 process workers, no results",
        kept="nothing",
    ),
    "taskiq": _redis(
        "Taskiq",
        "taskiq",
        jobs=12_000,
        busy=Crew(_TASKIQ, 1),
        prompt=Crew(_TASKIQ, 1, beside=_TASKIQ_TIMERS),
        settings="Redis stream, 2 workers, no parse; timers: its scheduler",
        kept="the message in the stream",
    ),
    "saq": _redis(
        "SAQ",
        "saq",
        jobs=8000,
        busy=Crew(("-m", "saq", "saq_peer.settings"), 2, {"concurrency": 50}),
        prompt=Crew(("-m", "saq", "saq_peer.settings"), 2, {"concurrency": 50}),
        settings="2 processes × 50",
        kept="nothing (ttl −1)",
    ),
    "arq": _redis(
        "arq",
        "arq",
        jobs=5000,
        busy=Crew(("-m", "arq", "arq_peer.WorkerSettings"), 1, {"max_jobs": 1000, "poll_delay": 0.01}),
        prompt=Crew(("-m", "arq", "arq_peer.WorkerSettings"), 1, {"max_jobs": 1000, "poll_delay": 0.01}),
        settings="1 process × 1,000, poll 10 ms",
        kept="nothing (keep_result 0)",
    ),
    "rq": _redis(
        "RQ",
        "rq",
        jobs=2500,
        busy=Crew(("rq_peer.py",), 6),
        prompt=Crew(("rq_peer.py",), 6),
        settings="6 SimpleWorkers (no fork a job)",
        kept="nothing (result_ttl 0)",
        bulk=True,
    ),
}
