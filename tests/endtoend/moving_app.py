"""A job that can be moved: it saves where it is when it must go, and goes on from there."""

import time
from pathlib import Path

from horae import App, Cancelled, Context

app = App()


@app.task
def count(path: str, upto: int, ctx: Context) -> list[int]:
    """Counts, but where it is started first it stays one short of the end. Returns where it began and ended."""
    start = at = (ctx.saved or {}).get("at", 0)
    try:
        while at < upto:
            if ctx.attempt > 1 or at < upto - 1:
                at += 1
            else:
                Path(path).touch()
                time.sleep(0.01)
    except Cancelled:
        if ctx.moving:
            ctx.checkpoint({"at": at})
        raise
    return [start, at]
