"""The tasks that the console's tests run: quick, slow, failing, talkative and hostile ones."""

import time
from pathlib import Path
from typing import Any, Literal

import msgspec

from horae import App, Context, Fatal, RetryPolicy

app = App("console")

HOSTILE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>\u202etxt.exe\u0007"


@app.task
def add(a: int, b: int = 1) -> int:
    """Adds two numbers, quickly."""
    return a + b


@app.task(max_attempts=1)
def fail(reason: str = "it broke") -> None:
    """Fails at its only attempt."""
    raise ValueError(reason)


@app.task(max_attempts=3)
def refuse(reason: str = "no such customer") -> None:
    """Says itself that another try is useless."""
    raise Fatal(reason)


@app.task(queue="slow")
def hold(ctx: Context, until: str, total: int = 10) -> str:
    """Runs until a file is there; tells how far it is."""
    print("holding")
    done = 0
    while not Path(until).exists():
        ctx.raise_if_cancelled()
        done = min(done + 1, total - 1)
        ctx.progress(done, total, f"step {done}")
        time.sleep(0.1)
    return "let go"


@app.task
def chatter(lines: int = 5, text: str = "line") -> int:
    """Writes to its log."""
    for number in range(lines):
        print(f"\x1b[32m{text}\x1b[0m {number}")
    return lines


@app.task(max_attempts=1)
def hostile(fails: bool = False) -> dict[str, str]:
    """Says what would be markup, in its log, its result and its error."""
    print(HOSTILE)
    if fails:
        raise ValueError(HOSTILE)
    return {"<b>key</b>": HOSTILE}


@app.task(max_attempts=2, retry=RetryPolicy(first=0, jitter=False))
def flaky(ctx: Context) -> str:
    """Fails the first time, and gives pieces of its result."""
    print(f"\x1b[1;31mtrying\x1b[0m {ctx.attempt}")
    if ctx.attempt == 1:
        raise RuntimeError("not the first time")
    ctx.partial({"page": 1, "markup": HOSTILE})
    return "at last"


@app.task(max_attempts=2, retry=RetryPolicy(first=0.1))
def charge(order: int, payable: bool = False) -> str:
    """Fails for what is not payable."""
    print(f"charging order {order}")
    if not payable:
        raise ValueError(f"order {order} is not payable")
    return f"charged {order}"


class Address(msgspec.Struct):
    street: str
    city: str = "Berlin"


@app.task
def deliver(
    customer: int,
    address: Address,
    items: list[str],
    level: Literal["low", "high"] = "low",
    gift: bool = False,
    notes: dict[str, str] | None = None,
) -> dict[str, Any]:
    """Gives back what it got: nested, listed and chosen params."""
    return {"customer": customer, "city": address.city, "items": items, "level": level, "gift": gift, "notes": notes}
