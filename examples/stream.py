"""A gentle stream of mixed jobs for the demo app, so that there is something to see at once.

`make up` runs it beside the server (`horae up --with examples/stream.py`). It finds the server as every program does;
when that is gone, it ends.
"""

import random
import time

from horae import Client, HoraeError, JobRequest

PER_SECOND = 2.0
WEIGHTS = {"add": 40, "fetch": 25, "flaky": 15, "chatter": 10, "report": 6, "broken": 3, "refuse": 1}


def next_job() -> JobRequest:
    task = random.choices(list(WEIGHTS), weights=list(WEIGHTS.values()))[0]
    delay = "10s" if random.random() < 0.1 else None
    return JobRequest(task=task, params=params_of(task), delay=delay, priority=random.choice([3, 5, 5, 5, 8]))


def params_of(task: str) -> dict[str, object]:
    if task == "add":
        return {"a": random.randrange(100), "b": random.randrange(100)}
    if task == "fetch":
        return {"url": f"https://example.com/{random.randrange(1000)}", "seconds": random.uniform(0.1, 2.0)}
    if task == "report":
        return {"pages": random.randrange(5, 30)}
    return {}


def wait_for_tasks(client: Client) -> None:
    """The worker registers its tasks when it has started."""
    while not WEIGHTS.keys() <= {task.definition.name for task in client.tasks().items}:
        time.sleep(0.5)


def main() -> None:
    with Client() as client:
        wait_for_tasks(client)
        while True:
            client.submit(next_job())
            time.sleep(random.expovariate(PER_SECOND))


if __name__ == "__main__":
    try:
        main()
    except HoraeError as error:
        raise SystemExit(f"stream: {error}") from None
    except KeyboardInterrupt:
        pass
