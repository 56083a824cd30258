"""A recorder inside the database: each move of a job between the tables of its states, whoever made it.

The rows are written by the statement that makes the move, before its commit, so they are there if and only if the move
is. A lease is noted down late and its end early: it is never recorded for longer than it was there, and what overlaps
here did overlap. What counts is the order of the notes (`seq`): a move waits for the commit of the one before it, while
the database's clock may be set by a fault. It lies in a schema of its own, and Horae knows nothing of it.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from horae.store.safety import Connection

MAKE = """
create schema chaos;
create table chaos.trail (
    seq bigint generated always as identity primary key,
    xact text not null default pg_current_xact_id()::text,
    at timestamptz not null default clock_timestamp(),
    place text not null, -- the table, or the state of an outcome
    came boolean not null,
    id uuid not null,
    attempt int,
    worker_id int,
    expires_at timestamptz -- of the worker's own lease, at this moment
);
create function chaos.note() returns trigger language plpgsql as $$
begin
    if tg_op = 'UPDATE' then
        insert into chaos.trail (place, came, id, attempt, worker_id)
        select 'passed', true, r.id, r.attempt, r.worker_id from moved r;
    elsif tg_table_name = 'lease' then
        insert into chaos.trail (place, came, id, attempt, worker_id, expires_at)
        select 'lease', tg_op = 'INSERT', r.id, r.attempt, r.worker_id, w.expires_at
        from moved r left join horae.worker w on w.id = r.worker_id;
    elsif tg_table_name = 'outcome' then
        insert into chaos.trail (place, came, id, attempt, worker_id)
        select r.state::text, tg_op = 'INSERT', r.id, r.attempt, r.worker_id from moved r;
    else
        insert into chaos.trail (place, came, id, attempt)
        select tg_table_name, tg_op = 'INSERT', r.id, r.attempt from moved r;
    end if;
    return null;
end $$;
grant usage on schema chaos to public;
grant insert on chaos.trail to public;
"""
PLACES = ("timer", "ready", "blocked", "lease", "outcome")
WATCH = """
create trigger chaos_came after insert on horae.{place} referencing new table as moved
for each statement execute function chaos.note();
create trigger chaos_gone after delete on horae.{place} referencing old table as moved
for each statement execute function chaos.note();
"""
WATCH_LEASES = """
create trigger chaos_passed after update on horae.lease referencing new table as moved
for each statement execute function chaos.note();
"""
PASSED = "passed"
"""Instead of a place: a lease was changed where it lay, and this is who has it now."""
READ = "select seq, xact, at, place, came, id::text, attempt, worker_id, expires_at from chaos.trail order by seq"


class Step(NamedTuple):
    """A row that came into a table or went from it."""

    seq: int
    xact: str
    at: datetime
    place: str
    came: bool
    job: str
    attempt: int | None = None
    worker: int | None = None
    expires_at: datetime | None = None


class Move(NamedTuple):
    """What one transaction did to a job. None is outside of all tables: before the submit."""

    source: Step | None
    target: Step | None
    more: tuple[Step, ...] = ()
    """Whatever does not fit in: a job that came into two tables at once."""


class Lease(NamedTuple):
    job: str
    attempt: int
    worker: int
    since: int
    until: int | None = None
    """Places in the order of notes; None while it is held."""
    at: datetime | None = None
    """When it was granted, by the database's clock."""
    gone_at: datetime | None = None
    granted_late: timedelta = timedelta(0)
    """By how much the worker's own lease was over when it got the job."""
    taken_early: timedelta = timedelta(0)
    """How much longer the worker's own lease would have lasted when this one went."""


async def record(connection: Connection) -> None:
    await connection.execute(MAKE + "".join(WATCH.format(place=place) for place in PLACES) + WATCH_LEASES)


async def read(connection: Connection) -> list[Step]:
    rows = await connection.fetch(READ)
    return [Step(*row) for row in rows]


def by_job(steps: Iterable[Step]) -> dict[str, list[Step]]:
    jobs: dict[str, list[Step]] = defaultdict(list)
    for step in steps:
        jobs[step.job].append(step)
    return jobs


def moves(steps: Sequence[Step]) -> list[Move]:
    """Of one job, in order. What came and went within a transaction was seen by nobody and is left out."""
    found = []
    for _, group in groupby((step for step in steps if step.place != PASSED), key=attrgetter("xact")):
        rows = list(group)
        came = {row.place: row for row in rows if row.came}
        gone = {row.place: row for row in rows if not row.came}
        sources = [row for place, row in gone.items() if place not in came]
        targets = [row for place, row in came.items() if place not in gone]
        if sources or targets:
            extra = (*sources[1:], *targets[1:])
            found.append(Move(sources[0] if sources else None, targets[0] if targets else None, extra))
    return found


def leases(steps: Iterable[Step]) -> list[Lease]:
    """Also two of one attempt, if a bug made them."""
    ended: list[Lease] = []
    held: dict[tuple[str, int | None], list[Lease]] = defaultdict(list)
    for step in (step for step in steps if step.place == "lease"):
        holders = held[step.job, step.attempt]
        if step.came:
            late = step.at - (step.expires_at or step.at)
            holders.append(
                Lease(step.job, step.attempt or 0, step.worker or 0, step.seq, at=step.at, granted_late=late)
            )
        elif holders:
            early = (step.expires_at or step.at) - step.at
            ended.append(holders.pop(0)._replace(until=step.seq, gone_at=step.at, taken_early=early))
    return ended + [lease for holders in held.values() for lease in holders]
