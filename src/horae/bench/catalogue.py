"""The scenarios by name, with the settings each is measured with unless told otherwise."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, NamedTuple

from horae.bench.bench import Bench
from horae.bench.scenarios import (
    burdens,
    console,
    cron,
    drain,
    due,
    failover,
    fairness,
    flood,
    kinds,
    lanes,
    latency,
    limits,
    memory,
    submission,
)
from horae.bench.settings import Settings


class Scenario(NamedTuple):
    summary: str
    run: Callable[[Bench], Awaitable[None]]
    defaults: Settings


SCENARIOS: Final[Mapping[str, Scenario]] = {
    "submit-single": Scenario(
        "single submits: many connections at once, and one client in turn", submission.submit_single, Settings()
    ),
    "submit-bulk": Scenario("bulk submits in batches", submission.submit_many, Settings(connections=3)),
    "drain": Scenario("no-op jobs from submission to outcome, and what they cost", drain.drain, Settings()),
    "latency": Scenario("idle: from submit to start and to result", latency.latency, Settings(jobs=300)),
    "punctuality": Scenario("idle: from due to start, jobs one by one", due.punctuality, Settings(jobs=300)),
    "herd": Scenario("from due to start, 1,000 and 10,000 jobs at one instant", due.herd, Settings(jobs=10_000)),
    "cron": Scenario(
        "10,000 schedules at one second, and what 100,000 cost between ticks",
        cron.cron,
        Settings(jobs=10_000, pending=100_000, seconds=20.0),
    ),
    "deep": Scenario("what millions of pending jobs cost the drain", burdens.deep, Settings()),
    "snapshot": Scenario("what a snapshot held open costs the drain", burdens.snapshot, Settings()),
    "tenants": Scenario("what many tenants cost the drain", burdens.tenants, Settings()),
    "flood": Scenario("one tenant floods; how long the job of another waits", flood.flood, Settings(pending=1_000_000)),
    "fairness": Scenario(
        "one tenant floods, 999 submit a job a second each; and what tenants of different weights get",
        fairness.fairness,
        Settings(pending=1_000_000, seconds=10.0, rounds=2, connections=16),
    ),
    "limits": Scenario(
        "what 10,000 concurrency keys cost over three servers, and whether they hold",
        limits.limits,
        Settings(jobs=20_000, rounds=2, slots=1),
    ),
    "lanes": Scenario(
        "what a great many lanes of many tenants cost the drain, beside it and in it",
        lanes.lanes,
        Settings(pending=1_000_000, jobs=100_000, lanes=20_000),
    ),
    "kinds": Scenario("what starting a job of each kind costs", kinds.kinds, Settings(jobs=20_000)),
    "memory": Scenario(
        "what the server holds with a million pending", memory.pending_memory, Settings(pending=1_000_000)
    ),
    "console": Scenario(
        "how long the console's pages take with millions of jobs, and what an open tab costs",
        console.console,
        Settings(jobs=300, seconds=60.0),
    ),
    "failover": Scenario("a worker killed; until its jobs run elsewhere", failover.failover, Settings(jobs=100)),
}
