"""The program: the table of its commands, and how their errors become exit codes.

A command is named by its import path and imported when it is called, so that `horae --help` stays quick however
much there is. To add one, add a row to `COMMANDS`: the path leads to a function, or to a cyclopts `App` of that name
with commands of its own.
"""

import os
import sys
from collections.abc import Sequence
from typing import Final, NamedTuple

from cyclopts import App, CycloptsError, Group, Parameter

from horae.cli.failure import USAGE, report


class Row(NamedTuple):
    name: str
    path: str
    help: str
    aliases: tuple[str, ...] = ()


RUN: Final = "Run Horae"
WORK: Final = "Work with jobs"
SCHEDULES: Final = "Run jobs again and again"
FLEET: Final = "See to the fleet"
INSTALLATION: Final = "Look after the installation"

COMMANDS: Final[dict[str, tuple[Row, ...]]] = {
    RUN: (
        Row("up", "horae.cli.up:up", "Everything on this machine: database, server and a worker."),
        Row("console", "horae.cli.console:console", "Print an address that signs a browser in, once."),
        Row("server", "horae.cli.server:server", "A server, on a PostgreSQL of yours."),
        Row("worker", "horae.cli.worker:worker", "A worker that runs functions, scripts, containers and HTTP calls."),
    ),
    WORK: (
        Row("submit", "horae.cli.submit:submit", "Submit a job, or many from a file."),
        Row("jobs", "horae.cli.jobs:jobs", "List jobs."),
        Row("find", "horae.cli.find:find", "Find jobs, tasks, schedules, queues and workers by a part of their name."),
        Row("job", "horae.cli.job:job", "Show everything about one job."),
        Row("explain", "horae.cli.explain:explain", "Say why a job waits, when it starts, or where its time went."),
        Row("result", "horae.cli.job:result", "Print a job's result."),
        Row("files", "horae.cli.files:app", "List and fetch the files that a job left."),
        Row("logs", "horae.cli.logs:logs", "Print what a job wrote, also while it runs."),
        Row("cancel", "horae.cli.control:cancel", "Cancel jobs."),
        Row("move", "horae.cli.control:move", "Let running jobs go on at another worker."),
        Row("retry", "horae.cli.control:retry", "Run failed or cancelled jobs again."),
        Row("clone", "horae.cli.control:clone", "Submit a copy of a job."),
        Row("change", "horae.cli.control:change", "Change a job that has not started."),
        Row("dead", "horae.cli.dead:app", "Look at failed jobs by cause, run them again, or discard them."),
        Row("action", "horae.cli.actions:app", "Do something to all jobs that match; follow, stop and undo it."),
    ),
    SCHEDULES: (
        Row("schedule", "horae.cli.schedules:app", "Schedules: rules that make jobs."),
        Row("calendar", "horae.cli.calendars:app", "Calendars: the days on which schedules rest."),
        Row("apply", "horae.cli.apply:apply", "Make schedules and calendars what a file or an app says."),
    ),
    FLEET: (
        Row("workers", "horae.cli.workers:workers", "List the workers."),
        Row("drain", "horae.cli.workers:drain", "Let a worker finish what it has and take nothing new."),
        Row("maintenance", "horae.cli.workers:maintenance", "Drain a worker for a time, and say why."),
        Row("resume", "horae.cli.workers:resume", "Let a drained worker take jobs again."),
        Row("limit", "horae.cli.limits:app", "Set, list and remove limits on what runs."),
        Row("sla", "horae.cli.servicelevels:app", "Service levels: what jobs are promised, and whether it is kept."),
        Row("tasks", "horae.cli.tasks:tasks", "List the tasks that can be submitted."),
        Row("task", "horae.cli.tasks:app", "Tasks that are data: scripts, containers and HTTP calls."),
        Row("gate", "horae.cli.gates:app", "Hold, drop or reject jobs, and let them go again."),
        Row("stop", "horae.cli.gates:stop", "Emergency stop: nothing starts any more."),
        Row("go", "horae.cli.gates:go", "End the emergency stop."),
        Row("queues", "horae.cli.quotas:queues", "List the queues: what waits, what runs, and how fast."),
        Row("quota", "horae.cli.quotas:app", "Set, list and remove quotas of submissions."),
    ),
    INSTALLATION: (
        Row("doctor", "horae.cli.doctor:doctor", "Check an installation and say what is wrong with it."),
        Row("bench", "horae.cli.bench:bench", "Measure how fast this machine runs Horae."),
        Row("soak", "horae.cli.soak:soak", "Watch for hours of load whether anything grows."),
        Row("migrate", "horae.cli.migrate:migrate", "Bring a database to this version's schema."),
        Row("key", "horae.cli.keys:app", "Create, list and revoke API keys."),
        Row("secret", "horae.cli.secrets:app", "Set, list and delete secrets, and give them new keys."),
        Row("tenant", "horae.cli.tenants:app", "Create, weigh and list tenants."),
        Row("whoami", "horae.cli.keys:whoami", "Show whose key is in use."),
        Row("completion", "horae.cli.about:completion", "Print the completion script of a shell."),
        Row("version", "horae.cli.about:version", "Print the version.", ("--version",)),
    ),
}


def build() -> App:
    # Errors and interrupts are ours to turn into exit codes. Results are exit codes already, or None. Defaults are
    # named in the texts: most options have none that would say something.
    app = App(
        name="horae",
        help="Horae, a job scheduler: jobs now, later or on a schedule, on time, fairly, never lost.",
        version_flags=[],
        suppress_keyboard_interrupt=False,
        exit_on_error=False,
        result_action="return_value",
        help_format="plaintext",
        default_parameter=Parameter(negative=(), show_default=False),
    )
    for position, (title, rows) in enumerate(COMMANDS.items()):
        group = Group(title, sort_key=position)
        for number, row in enumerate(rows):
            app.command(row.path, name=(row.name, *row.aliases), help=row.help, group=group, sort_key=number)
    return app


def run(arguments: Sequence[str]) -> int:
    """Runs one command and returns its exit code; never raises."""
    try:
        return int(build()(list(arguments)) or 0)
    except CycloptsError:
        return USAGE  # cyclopts has said what is wrong.
    except BrokenPipeError:
        # Whoever read our output has gone. Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 the last line of defence: said, and exit code 1
        return report(error)
