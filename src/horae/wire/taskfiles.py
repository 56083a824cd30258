"""Tasks as people keep them in files: YAML, of which JSON is a part, with `tasks:` and a list of definitions."""

from collections.abc import Iterable
from typing import Any, Final

import msgspec
import yaml

from horae.model.errors import InvalidInput
from horae.model.task import TaskDefinition

MAX_DEPTH: Final = 64
MAX_PARTS: Final = 200_000
_NEXT_LINE: Final = "\x85"


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc] # the quick one, where there is one
    """Reads 22:30 as the text it is. To YAML 1.1 it is a number to the base 60, and a long one takes hours."""

    def whole(self, node: yaml.ScalarNode) -> Any:
        return node.value if ":" in node.value else self.construct_yaml_int(node)

    def broken(self, node: yaml.ScalarNode) -> Any:
        return node.value if ":" in node.value else self.construct_yaml_float(node)


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.whole)
_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.broken)


class _Dumper(yaml.SafeDumper):
    """Writes text of several lines as a block, so that a script reads like one."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
    style = "|" if "\n" in value else None
    if _NEXT_LINE in value:
        style = '"'  # To the reader it is the end of a line, unless it is escaped.
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)


def read_tasks(text: str) -> list[Any]:
    """The definitions in a file, not looked into yet: one, a list, or a list under `tasks`."""
    document = read_yaml(text)
    if isinstance(document, dict) and "tasks" in document:
        if unknown := sorted(str(name) for name in document.keys() - {"tasks"}):
            raise InvalidInput(f"the file has {unknown[0]!r} beside tasks, which means nothing here")
        document = document["tasks"]
    elif isinstance(document, dict):
        document = [document]
    if not isinstance(document, list):
        raise InvalidInput("the file has no tasks: write a definition, or `tasks:` and a list of them")
    return document


def read_task(value: Any) -> TaskDefinition:
    """One of `read_tasks`."""
    try:
        return msgspec.convert(value, TaskDefinition)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise InvalidInput(f"not a task: {error}") from error


def write_tasks(tasks: Iterable[TaskDefinition]) -> str:
    return write_yaml({"tasks": [msgspec.to_builtins(task) for task in tasks]})


def write_task(task: TaskDefinition) -> str:
    return write_yaml(msgspec.to_builtins(task))


def write_yaml(value: Any) -> str:
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
    return text


def read_yaml(text: str) -> Any:
    try:
        _check_shape(text)
        return _plain(yaml.load(text, Loader=_Loader))  # noqa: S506 - it is a safe one
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InvalidInput(f"the file is not YAML: {str(error)[:300]}") from error


def _check_shape(text: str) -> None:
    """Before anything is made of it. With a few lines of aliases a file becomes larger than any memory."""
    depth = 0
    for number, event in enumerate(yaml.parse(text, Loader=_Loader)):
        if isinstance(event, yaml.AliasEvent):
            raise InvalidInput("the file uses YAML aliases (*name), which are not taken")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH or number > MAX_PARTS:
            raise InvalidInput(
                f"the file is not YAML of tasks: it has more than {MAX_DEPTH} levels or more than {MAX_PARTS} parts"
            )


def _plain(value: Any) -> Any:
    """YAML reads dates by itself; definitions are JSON, which has none."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.isoformat() if hasattr(value, "isoformat") else value
