"""An agent that is killed while its container runs: `python doomed.py STATE IMAGE`. Prints when the container does."""

import asyncio
import sys
from pathlib import Path

from worker.containers.house import House


async def main() -> None:
    house = House(Path(sys.argv[1]), sys.argv[2])
    await house.runner.prepare()
    errand = house.errand("sh", "-c", "echo ready; sleep 600")
    running = asyncio.create_task(house.runner.run(errand))
    await errand.said("ready")
    print(house.quarters.agent, errand.grant.id, flush=True)
    await running


asyncio.run(main())
