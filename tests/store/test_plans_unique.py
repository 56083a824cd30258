"""What a submit with a unique key reads does not grow with what has been run: found by a soak, in which it did."""

from typing import Any

import msgspec

from horae.store.safety import Connection
from horae.store.statements import statements

SMALL, LARGE = 1_000, 40_000
KEYED = 10

FILL = """
insert into lane (tenant_id, queue, task) values (1, 'q', 't') on conflict do nothing;
create temp table if not exists made (n int, id uuid);
truncate made;
insert into made select n, new_job_id() from generate_series(1, {count}) n;
insert into job (id, rank, run_at, tenant_id, lane_id, priority, params)
select id, n, now(), 1, (select min(id) from lane), 5, '{{}}' from made;
insert into outcome (id, finished_at, tenant_id, worker_id, attempt, state, ending)
select id, now(), 1, 1, 1, 'succeeded', 'succeeded' from made;
delete from unique_key;
insert into unique_key (tenant_id, hash, job_id, during) select 1, 'key', id, 'active' from made where n <= {keyed};
"""
JOB = "'01a1e6ce-e850-7000-8cdc-2209f7ebe308'"
CALLS = {
    "unique_holder": f"1, 'key', {JOB}",
    "unique_clean": "-1, '', '00000000-0000-0000-0000-000000000000', 2000",
    "unique_add": f"1, 'key', {JOB}, 'active', null",
}


async def pages(conn: Connection, count: int) -> dict[str, int]:
    """How many pages each touches with so many jobs that have ended, those of before included."""
    touched = {}
    await conn.execute(FILL.format(count=count, keyed=KEYED))
    await conn.execute("vacuum analyze")
    for name, arguments in CALLS.items():
        transaction = conn.transaction()
        await transaction.start()
        text = await conn.fetchval(f"explain (analyze, buffers, format json) execute {name}({arguments})")
        await transaction.rollback()
        plan: dict[str, Any] = msgspec.json.decode(text)[0]["Plan"]
        touched[name] = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
    return touched


async def test_what_a_unique_submit_reads_does_not_grow_with_the_jobs_that_ended(conn: Connection) -> None:
    for name in CALLS:
        await conn.execute(f"prepare {name} as {statements()[name]}")
    small = await pages(conn, SMALL)
    large = await pages(conn, LARGE)
    assert {name: (small[name], large[name]) for name in CALLS if large[name] > 2 * small[name] + 100} == {}
