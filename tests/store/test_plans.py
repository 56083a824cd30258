"""The plans of the hot statements. One that was made on an empty table must still be right on a full one."""

import re
from collections.abc import AsyncIterator, Callable, Iterator
from importlib.resources import files
from typing import Any

import asyncpg
import msgspec
import pytest

from horae.store.database import HOT_SETTINGS
from horae.store.safety import Connection
from horae.store.statements import statements

READY, LEASED, TIMED = 100_000, 20_000, 20_000
LANES = 10
LARGE = re.compile(r"^(ready|lease|timer|job|outcome|attempt|log_chunk|promise)(_\w+)?$")
LEADING = {"ready": "lane_id", "lease": "lane_id", "timer": "run_at", "promise": "look_at"}
"""The column by which each hot table must be entered. Anything else walks over rows of others."""
BY_WORKER = {"explain_leases", "worker_expired", "lease_of_worker", "lease_of_lost", "progress_save", "checkpoint_save"}
"""These start from the worker: all that it holds, or few rows of it."""
ALL_WORKERS = {("worker_expired", "worker"), ("worker_set_right", "worker")}
"""Reclaim asks of every worker there is: some thousands at most, and once a second."""

FILL = f"""
insert into worker (name, host, slots, tasks, expires_at)
select 'w', 'h', 1, '{{}}', now() + interval '1 hour' from generate_series(1, 2);
insert into lane (tenant_id, queue, task) select 1, 'q' || n, 't' from generate_series(1, {LANES}) n;
create temp table made as
select n, new_job_id() as id, 1 + n % {LANES} as lane from generate_series(1, {READY + LEASED + TIMED}) n;
insert into job (id, rank, run_at, tenant_id, lane_id, priority, params)
select id, n, now(), 1, lane, 5, '{{}}' from made;
insert into ready (rank, id, lane_id, attempt) select n, id, lane, 0 from made where n <= {READY};
insert into lease (granted_at, id, worker_id, lane_id, attempt, grant_number)
select now(), id, 1 + (n % 100 = 0)::int, lane, 2, n % 50 from made where n between {READY} + 1 and {READY + LEASED};
insert into timer (run_at, rank, id, lane_id, attempt)
select now() + (n - {READY + LEASED} - 2000) * interval '1 second', n, id, lane, 0 from made where n > {READY + LEASED};
insert into outcome (id, finished_at, tenant_id, worker_id, attempt, state, ending)
select new_job_id(), now(), 1, 1, 1, 'succeeded', 'succeeded' from generate_series(1, {LEASED});
insert into attempt (id, ended_at, tenant_id, attempt, ending)
select id, now(), 1, 1, 'error' from made where n > {READY};
"""

IN_TRANSACTIONS = {"promise_look", "promise_raise", "promise_note", "promise_forget"}
"""Of several statements, on the hot connections."""


def hot_names() -> list[str]:
    """Those in hot.sql, and those that are called on the hot connections."""
    folder = files("horae.store")
    inside = re.findall(r"^-- name: (\w+)", folder.joinpath("queries/hot.sql").read_text(), re.MULTILINE)
    code = "".join(folder.joinpath(name).read_text() for name in ("jobs.py", "workers.py", "upkeep.py", "explain.py"))
    called = re.findall(r'(?:fetch|fetchrow|once)\(\s*"(\w+)"[^\n]*?hot=True', code)
    return sorted({*inside, *called, *IN_TRANSACTIONS})


@pytest.fixture
async def hot(database: str) -> AsyncIterator[Connection]:
    """A session with the settings of the hot pool, all hot statements prepared while every table is empty."""
    settings = HOT_SETTINGS | {"search_path": "horae", "jit": "off"}
    connection = await asyncpg.connect(database, server_settings=settings)
    for name in hot_names():
        await connection.execute(f"prepare {name} as {statements()[name]}")
    yield connection
    await connection.close()


async def plan_of(connection: Connection, name: str) -> dict[str, Any]:
    count = max((int(n) for n in re.findall(r"\$(\d+)", statements()[name])), default=0)
    nulls = f"({', '.join(['null'] * count)})" if count else ""
    text = await connection.fetchval(f"explain (format json) execute {name}{nulls}")
    return msgspec.json.decode(text)[0]["Plan"]


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def condition_of(node: dict[str, Any]) -> str:
    return str(node.get("Index Cond", ""))


def faults(name: str, plan: dict[str, Any]) -> list[str]:
    found = []
    for node in nodes(plan):
        relation = node.get("Relation Name", "")
        kind = node["Node Type"]
        large = LARGE.match(relation)
        if kind in {"Seq Scan", "Hash Join", "Merge Join"} and (name, relation) not in ALL_WORKERS:
            found.append(f"{name}: {kind} {relation}")
        if large and kind.startswith(("Index", "Bitmap")):
            condition = condition_of(node)
            entry = LEADING.get(large[1], "id")
            if name in BY_WORKER and relation == "lease":
                entry = "worker_id" if "worker_id" in condition else entry
            if entry not in condition:
                found.append(f"{name}: {kind} on {relation} by {condition or 'nothing'}")
        # The clock must bound the walk: as a filter it would look at every scheduled job there is.
        if (
            (name, relation) == ("timer_promote", "timer")
            and "Index Scan" in kind
            and "run_at <=" not in condition_of(node)
        ):
            found.append(f"{name}: walks over jobs that are not due")
        if kind == "Sort" and name in {"job_claim", "timer_promote", "timer_next"}:
            found.append(f"{name}: sorts")
    return found


