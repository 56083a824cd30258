"""Jobs whose task is data (scripts, containers, HTTP calls): each an errand of the agent.

`errand` is what a runner gets and gives; `errands` queues them, starts them in the agent's slots, reports their ends.
"""
