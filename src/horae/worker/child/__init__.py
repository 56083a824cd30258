"""The process that runs user code: one job at a time (`solo`) or coroutines side by side (`crowd`).

Started by the agent as `python -m horae.worker.child`, with a fresh interpreter and its own session.
"""
