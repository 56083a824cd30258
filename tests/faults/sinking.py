"""A task whose rows go into a table. Runs in the workers' children."""

from typing import Any

from horae import App, Context, Sink

app = App("sinking")


@app.task(sink=Sink(table="sunk", dsn_secret="TARGET"))
def report(ctx: Context) -> list[dict[str, Any]]:
    return [{"attempt": ctx.attempt, "number": number} for number in range(3)]
