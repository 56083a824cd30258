"""The recorder inside the database notes each move with its transaction, and nothing that was rolled back."""

import time
from uuid import UUID

import pytest

from . import trail, truth
from .case import Case
from .checkers import judge

JOB = UUID(int=7)
SUBMIT = "insert into ready (rank, id, lane_id, attempt) values (1, $1, 1, 0)"
CLAIM = """
with gone as (delete from ready where id = $1)
insert into lease (granted_at, id, worker_id, lane_id, attempt, grant_number) values (clock_timestamp(), $1, 3, 1, 1, 1)
"""
SUCCEED = """
with gone as (delete from lease where id = $1)
insert into outcome (id, finished_at, tenant_id, attempt, state, ending)
values ($1, clock_timestamp(), 1, 1, 'succeeded', 'succeeded')
"""


@pytest.fixture
async def connection(database: str):
    async with truth.connected(database) as connection:
        await trail.record(connection)
        yield connection


async def test_a_walk_is_noted_move_by_move(connection):
    for statement in (SUBMIT, CLAIM, SUCCEED):
        await connection.execute(statement, JOB)
    steps = await trail.read(connection)
    walk = [(move.source and move.source.place, move.target and move.target.place) for move in trail.moves(steps)]
    assert walk == [(None, "ready"), ("ready", "lease"), ("lease", "succeeded")]
    (lease,) = trail.leases(steps)
    assert (lease.job, lease.attempt, lease.worker) == (str(JOB), 1, 3)
    assert lease.until is not None
    assert lease.until > lease.since


async def test_what_was_rolled_back_was_never_there(connection):
    await connection.execute(SUBMIT, JOB)
    transaction = connection.transaction()
    await transaction.start()
    await connection.execute(CLAIM, JOB)
    await transaction.rollback()
    assert [step.place for step in await trail.read(connection)] == ["ready"]


async def test_a_lease_that_is_passed_on_where_it_lies_is_noted(connection):
    for statement in (SUBMIT, CLAIM):
        await connection.execute(statement, JOB)
    await connection.execute("update lease set worker_id = 0 where id = $1", JOB)
    steps = await trail.read(connection)
    held = [(step.place, step.worker) for step in steps if step.place in {"lease", trail.PASSED}]
    assert held == [("lease", 3), (trail.PASSED, 0)]
    assert [move.target and move.target.place for move in trail.moves(steps)] == ["ready", "lease"]


async def test_the_two_clocks_are_told_apart(connection):
    before = time.monotonic()
    case = Case(ahead=await truth.ahead(connection))
    instant = case.instant(await truth.now(connection))
    after = time.monotonic()
    # The looks at the clock are out by no more than they took.
    assert before <= instant <= after + (after - before)


async def test_copies_are_noted_too(connection):
    rows = [(n, UUID(int=n), 1, 0) for n in range(1, 4)]
    await connection.copy_records_to_table("ready", records=rows, columns=("rank", "id", "lane_id", "attempt"))
    assert len(await trail.read(connection)) == 3


async def test_what_came_and_went_within_one_transaction_is_no_move(connection):
    async with connection.transaction():
        await connection.execute(SUBMIT, JOB)
        await connection.execute(CLAIM, JOB)
    moves = trail.moves(await trail.read(connection))
    assert [(move.source, move.target and move.target.place) for move in moves] == [(None, "lease")]


async def test_an_empty_installation_is_in_order(connection, database):
    case = Case()
    await truth.read_truth(database, case)
    assert judge(case) == []


def test_refusals_are_counted_in_logs_of_either_form(tmp_path):
    (tmp_path / "a.log").write_text(
        '{"worker": 3, "count": 2, "event": "stale_completions"}\n{"count": 9, "event": "x"}\n'
    )
    (tmp_path / "b.log").write_text("[warning] stale_completions   count=5 first=01a1e40e worker=34\n")
    assert truth.stale_in(tmp_path) == 7
