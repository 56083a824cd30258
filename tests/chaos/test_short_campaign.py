"""A short campaign: one seed, every kind of load, a handful of faults. `make chaos` runs the long ones."""

import random

import pytest

from .campaign import Order, run_seed
from .case import CALM, FIRE

JOBS, FAULTS = 1200, 12
SEEDS = range(1, 6)
"""Few, so that what one of them finds is found again; `make chaos` takes any."""
SHORT = (
    "worker.kill", "worker.stop", "child.kill", "server.kill", "server.stop", "postgres.restart", "postgres.terminate",
    "proxy.reset", "proxy.blackhole",
)  # fmt: skip
"""Faults that are over in a moment. The others have their turn in the full run, and tests of their own."""


@pytest.mark.timeout(600)
async def test_a_short_campaign_finds_nothing_lost_doubled_or_out_of_order(tmp_path):
    seed = random.SystemRandom().choice(SEEDS)
    print(f"seed {seed}")
    order = Order(seeds=[seed], jobs=JOBS, faults=FAULTS, only=SHORT)
    summary = await run_seed(order, seed, tmp_path, print)
    for part in sorted(tmp_path.glob("*.log")):
        print(f"--- {part.name}\n{part.read_text(errors='replace')[-3000:]}")
    assert summary.violations == []
    assert summary.drain_seconds is not None
    assert summary.jobs["ok"] > JOBS / 2
    assert sum(kind.struck for kind in summary.faults.values()) > FAULTS / 2
    assert {CALM, FIRE} <= summary.latency.keys()
    assert summary.ticks["fired"] > 0
