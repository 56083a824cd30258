"""What the pages list is what there is: every table of the reference is compared with the program."""

import inspect
import re
import tomllib
from configparser import ConfigParser

import msgspec
import pytest

import horae
from horae.cli import databasechecks, doctor, failure, objectchecks, secretchecks, serverchecks
from horae.cli.program import COMMANDS
from horae.client import app, client, context, handles, options
from horae.config import SECTIONS
from horae.engine import engine, output, schemas
from horae.model import durations, job, retry
from horae.model.errors import by_code
from horae.model.explanation import Code, What
from horae.model.roles import GRANTS, Permission, Role
from horae.model.states import TRANSITIONS, End, State
from horae.server import jobs
from horae.server.routes import ROUTES
from horae.store.database import DatabaseConfig
from horae.wire.jobs import JobChanges
from horae.worker.config import AgentConfig

from .pages import PAGES, ROOT, blocks_of, codes, section, table
from .stage import check_arguments

MIB, KIB = 1024 * 1024, 1024


def public(kind: type) -> set[str]:
    """What it has of ours, inherited or not."""
    ours = [each for each in kind.__mro__ if each.__module__.startswith("horae.")]
    return {name for each in ours for name in vars(each) if not name.startswith("_")}


def first_codes(page: str, heading: str) -> set[str]:
    return {re.split(r"\W", code)[0] for row in table(page, heading) for code in codes(row[0])}


# The SDK.


def test_the_options_of_a_task_are_those_of_the_decorator() -> None:
    overload = inspect.getsource(app.TaskDecorator).split("@overload")[1]
    assert first_codes("docs/sdk.md", "Tasks") == set(re.findall(r"(\w+): .* = None", overload))


def test_the_options_of_a_submit_are_all_there_are() -> None:
    listed = {code.removeprefix("_") for row in table("docs/sdk.md", "Submitting") for code in codes(row[0])}
    assert listed == set(options.Options.__struct_fields__)


def test_the_context_is_told_in_full() -> None:
    made = context.Context(job_id="", attempt=1, max_attempts=1, task="", runtime=None)  # type: ignore[arg-type]
    there = public(context.Context) | {name for name in vars(made) if not name.startswith("_")}
    assert first_codes("docs/sdk.md", "Context") == there


def test_the_handles_are_told_in_full() -> None:
    assert first_codes("docs/sdk.md", "Handles") == public(handles.Job) | {"id", "warnings"}


def test_the_methods_of_the_clients_are_all_there_are() -> None:
    listed = {code for row in table("docs/sdk.md", "Client") for code in codes(row[0])}
    assert listed == public(client.Client) == public(client.AsyncClient)


def test_every_public_name_is_on_the_page_of_the_sdk() -> None:
    text = (ROOT / "docs/sdk.md").read_text()
    assert [name for name in horae.__all__ if not re.search(rf"\b{name}\b", text)] == ["__version__"]


def test_the_ways_an_attempt_ends_are_all_there_are() -> None:
    assert {codes(row[1])[0] for row in table("docs/sdk.md", "How an attempt ends")} == set(End)


def test_the_retry_policy_has_the_defaults_that_are_told() -> None:
    fields = msgspec.structs.fields(retry.RetryPolicy)
    told = ", ".join(f"{field.name}={field.default}" for field in fields)
    assert f"RetryPolicy({told})" in section("docs/sdk.md", "Trying again")


# The API.


def test_every_route_is_listed_with_its_permission() -> None:
    listed = {(codes(row[0])[0], codes(row[2])[0]) for row in table("docs/http.md", "Calls")}
    assert listed == {(f"{route.method} {route.path}", route.permission.value) for route in ROUTES}


def test_the_fields_of_a_job_are_all_there_are() -> None:
    listed = {codes(row[0])[0] for row in table("docs/http.md", "Submitting a job")}
    assert listed == set(job.JobRequest.__struct_fields__)
    assert listed - {"task", "tenant", "unique"} == set(JobChanges.__struct_fields__)


