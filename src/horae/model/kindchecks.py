"""What a definition of a task may say of its script, container or HTTP call. Every refusal names the field.

Checked when the task is saved, so that a job does not find out at night: each placeholder is well-formed, and no secret
stands where other processes of a host could read it, which is in arguments.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn

from horae.model.durations import parse_duration
from horae.model.errors import InvalidInput
from horae.model.httpchecks import check_http
from horae.model.kinds import Container, Kind, Limits, Script, Sink
from horae.model.sizes import parse_size
from horae.model.template import SECRETS, is_secret_name, references

if TYPE_CHECKING:
    from horae.model.task import TaskDefinition

MAX_SOURCE_BYTES: Final = 1024 * 1024
MAX_ARGUMENTS: Final = 256
MAX_ARGUMENT: Final = 32 * 1024
MAX_ARGUMENTS_LENGTH: Final = 128 * 1024
MAX_REQUIREMENTS: Final = 200
MAX_VARIABLES: Final = 256
MAX_ENV: Final = 128 * 1024
MAX_CPU: Final = 100_000.0
MOST: Final = {"processes": 1_000_000, "open_files": 1_000_000}
RESERVED: Final = "HORAE_"
PULLS: Final = ("missing", "always", "never")
WITHOUT_SECRETS: Final = ("script.args", "container.command", "container.entrypoint")
_VARIABLE: Final = re.compile(r"[A-Za-z_]\w{0,199}", re.ASCII)
_INTERPRETER: Final = re.compile(r"/[\w.+/-]{1,499}|[A-Za-z0-9_][\w.+-]{0,99}", re.ASCII)
_REQUIREMENT: Final = re.compile(r"[A-Za-z0-9][^\x00-\x1f]{0,499}")
_IMAGE: Final = re.compile(r"[A-Za-z0-9][\w./:@-]{0,499}", re.ASCII)
_ROOTFS: Final = re.compile(r"rootfs:/[\w./-]{1,499}", re.ASCII)
_TABLE: Final = re.compile(r"(?:[A-Za-z_]\w{0,62}\.)?[A-Za-z_]\w{0,62}", re.ASCII)
_PREFIX: Final = re.compile(r"[\w=-][\w.=-]*(?:/[\w=-][\w.=-]*)*/?", re.ASCII)


def check_kind(task: "TaskDefinition") -> None:
    """Refuses a task that cannot be run, with the first of all that is wrong."""
    for check in CHECKS:
        check(task)


def kind_faults(task: "TaskDefinition") -> list[InvalidInput]:
    """The first thing that is wrong in each part, not only in the first."""
    faults = []
    for check in CHECKS:
        try:
            check(task)
        except InvalidInput as error:
            faults.append(error)
    return faults


def _check_parts(task: "TaskDefinition") -> None:
    parts = [name for name in ("script", "container", "http") if getattr(task, name) is not None]
    if len(parts) > 1:
        _refuse(parts[1], f"a task is one of script, container and http; this one has {' and '.join(parts)}")
    if task.script is not None:
        _check_script(task.script)
    if task.container is not None:
        _check_container(task.container)
    if task.http is not None:
        check_http(task.http)


def templates(task: "TaskDefinition") -> Iterator[tuple[str, str]]:
    """Every text of the task that may hold placeholders, with its path."""
    for name, text in (task.env or {}).items():
        yield f"env.{name}", text
    if task.script is not None:
        yield from _numbered("script.args", task.script.args)
    if task.container is not None:
        yield from _numbered("container.command", task.container.command)
        yield from _numbered("container.entrypoint", task.container.entrypoint or ())
    if task.http is not None:
        yield "http.url", task.http.url
        for name, text in task.http.headers.items():
            yield f"http.headers.{name}", text
        yield from _texts("http.body", task.http.body)


def _numbered(field: str, texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    for number, text in enumerate(texts):
        yield f"{field}[{number}]", text


def _texts(field: str, value: Any) -> Iterator[tuple[str, str]]:
    """The texts in a JSON value."""
    if isinstance(value, str):
        yield field, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(f"{field}.{name}", inner)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _texts(f"{field}[{number}]", inner)


def _check_templates(task: "TaskDefinition") -> None:
    for field, text in templates(task):
        for reference in references(text, field):
            if reference.root == SECRETS and field.startswith(WITHOUT_SECRETS):
                _refuse(
                    field,
                    f"holds the secret {reference.steps[0]}, and every process of the host can read arguments; "
                    "give it to the job by `secrets`",
                )  # fmt: skip


# What surrounds every kind.


def _check_place(task: "TaskDefinition") -> None:
    own_process = task.kind in (Kind.SCRIPT, Kind.CONTAINER)
    for field in ("env", "limits", "network"):
        if getattr(task, field) is not None and not own_process:
            _refuse(field, f"only scripts and containers have it, and this is a task of kind {task.kind}")
    if task.secrets and task.kind is Kind.HTTP:
        _refuse("secrets", "an HTTP call names secrets where it uses them, as ${{ secrets.NAME }}")


def _check_env(task: "TaskDefinition") -> None:
    env = task.env or {}
    if len(env) > MAX_VARIABLES:
        _refuse("env", f"{len(env)} variables are more than {MAX_VARIABLES}")
    if sum(len(text) for text in env.values()) > MAX_ENV:
        _refuse("env", f"more than {MAX_ENV} characters in all")
    for name, text in env.items():
        check_variable(name, f"env.{name[:80]}")
        _check_text(text, f"env.{name}")


def check_variable(name: str, field: str) -> None:
    if _VARIABLE.fullmatch(name) is None:
        _refuse(field, "not the name of an environment variable: letters, digits and _, not starting with a digit")
    if name.upper().startswith(RESERVED):
        _refuse(field, f"names that start with {RESERVED} are Horae's own")


def _check_secrets(task: "TaskDefinition") -> None:
    taken = set(task.env or {})
    for number, use in enumerate(task.secrets or ()):
        field = f"secrets[{number}]"
        if not is_secret_name(use.name):
            _refuse(f"{field}.name", f"{use.name[:80]!r} is not the name of a secret: letters, digits and _")
        variable = use.env or use.name
        check_variable(variable, f"{field}.env")
        if variable in taken:
            _refuse(f"{field}.env", f"the variable {variable} is set twice")
        taken.add(variable)


def _check_limits(task: "TaskDefinition") -> None:
    limits = task.limits or Limits()
    if limits.cpu is not None and not 0 < limits.cpu <= MAX_CPU:
        _refuse("limits.cpu", f"{limits.cpu:g} is outside 0…{MAX_CPU:g}, 0 excluded")
    for name in ("memory", "disk"):
        if (size := getattr(limits, name)) is not None:
            parse_size(size, f"limits.{name}")
    for name, most in MOST.items():
        if (count := getattr(limits, name)) is not None and not 1 <= count <= most:
            _refuse(f"limits.{name}", f"{count} is outside 1…{most}")


# Scripts and containers.


def _check_script(script: Script) -> None:
    if not script.source.strip():
        _refuse("script.source", "is empty")
    size = len(script.source.encode(errors="replace"))
    if size > MAX_SOURCE_BYTES:
        _refuse("script.source", f"{size} bytes are more than {MAX_SOURCE_BYTES}; put it into an image")
    if "\x00" in script.source:
        _refuse("script.source", "holds a NUL character")
    if script.interpreter is None and not script.source.startswith("#!"):
        _refuse("script.interpreter", "name one, such as python, or begin the source with a line such as #!/bin/sh")
    if script.interpreter is not None and _INTERPRETER.fullmatch(script.interpreter) is None:
        _refuse("script.interpreter", f"{script.interpreter[:80]!r} is not a name such as python nor an absolute path")
    _check_arguments("script.args", script.args)
    _check_requirements(script)


def _check_requirements(script: Script) -> None:
    if len(script.requirements) > MAX_REQUIREMENTS:
        _refuse("script.requirements", f"{len(script.requirements)} are more than {MAX_REQUIREMENTS}")
    runs_with = script.interpreter or script.source.split("\n", 1)[0]
    if script.requirements and "python" not in runs_with:
        _refuse("script.requirements", "only Python scripts have them")
    for field, text in _numbered("script.requirements", script.requirements):
        if _REQUIREMENT.fullmatch(text) is None:
            _refuse(field, f"{text[:80]!r} is not a requirement such as requests>=2")


def _check_container(container: Container) -> None:
    image = container.image
    if (_ROOTFS if image.startswith("rootfs:") else _IMAGE).fullmatch(image) is None or ".." in image.split("/"):
        _refuse("container.image", f"{image[:80]!r} is not an image such as alpine:3.20, nor rootfs:/folder")
    if container.pull not in PULLS:
        _refuse("container.pull", f"{container.pull[:80]!r} is none of {', '.join(PULLS)}")
    if container.workdir is not None and not container.workdir.startswith("/"):
        _refuse("container.workdir", "must be an absolute path")
    _check_text(container.workdir or "", "container.workdir")
    _check_arguments("container.command", container.command)
    _check_arguments("container.entrypoint", container.entrypoint or ())


def _check_arguments(field: str, texts: Sequence[str]) -> None:
    if len(texts) > MAX_ARGUMENTS:
        _refuse(field, f"{len(texts)} arguments are more than {MAX_ARGUMENTS}")
    if sum(map(len, texts)) > MAX_ARGUMENTS_LENGTH:
        _refuse(field, f"more than {MAX_ARGUMENTS_LENGTH} characters in all")
    for at, text in _numbered(field, texts):
        _check_text(text, at)


def _check_text(text: str, field: str) -> None:
    if len(text) > MAX_ARGUMENT:
        _refuse(field, f"{len(text)} characters are more than {MAX_ARGUMENT}")
    if "\x00" in text:
        _refuse(field, "holds a NUL character")


# Where results go.


def _check_results(task: "TaskDefinition") -> None:
    if task.keep_results is not None and not parse_duration(task.keep_results, "keep_results"):
        _refuse("keep_results", "must be more than 0")
    if task.sink is not None:
        _check_sink(task.sink)


def _check_sink(sink: Sink) -> None:
    if (sink.parquet is None) == (sink.table is None):
        _refuse("sink", "say one of parquet and table")
    if sink.parquet is not None and (_PREFIX.fullmatch(sink.parquet) is None or len(sink.parquet) > 500):
        _refuse("sink.parquet", f"{sink.parquet[:80]!r} is not a prefix such as reports/daily")
    if sink.table is not None and _TABLE.fullmatch(sink.table) is None:
        _refuse("sink.table", f"{sink.table[:80]!r} is not a table such as public.events")
    if (sink.table is None) != (sink.dsn_secret is None):
        _refuse("sink.dsn_secret", "belongs to a table, which needs it: the secret with the address of its database")
    if sink.dsn_secret is not None and not is_secret_name(sink.dsn_secret):
        _refuse("sink.dsn_secret", f"{sink.dsn_secret[:80]!r} is not the name of a secret: letters, digits and _")


def _refuse(field: str, what: str) -> NoReturn:
    raise InvalidInput(f"{field}: {what}", field=field)


CHECKS: Final[tuple[Callable[["TaskDefinition"], None], ...]] = (
    _check_parts, _check_place, _check_env, _check_secrets, _check_limits, _check_templates, _check_results
)  # fmt: skip
