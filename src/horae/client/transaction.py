"""Submitting inside the caller's own database transaction: the job exists if and only if that transaction commits.

Whatever the driver, exactly one statement runs, on the connection that the caller gives. Drivers are known by where
their classes come from; each is imported only once the caller has shown one of its objects.
"""

import inspect
from typing import Any, Final

import msgspec

from horae.model.errors import InvalidInput, InvalidParams
from horae.model.job import JobRequest

# Cast through text: on connections with a JSON codec of their own, asyncpg would encode the string once more.
ASYNCPG: Final = "select horae.submit(task => $1, params => $2::text::jsonb, options => $3::text::jsonb)"
PSYCOPG: Final = "select horae.submit(task => %s, params => %s::jsonb, options => %s::jsonb)"
# SQLAlchemy reads `:name::type` wrongly, hence cast().
SQLALCHEMY: Final = (
    "select horae.submit(task => :task, params => cast(:params as jsonb), options => cast(:options as jsonb))"
)


def submit_in(connection: Any, request: JobRequest) -> str:
    values = _values(request)
    driver = _driver(connection, is_async=False)
    if driver == "psycopg":
        import psycopg
        from psycopg.rows import tuple_row

        # A cursor of our own: the connection's factories may speak another placeholder or give other rows.
        with psycopg.Cursor(_connection(connection), row_factory=tuple_row) as cursor:
            return _id(cursor.execute(PSYCOPG, values).fetchone())
    from sqlalchemy import text

    return _id(connection.execute(text(SQLALCHEMY), _named(values)).one())


async def asubmit_in(connection: Any, request: JobRequest) -> str:
    values = _values(request)
    driver = _driver(connection, is_async=True)
    if driver == "asyncpg":
        return str(await connection.fetchval(ASYNCPG, *values))
    if driver == "psycopg":
        import psycopg
        from psycopg.rows import tuple_row

        async with psycopg.AsyncCursor(_connection(connection), row_factory=tuple_row) as cursor:
            return _id(await (await cursor.execute(PSYCOPG, values)).fetchone())
    from sqlalchemy import text

    return _id((await connection.execute(text(SQLALCHEMY), _named(values))).one())


def _driver(connection: Any, *, is_async: bool) -> str:
    origins = {kind.__module__.partition(".")[0] for kind in type(connection).__mro__}
    found = next((name for name in ("asyncpg", "psycopg", "sqlalchemy") if name in origins), None)
    execute = getattr(connection, "execute", None)
    # A pool or an engine is no transaction: the job would not share the caller's fate.
    if found is None or execute is None or (found == "asyncpg" and not hasattr(connection, "is_in_transaction")):
        raise InvalidInput(
            f"a {type(connection).__module__}.{type(connection).__qualname__} carries no transaction that Horae knows: "
            "give a connection, cursor or session of psycopg, asyncpg or SQLAlchemy"
        )
    if (found == "asyncpg" or inspect.iscoroutinefunction(execute)) != is_async:
        twin = "submit_in" if is_async else "await asubmit_in"
        raise InvalidInput(f"this {type(connection).__qualname__} is for {twin}(…)")
    return found


def _connection(given: Any) -> Any:
    """A cursor's connection, or the connection itself."""
    return getattr(given, "connection", given)


def _values(request: JobRequest) -> tuple[str, str, str]:
    if request.unique is not None:
        raise InvalidInput("unique: not looked at in your own transaction; submit the job over HTTP", field="unique")
    return request.task, _json(request.params), _json(_options(request))


def _options(request: JobRequest) -> dict[str, Any]:
    named = ((name, getattr(request, name)) for name in JobRequest.__struct_fields__ if name not in ("task", "params"))
    return {name: value for name, value in named if value is not None}


def _json(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
        raise InvalidParams(f"the params cannot be written as JSON: {error}") from error


def _named(values: tuple[str, str, str]) -> dict[str, str]:
    return dict(zip(("task", "params", "options"), values, strict=True))


def _id(row: Any) -> str:
    return str(row[0])
