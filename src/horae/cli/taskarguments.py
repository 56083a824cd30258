"""What people say about a task on the command line, as the fields of its definition."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Final

import msgspec
from cyclopts import Group, Parameter

from horae.cli.arguments import Dashed, read_file, read_pairs
from horae.model.errors import InvalidInput
from horae.model.task import TaskDefinition
from horae.wire.taskfiles import read_task, read_tasks, read_yaml

WHAT: Final = Group("What runs", sort_key=40)
HOW: Final = Group("How it runs", sort_key=50)
_PLAIN: Final = ("queue", "priority", "timeout", "max_attempts", "description", "keep_results")
_LIMITS: Final = ("cpu", "memory", "processes", "open_files", "disk")


@Parameter(name="*", group=WHAT)
@dataclass(frozen=True, kw_only=True)
class WhatArguments:
    file: Annotated[Dashed | None, Parameter(name=["--file", "-f"])] = None
    """The whole definition in YAML or JSON, or - for stdin. The options go over it."""
    script: str | None = None
    """A file with the source of a script."""
    interpreter: str | None = None
    """What runs the script, e.g. python, sh, node; not needed if it begins with #!."""
    arg: list[Dashed] = field(default_factory=list)
    """An argument of the script, or a word of the container's command. May be repeated."""
    requirement: list[str] = field(default_factory=list)
    """A Python package that the script needs, e.g. requests>=2. May be repeated."""
    image: str | None = None
    """The image of a container."""
    url: Annotated[str | None, Parameter(name="--call")] = None
    """The address of an HTTP call."""
    method: str | None = None
    """Its method (POST)."""
    header: list[str] = field(default_factory=list)
    """A header of it as name=value. May be repeated."""
    body: str | None = None
    """Its body, as JSON if it is JSON, else as text; without one, the params."""

    def fields(self) -> dict[str, Any]:
        parts = {"script": self._script(), "container": self._container(), "http": self._http()}
        return {name: part for name, part in parts.items() if part}

    def _script(self) -> dict[str, Any]:
        found: dict[str, Any] = {"interpreter": self.interpreter, "requirements": self.requirement}
        if self.script is not None:
            found["source"] = read_file(self.script)
        if self.image is None:
            found["args"] = self.arg
        return _said(found)

    def _container(self) -> dict[str, Any]:
        return {} if self.image is None else _said({"image": self.image, "command": self.arg})

    def _http(self) -> dict[str, Any]:
        found = _said({"url": self.url, "method": self.method, "headers": read_pairs(self.header, "header")})
        return found if self.body is None else found | {"body": _value(self.body)}


@Parameter(name="*", group=HOW)
@dataclass(frozen=True, kw_only=True)
class HowArguments:
    description: str | None = None
    """For people to read."""
    params_schema: str | None = None
    """A file with the JSON Schema of the params, in JSON or YAML."""
    env: list[str] = field(default_factory=list)
    """An environment variable as NAME=value. May be repeated."""
    secret: list[str] = field(default_factory=list)
    """A secret as NAME or NAME=VARIABLE; with a trailing @ in a file whose path the variable holds. May be repeated."""
    network: bool | None = None
    """Let it use the network."""
    cpu: float | None = None
    """How many CPUs it may use."""
    memory: str | None = None
    """How much memory it may use, e.g. 512MiB."""
    processes: int | None = None
    """How many processes it may have."""
    open_files: int | None = None
    """How many files it may have open."""
    disk: str | None = None
    """How much it may write, e.g. 1GiB."""
    queue: str | None = None
    """The queue of its jobs."""
    priority: int | None = None
    """The priority of its jobs."""
    timeout: str | None = None
    """How long one attempt may run, e.g. 30s."""
    max_attempts: int | None = None
    """How often to try."""
    keep_results: str | None = None
    """How long to keep results and files, e.g. 7d."""

    def fields(self) -> dict[str, Any]:
        found = {name: getattr(self, name) for name in _PLAIN} | {"network": self.network}
        found["env"] = read_pairs(self.env, "env")
        found["secrets"] = [_secret(text) for text in self.secret]
        found["limits"] = _said({name: getattr(self, name) for name in _LIMITS})
        if self.params_schema is not None:
            found["params_schema"] = read_yaml(read_file(self.params_schema))
        return _said(found)


NOTHING: Final = WhatArguments()
AS_USUAL: Final = HowArguments()


def definition(name: str | None, what: WhatArguments, how: HowArguments) -> TaskDefinition:
    """The task of a file, of the options, or of both."""
    found: dict[str, Any] = {} if what.file is None else one_task(read_file(what.file))
    found = laid_over(found, what.fields() | how.fields())
    if name is not None:
        found["name"] = name
    if "name" not in found:
        raise InvalidInput("the task has no name: give one as the first word")
    return read_task(found)


def laid_over(found: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """What is given goes over what is there, in objects field by field."""
    return found | {
        name: found[name] | value if isinstance(value, dict) and isinstance(found.get(name), dict) else value
        for name, value in given.items()
    }


def one_task(text: str) -> dict[str, Any]:
    found = read_tasks(text)
    if len(found) != 1 or not isinstance(found[0], dict):
        raise InvalidInput(f"the file has {len(found)} tasks, and one is wanted; see `horae task import`")
    return found[0]


def _secret(text: str) -> dict[str, Any]:
    name, _, variable = text.removesuffix("@").partition("=")
    return _said({"name": name, "env": variable or None, "file": text.endswith("@") or None})


def _value(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _said(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None and value not in ([], {})}
