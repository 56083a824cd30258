"""A small app to try Horae with: `horae up --app examples/demo.py:app`, or `make up`."""

import asyncio
import random
import time

from horae import App, Context, Fatal

app = App("demo")


@app.task
def add(a: int, b: int) -> int:
    """Adds two numbers, quickly."""
    return a + b


@app.task(queue="reports", timeout="5m")
def report(ctx: Context, pages: int = 20) -> dict[str, int]:
    """Writes a report page by page; a later attempt goes on where the last one stopped."""
    first = ctx.saved or 0
    for page in range(first, pages):
        ctx.raise_if_cancelled()
        time.sleep(0.25)
        ctx.checkpoint(page + 1)
        ctx.progress(page + 1, pages, f"page {page + 1}")
        print(f"wrote page {page + 1} of {pages}")
    return {"pages": pages, "resumed_at": first}


@app.task(max_attempts=8)
def flaky(ctx: Context, chance: float = 0.5) -> str:
    """Fails now and then, and is tried again."""
    if random.random() < chance:
        raise ConnectionError(f"the other side hung up (attempt {ctx.attempt})")
    return f"worked at attempt {ctx.attempt}"


@app.task(max_attempts=2)
def broken() -> None:
    """Always fails; ends among the failed jobs, to be looked at."""
    raise ValueError("this task has never worked")


@app.task
def refuse(reason: str = "no such customer") -> None:
    """Says itself that another try is useless."""
    raise Fatal(reason)


@app.task(queue="web", timeout="30s")
async def fetch(url: str, seconds: float = 0.5) -> dict[str, str]:
    """Waits as for a slow web server; many of them share one process."""
    await asyncio.sleep(seconds)
    return {"url": url, "status": "200 OK"}


@app.task
def chatter(ctx: Context, lines: int = 5) -> None:
    """Writes to its log in all the usual ways."""
    for number in range(lines):
        print("plain print, line", number)
        ctx.log.info("through logging, line %d", number)
        time.sleep(0.2)
