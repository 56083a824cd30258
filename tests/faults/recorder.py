"""A recorder inside the database: when each lease was taken and ended, whoever did it.

An end is noted by the statement that deletes the lease, before its commit, so a lease is never recorded for longer than
it was there: what overlaps here did run at once.
"""

from datetime import datetime, timedelta

from horae.store.safety import Connection

MAKE = """
create table recorded (id uuid, attempt int, lane_id int, since timestamptz, until timestamptz);
create index on recorded (id, attempt);
create function record_lease() returns trigger language plpgsql as $$
begin
    if tg_op = 'INSERT' then
        insert into recorded values (new.id, new.attempt, new.lane_id, clock_timestamp());
    else
        update recorded set until = clock_timestamp() where id = old.id and attempt = old.attempt;
    end if;
    return null;
end $$;
create trigger record_lease after insert or delete on lease for each row execute function record_lease();
"""


async def record(connection: Connection) -> None:
    await connection.execute(MAKE)


async def most_at_once(connection: Connection, by: str = "''") -> int:
    """The most leases of one group at any moment; `by` is an expression on the lane that names the group."""
    return (
        await connection.fetchval(
            f"""select max(running) from (
                    select sum(change) over (partition by part order by at, change) as running from (
                        select {by} as part, since as at, 1 as change from recorded r join lane l on l.id = r.lane_id
                        union all
                        select {by}, until, -1 from recorded r join lane l on l.id = r.lane_id where until is not null
                    ) changes) x"""
        )
        or 0
    )


async def starts(connection: Connection) -> list[datetime]:
    return [row["since"] for row in await connection.fetch("select since from recorded order by since")]


def over_rate(times: list[datetime], rate: float, burst: float, slack: timedelta) -> list[tuple[datetime, int]]:
    """The windows, by their begin, in which more started than a rate allows."""
    found = []
    for first, begin in enumerate(times):
        for last in range(first, len(times)):
            allowed = burst + rate * (times[last] - begin + slack).total_seconds()
            if last - first + 1 > allowed:
                found.append((begin, last - first + 1))
                break
    return found