def test_the_filters_are_all_there_are() -> None:
    (route,) = (route for route in ROUTES if (route.method, route.path) == ("GET", "/v1/jobs"))
    assert {codes(row[0])[0] for row in table("docs/http.md", "Lists, filters and cursors")} == set(route.query)


def test_the_errors_are_those_of_the_model() -> None:
    listed = {codes(row[0])[0]: (int(row[1]), row[2]) for row in table("docs/http.md", "Errors")}
    assert listed == {code: (kind.status, kind.title) for code, kind in by_code().items()}


def test_the_limits_are_those_of_the_program() -> None:
    body = {route.path: route.limit for route in ROUTES if route.method == "POST"}
    assert {row[0]: row[1] for row in table("docs/http.md", "Limits")} == {
        "Body of a request": f"{body['/v1/jobs'] // MIB} MiB",
        "Body of a bulk submit": f"{body['/v1/jobs/bulk'] // MIB} MiB",
        "Jobs in one bulk submit": f"{jobs.MAX_BULK}",
        "`params` of a job": f"{job.MAX_PARAMS_BYTES // MIB} MiB",
        "Nesting of JSON": f"{job.MAX_DEPTH} levels",
        "Result of a job": f"{job.MAX_RESULT_BYTES // MIB} MiB",
        "Result kept in the database, not in object storage": f"{job.INLINE_RESULT_BYTES // KIB} KiB",
        "Checkpoint": f"{output.MAX_CHECKPOINT_BYTES // MIB} MiB",
        "Schema of a task": f"{schemas.MAX_SCHEMA_BYTES // KIB} KiB",
        "Labels of a job": f"{job.MAX_LABELS}",
        "Length of a label's value": f"{job.MAX_LABEL_LENGTH} characters",
        "Idempotency key, concurrency key": f"{job.MAX_KEY_LENGTH} characters",
        "`max_attempts`": f"{retry.MAX_ATTEMPTS_LIMIT}",
        "Any duration": f"{durations.LONGEST.days} days",
        "Year of any instant": f"{job.LATEST_YEAR}",
        "Jobs or executions on a page": f"{jobs.MAX_PAGE}",
        "Seconds that `wait` waits": f"{jobs.MAX_WAIT:g}",
    }


def test_the_reasons_and_what_time_goes_into_are_all_there_are() -> None:
    assert [codes(row[0])[0] for row in table("docs/explain.md", "Reasons")] == list(Code)
    assert [codes(row[0])[0] for row in table("docs/explain.md", "Where the time went")] == list(What)


# The command line.


def test_the_commands_are_all_there_are() -> None:
    rows = [(codes(name)[0], purpose) for name, purpose in table("docs/cli.md", "Commands")]
    assert rows == [(row.name, row.help.removesuffix(".")) for group in COMMANDS.values() for row in group]


def test_every_command_has_an_example() -> None:
    text = (ROOT / "docs/cli.md").read_text()
    names = [row.name for group in COMMANDS.values() for row in group]
    assert [name for name in names if not re.search(rf"horae {name}\b|`{name}`(?!.* \|)", text)] == []


def test_the_exit_codes_are_all_there_are() -> None:
    named = {value for name, value in vars(failure).items() if name.isupper() and isinstance(value, int)}
    # 0 is success; 141 is what a shell shows for a program whose reader went away.
    assert {int(row[0]) for row in table("docs/cli.md", "Exit codes")} == named | {0, 141}


# Operating.


def test_every_setting_is_listed_with_its_programs_variable_and_default() -> None:
    listed = {}
    for name, programs, variable, default, _ in table("docs/operating.md", "Settings"):
        listed[codes(name)[0]] = (set(programs.split(", ")), codes(variable)[0])
        assert_default(codes(name)[0], default)
    there: dict[str, tuple[set[str], str]] = {}
    for program, settings in SECTIONS.items():
        for name in settings.__struct_fields__:
            there.setdefault(name, (set(), f"HORAE_{name.upper()}"))[0].add(program)
    assert listed == there


