"""A task whose log grows when a test wants it to."""

import time
from pathlib import Path

from horae import App, Context

app = App("talking")
PART = 100
"""Lines that it says at once."""


@app.task
def talk(ctx: Context, folder: str) -> int:
    """Says a part at the start and another for each file `1`, `2` … that comes; a file `end` ends it."""
    parts = said = 0
    while not Path(folder, "end").exists():
        ctx.raise_if_cancelled()
        if said < (parts + 1) * PART:
            print(f"spoken {said}")
            said += 1
        elif Path(folder, str(parts + 1)).exists():
            parts += 1
        else:
            time.sleep(0.05)
    return said
