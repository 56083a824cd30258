"""What the overview reads does not grow with the store: looked at on a small one and on one many times as large."""

from typing import Any

import msgspec

from horae.store.safety import Connection
from horae.store.statements import statements

SMALL, LARGE = 3_000, 60_000
BOUND = 1_000

FILL = """
insert into lane (tenant_id, queue, task) select 1 + n % 5, 'q' || n % 20, 't' || n from generate_series(1, 100) n
on conflict do nothing;
create temp table if not exists made (n int, id uuid, lane int, tenant int);
truncate made;
insert into made select n, uuidv7(n * interval '1 millisecond'), l.id, l.tenant_id from generate_series(1, {count}) n
join lane l on l.id = 1 + n % 100;
insert into job (id, rank, run_at, tenant_id, lane_id, priority, params)
select id, n, now(), tenant, lane, 5, '{{}}' from made;
insert into ready (rank, id, lane_id, attempt) select n, id, lane, 0 from made where n % 3 = 0;
insert into timer (run_at, rank, id, lane_id, attempt)
select now() + n * interval '1 second', n, id, lane, 0 from made where n % 3 = 1;
insert into outcome (id, finished_at, tenant_id, worker_id, attempt, state, ending, error, cause)
select id, now(), tenant, 1, 1, 'failed', 'error', '{{"kind": "E", "message": "m"}}', 'c' || n % 9 from made
where n % 3 = 2;
insert into flow select t, 3600, date_trunc('hour', now()), 1, 1, 1, 1, 0, 0, 0, 1, 1, array[1]
from generate_series(0, 5) t on conflict do nothing;
"""
CALLS = {
    "overview_depth": (["null", "1"], str(BOUND)),
    "overview_oldest": (["null", "1"], "50"),
    "overview_failures": (
        ["null", "1"],
        "'00000000-0000-0000-0000-000000000000', now() - interval '1 day', 100, 5, 100, 8",
    ),
}


async def pages(conn: Connection) -> dict[str, int]:
    """How many pages each of them touches."""
    touched = {}
    for name, (tenants, rest) in CALLS.items():
        for tenant in tenants:
            text = await conn.fetchval(f"explain (analyze, buffers, format json) execute {name}({tenant}, {rest})")
            plan: dict[str, Any] = msgspec.json.decode(text)[0]["Plan"]
            touched[f"{name} {tenant}"] = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
    return touched


async def test_a_store_twenty_times_as_large_is_no_more_to_read(conn: Connection) -> None:
    for name in CALLS:
        await conn.execute(f"prepare {name} as {statements()[name]}")
    await conn.execute(FILL.format(count=SMALL))
    await conn.execute("vacuum analyze")
    small = await pages(conn)
    await conn.execute(FILL.format(count=LARGE))
    await conn.execute("vacuum analyze")
    large = await pages(conn)
    assert {name: (small[name], pages) for name, pages in large.items() if pages > 2 * small[name] + 200} == {}
