"""Tasks that give more than a result at their end."""

from pathlib import Path
from typing import Any

from horae import App, Context, Sink

app = App("output")


@app.task
def count(numbers: int, ctx: Context, gate: str | None = None) -> int:
    """Gives each number as a piece; after the first it waits for the file `gate`."""
    for number in range(numbers):
        ctx.partial({"number": number})
        while number == 0 and gate is not None and not Path(gate).exists():
            ctx.raise_if_cancelled()
    return numbers


@app.task
async def count_async(numbers: int, ctx: Context) -> int:
    for number in range(numbers):
        ctx.partial(number)
    return numbers


@app.task
def flood(ctx: Context) -> None:
    for number in range(2000):
        ctx.partial(number)


@app.task
def too_much(ctx: Context) -> None:
    ctx.partial("x" * 70_000)


@app.task(sink=Sink(parquet="daily"), max_attempts=1)
def report(rows: int) -> list[dict[str, Any]]:
    return [{"row": row} for row in range(rows)]


@app.task(sink=Sink(parquet="daily"), max_attempts=1)
def no_table() -> int:
    return 1


@app.task(keep_results="1s")
def brief() -> str:
    return "soon gone"
