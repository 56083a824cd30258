"""`python -m tests.chaos --seeds 20 --jobs 200000 --faults 2000 --report FILE`: the full run.

The exit code is 0 if every promise was kept and every planted bug was caught.

    --seed N --only FAULT     one seed again, or one fault over and over
    --planted BUG             a Horae with that bug, which must be caught
    --short                   one seed of a minute
    --resume                  goes on with the report of a run that was broken off
    --merge REPORT.json …     puts reports of parts of a campaign together
"""

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from chaos.campaign import Order, missing, run_seed
from chaos.court import convictions
from chaos.faults import FAULTS
from chaos.ledger import Ledger, as_json, read
from chaos.page import markdown
from chaos.plan import dealt
from chaos.planted import PLANTED
from chaos.report import Report, convicted, make_report, merged
from chaos.summary import Summary, broken_off
from horae import failpoints
from horae.bench.progress import Screen
from horae.store.embedded.binaries import find_binaries

SEEDS, JOBS_A_SEED, FAULTS_A_SEED = 20, 10_000, 100
SHORT_JOBS, SHORT_FAULTS = 1500, 24
BUG_JOBS, BUG_FAULTS = 1500, 12


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("tests.chaos", description="Breaks a whole Horae over and over, and judges it.")
    parser.add_argument("--seeds", type=int, help=f"how many, from --seed on: {SEEDS}, or 1 with --seed")
    parser.add_argument("--seed", type=int, help="the first seed: 1")
    parser.add_argument("--jobs", type=int, help=f"over all seeds: {JOBS_A_SEED:,} each")
    parser.add_argument("--faults", type=int, help=f"over all seeds: {FAULTS_A_SEED} each")
    parser.add_argument("--only", action="append", default=[], choices=sorted(FAULTS), metavar="FAULT")
    parser.add_argument("--planted", choices=sorted(PLANTED), metavar="BUG", help="a bug that must be caught")
    parser.add_argument(
        "--bugs", action=argparse.BooleanOptionalAction, help="plant every bug, one after the other: in a full run"
    )
    parser.add_argument("--short", action="store_true", help="one small seed")
    parser.add_argument("--report", type=Path, help="Markdown; JSON goes beside it")
    parser.add_argument("--resume", action="store_true", help="go on from what --report has already")
    parser.add_argument("--merge", type=Path, nargs="+", metavar="JSON", help="put reports together; runs nothing")
    parser.add_argument("--json", action="store_true", help="print JSON instead of Markdown")
    parser.add_argument("--keep", type=Path, help="keep logs, histories and effects here")
    parser.add_argument("--list", action="store_true", help="print the faults and bugs there are")
    return parser.parse_args(given)


def ordered(asked: argparse.Namespace) -> Order:
    """Jobs and faults are shared out to the seeds."""
    first = asked.seed or 1
    if asked.planted:
        faults = asked.only or PLANTED[asked.planted].faults
        return Order(seeds=[first], jobs=BUG_JOBS, faults=BUG_FAULTS, only=faults, planted=asked.planted)
    number = (1 if asked.short or asked.seed is not None else SEEDS) if asked.seeds is None else asked.seeds
    jobs, faults = (SHORT_JOBS, SHORT_FAULTS) if asked.short else (JOBS_A_SEED, FAULTS_A_SEED)
    return Order(
        seeds=range(first, first + number),
        jobs=asked.jobs // max(number, 1) if asked.jobs else jobs,
        faults=asked.faults // max(number, 1) if asked.faults else faults,
        only=asked.only,
    )


def is_full(order: Order) -> bool:
    """Whether every fault has its turn; then every failpoint must have been reached."""
    return not order.only and dealt(order.faults) * len(order.seeds) >= len(FAULTS)


async def run(asked: argparse.Namespace) -> Report:
    order = ordered(asked)
    ledger = opened(asked, order)
    with Screen() as screen:
        for seed in ledger.report.seeds_to_come:
            ledger.enter(await run_one(order, seed, asked.keep, screen))
    if asked.planted:
        found = ledger.report.seeds[-1].violations
        ledger.enter(convicted(asked.planted, PLANTED[asked.planted].checker, found))
    async for conviction in convictions(ledger.report.bugs_to_come, say):
        say(f"  {conviction.bug}: {conviction.caught_by if conviction.caught else 'NOT CAUGHT'}")
        ledger.enter(conviction)
    return ledger.report


def opened(asked: argparse.Namespace, order: Order) -> Ledger:
    full = is_full(order)
    not_done = {name: why for name in FAULTS if (why := missing(name)) is not None}
    for name, why in not_done.items():
        say(f"not tested here: {name}: {why}")
    report = make_report(
        order,
        [],
        postgres=find_binaries().version,
        commit=commit(),
        failpoints=failpoints.NAMES if full else (),
        faults_due=FAULTS.keys() - not_done.keys() if full else (),
        bugs=PLANTED if (full if asked.bugs is None else asked.bugs) else (),
        not_tested=not_done,
    )
    ledger = Ledger(report, asked.report)
    if asked.resume:
        ledger.resume()
    return ledger


async def run_one(order: Order, seed: int, keep: Path | None, screen: Screen) -> Summary:
    folder = Path(tempfile.mkdtemp(prefix=f"horae-chaos-seed-{seed}-"))
    folder.chmod(0o755)  # PostgreSQL and the object store run as somebody else.
    say(f"seed {seed}: {order.jobs:,} jobs, {order.faults} faults")
    with screen.step(f"seed {seed}") as step:
        try:
            summary = await run_seed(order, seed, folder, step.tell if sys.stderr.isatty() else say)
        except Exception as error:  # noqa: BLE001 - what broke off a seed is a finding, and the others have their turn
            summary = broken_off(seed, error)
    summary.commit = commit()
    say(f"seed {seed}: {len(summary.violations)} violations, {summary.jobs['ok']:,} accepted, {summary.seconds:.0f} s")
    for violation in summary.violations[:10]:
        say(f"  {violation.checker}: {violation.what} {violation.job or ''}")
    put_away(folder, keep, found=bool(summary.violations) and order.planted is None)
    return summary


def put_away(folder: Path, keep: Path | None, *, found: bool) -> None:
    """Evidence is kept where somebody asked for it, and where something was found that nobody planted."""
    if keep is not None:
        shutil.copytree(folder, keep / folder.name, ignore=shutil.ignore_patterns("weed", "objects", "state"))
    if found:
        say(f"the evidence is in {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def commit() -> str:
    """Its short hash, and whether something had been changed since."""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def show_list() -> None:
    for kind, names in (("fault", FAULTS), ("bug", PLANTED)):
        for name in sorted(names):
            print(f"{kind:6} {name}")


def main() -> int:
    asked = arguments()
    if asked.list:
        show_list()
        return 0
    report = merged(read(asked.merge)) if asked.merge else asyncio.run(run(asked))
    Ledger(report, asked.report).write()
    print(as_json(report) if asked.json else markdown(report))
    # Where all must be tested, what could not be is an error.
    complete = not (report.not_tested and os.environ.get("CI") == "true")
    return 0 if report.verdict and complete else 1


if __name__ == "__main__":
    sys.exit(main())
