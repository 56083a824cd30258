"""Runs an agent in a process of its own, for tests that kill or stop it: URL and app as arguments."""

import asyncio
import signal
import sys

from horae.worker.agent import Agent, AgentConfig, Connection


async def main() -> None:
    agent = Agent(AgentConfig(slots=1), Connection(sys.argv[1], "key"), sys.argv[2])
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, agent.stop)
    await agent.run()


asyncio.run(main())