def assert_default(name: str, told: str) -> None:
    """A default that is no fixed value is told in words, without backticks at the beginning."""
    fields = {field.name: field.default for kind in SECTIONS.values() for field in msgspec.structs.fields(kind)}
    of_the_agent = {field.name: field.default for field in msgspec.structs.fields(AgentConfig)}
    value = fields[name] if fields[name] is not None else of_the_agent.get(name)
    if isinstance(value, bool | int | str):
        assert told == f"`{str(value).lower()}`"
    elif isinstance(value, float):
        assert told == f"`{value:g}s`"  # Of the settings, only durations are no whole numbers.


def test_the_table_of_roles_is_that_of_the_program() -> None:
    rows = {codes(row[0])[0]: row[1:] for row in table("docs/operating.md", "Keys and roles")}
    roles = [Role.VIEWER, Role.SUBMITTER, Role.OPERATOR, Role.ADMIN, Role.WORKER]
    assert "| permission | " + " | ".join(roles) + " |" in section("docs/operating.md", "Keys and roles")
    assert rows == {
        permission.value: ["yes" if permission in GRANTS[role] else "" for role in roles] for permission in Permission
    }


def test_the_duties_are_all_there_are() -> None:
    config = engine.EngineConfig(database=DatabaseConfig(dsn="postgresql://"), objects="")
    made = engine.Engine(config)
    there = {loop.duty.name for loop in made.duties} | {made.timers.name, "notices"}
    assert {codes(row[0])[0] for row in table("docs/operating.md", "What each server does by itself")} == there


def test_the_checks_of_the_doctor_are_all_there_are() -> None:
    sources = "".join(
        inspect.getsource(module) for module in (doctor, serverchecks, databasechecks, secretchecks, objectchecks)
    )
    there = set(re.findall(r"\b(?:ok|warn|fail)\(\s*\"([^\"]+)\"", sources))
    assert {codes(row[0])[0] for row in table("docs/operating.md", "Doctor")} == there


def test_the_number_of_connections_is_told() -> None:
    config = DatabaseConfig(dsn="")
    # One more is for notices.
    pools = config.hot_connections + config.general_connections + config.short_connections
    assert f"Each server keeps {pools + 1} open" in section("docs/operating.md", "Your own PostgreSQL")


@pytest.mark.parametrize(
    "block", [b for page in PAGES for b in blocks_of(page) if b.language == "ini"], ids=lambda block: block.file
)
def test_the_units_of_systemd_start_what_there_is(block) -> None:  # type: ignore[no-untyped-def]
    unit = ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(block.text)
    check_arguments(unit["Service"]["ExecStart"])
    if "worker" in block.file:
        assert unit["Service"]["KillMode"] == "mixed"


def test_every_setting_in_an_example_of_the_file_exists() -> None:
    for page in PAGES:
        for block in blocks_of(page):
            if block.language == "toml":
                document = tomllib.loads(block.text)
                for program, values in document.items():
                    if program in SECTIONS:
                        msgspec.convert(values, SECTIONS[program])
                        assert set(values) <= set(SECTIONS[program].__struct_fields__), block.place


# Reliability and architecture.


def test_every_promise_names_tests_that_exist() -> None:
    text = (ROOT / "docs/reliability.md").read_text()
    there = {
        name for file in (ROOT / "tests").rglob("test_*.py") for name in re.findall(r"def (test_\w+)", file.read_text())
    }
    assert [name for name in codes(text) if name.startswith("test_") and name not in there] == []


def test_the_diagram_of_states_shows_only_moves_that_are_allowed() -> None:
    (diagram,) = (block for block in blocks_of(ROOT / "docs/architecture.md") if block.language == "mermaid")
    moves = re.findall(r"(\w+|\[\*\]) --> (\w+)", diagram.text)
    assert {end for start, end in moves if start == "[*]"} <= {State.READY, State.SCHEDULED}
    assert [move for move in moves if move[0] != "[*]" and State(move[1]) not in TRANSITIONS[State(move[0])]] == []
