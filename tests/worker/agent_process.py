"""Runs an agent in a process of its own, for tests that kill or stop it: URL and app as arguments.

With a state folder as third argument it runs scripts by the shell instead of an app.
"""

import asyncio
import signal
import sys

from errand_runner import ShellRunner

from horae.worker.agent import Agent, AgentConfig, Connection


async def main(url: str, spec: str, state: str | None = None) -> None:
    if state is None:
        agent = Agent(AgentConfig(slots=1), Connection(url, "key"), spec)
    else:
        config = AgentConfig(slots=2, kinds=["script"], state=state, grace=1.0)
        agent = Agent(config, Connection(url, "key"), None, ShellRunner)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, agent.stop)
    await agent.run()


asyncio.run(main(*sys.argv[1:]))