async def all_faults(connection: Connection) -> list[str]:
    return [fault for name in hot_names() for fault in faults(name, await plan_of(connection, name))]


async def test_plans_on_empty_tables(hot: Connection):
    assert await all_faults(hot) == []
    await hot.execute("analyze")
    assert await all_faults(hot) == []


async def buffers(connection: Connection, call: str) -> tuple[int, int]:
    """How many pages a call touched, and how many rows it returned."""
    text = await connection.fetchval(f"explain (analyze, buffers, format json) execute {call}")
    plan = msgspec.json.decode(text)[0]["Plan"]
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"], plan["Actual Rows"]


async def test_plans_made_on_empty_tables_serve_full_ones_and_so_do_plans_made_on_full_ones(
    hot: Connection, database: str
):
    assert await all_faults(hot) == []
    await hot.execute(FILL)
    await claiming_costs_little(hot)
    await ending_costs_little(hot)
    await looking_costs_little(hot)
    await a_floor_spares_the_walk_over_dead_entries(hot, database)
    await hot.execute("analyze ready; analyze lease; analyze timer; analyze job; analyze outcome; analyze attempt")
    assert await all_faults(hot) == []


async def claiming_costs_little(hot: Connection) -> None:
    low = [-(2**63)] * LANES
    lanes, tenants = list(range(1, LANES + 1)), [1] * LANES
    high = [2**63 - 1] * LANES
    bounds = f"array{low}::bigint[], array{high}::bigint[]"
    call = f"job_claim(1, 1, 1, 100, array{lanes}, array{tenants}, {bounds}, array{[10] * LANES})"
    touched, rows = await buffers(hot, call)
    assert rows == 100
    assert touched < 4000


async def ending_costs_little(hot: Connection) -> None:
    held = await hot.fetch("select lane_id, id::text from lease where worker_id = 1 and attempt = 2 limit 300")

    def columns(start: int, array: Callable[[list[int]], str] = "array{}".format) -> str:
        some = held[start : start + 100]
        ids = ", ".join(f"'{row['id']}'" for row in some)
        lanes, attempts, tenants = array([row["lane_id"] for row in some]), array([2] * 100), array([1] * 100)
        return f"1, {lanes}, array[{ids}]::uuid[], {attempts}, {tenants}"

    def text(numbers: list[int]) -> str:
        return f"'{{{', '.join(map(str, numbers))}}}'"

    def fill(value: str, kind: str = "text") -> str:
        return f"array_fill({value}::{kind}, array[100])"

    failed, error, none = fill("'failed'"), fill("'error'"), fill("null")
    zero, cpu, memory = fill("0", "float"), fill("null", "real"), fill("null", "bigint")
    calls = [
        f"job_succeed({columns(0, text)}, {none}, {text([0] * 100)})",
        f"job_complete({columns(100)}, {failed}, {error}, {none}, {none}, {memory}, {zero}, {cpu}, {memory}, {none})",
        f"job_reschedule({columns(200)}, {error}, {none}, {zero}, {cpu}, {memory}, {fill('1', 'bigint')}, {zero})",
    ]
    for call in calls:
        touched, rows = await buffers(hot, call)
        assert rows == 100, call
        assert touched < 6000, call


async def looking_costs_little(hot: Connection) -> None:
    touched, rows = await buffers(hot, "timer_promote('1970-01-01', 1000, 'infinity')")
    assert rows == LANES
    assert touched < 20_000
    assert (await buffers(hot, "timer_next('1970-01-01')"))[0] < 1000
    touched, rows = await buffers(hot, "ready_lanes(5000, -1)")
    assert rows == LANES
    assert touched < 200


async def a_floor_spares_the_walk_over_dead_entries(hot: Connection, database: str) -> None:
    """Under an open snapshot the entries of claimed rows stay in the index; a claim from the floor skips them."""
    reader = await asyncpg.connect(database)
    async with reader.transaction(isolation="repeatable_read"):
        await reader.fetchval("select count(*) from horae.ready")
        await hot.execute("delete from ready where lane_id = 1 and rank < 90000")
        call = "job_claim(1, 1, 1, 10, array[1], array[1], array[{}]::bigint[], array[9000000000], array[10])"
        (walked, rows), (spared, more) = await buffers(hot, call.format(0)), await buffers(hot, call.format(90000))
    await reader.close()
    assert (rows, more) == (10, 10)
    assert spared < walked / 4
