"""`horae task create`, `edit` and `validate`: saving tasks that are data."""

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

import msgspec

from horae.cli.access import HERE, Access
from horae.cli.arguments import read_file, read_params
from horae.cli.screen import console, facts, note, print_json
from horae.cli.taskarguments import AS_USUAL, NOTHING, HowArguments, WhatArguments, definition, laid_over, one_task
from horae.cli.tasks import said
from horae.model.errors import InvalidInput
from horae.model.kinds import Kind
from horae.model.task import TaskDefinition, check_task
from horae.wire.taskfiles import read_task, write_task


def create(
    name: str | None = None,
    /,
    *,
    reason: str = "",
    tenant: str | None = None,
    what: WhatArguments = NOTHING,
    how: HowArguments = AS_USUAL,
    access: Access = HERE,
) -> None:
    """Save a new task: a script, a container or an HTTP call. There must be none of that name.

    Parameters
    ----------
    name
        The task's name; not needed if a file has it.
    reason
        For its history.
    tenant
        For keys that belong to no tenant; without one, the task is for all tenants.
    """
    wanted = _data(definition(name, what, how))
    with access.client() as client:
        said(client.tasks.put(wanted, reason, 0, tenant), access)


def edit(
    name: str,
    /,
    *,
    reason: str = "",
    tenant: str | None = None,
    what: WhatArguments = NOTHING,
    how: HowArguments = AS_USUAL,
    access: Access = HERE,
) -> None:
    """Change a task: what the options say, what a file says, or without either what you write in your $EDITOR.

    Parameters
    ----------
    name
        The task's name.
    reason
        For its history.
    tenant
        For keys that belong to no tenant; without one, the task is for all tenants.
    """
    with access.client() as client:
        before = client.tasks.get(name, tenant)
        wanted = _edited(name, before.definition, what, how)
        if wanted == before.definition:
            note("nothing was changed")
        said(client.tasks.put(_data(wanted), reason, before.version, tenant), access)


def validate(
    name: str | None = None,
    /,
    *,
    param: list[str] | None = None,
    json_params: str | None = None,
    what: WhatArguments = NOTHING,
    how: HowArguments = AS_USUAL,
    access: Access = HERE,
) -> int:
    """Say all that is wrong with a task without saving it, and what it makes of sample params. Exit code 1 if any is.

    Parameters
    ----------
    name
        The task's name; not needed if a file has it.
    param
        A sample parameter as name=value. May be repeated.
    json_params
        All sample parameters as a JSON object: the object itself, @FILE, or - for stdin.
    """
    wanted = definition(name, what, how)
    with access.client() as client:
        found = client.tasks.validate(wanted, read_params(param or [], json_params))
    if access.json:
        print_json(found)
        return 0 if found.valid else 1
    for fault in found.errors:
        print(f"{fault.field}: {fault.detail.removeprefix(f'{fault.field}: ')}")
    for warning in found.warnings:
        note(f"warning: {warning}")
    console().print(facts(found.filled.items()))
    if found.valid:
        note(f"the task {wanted.name} is valid")
    return 0 if found.valid else 1


def _data(task: TaskDefinition) -> TaskDefinition:
    if task.kind is Kind.FUNCTION:
        raise InvalidInput("say what runs: --script FILE, --image IMAGE, --call URL, or a file with one of them")
    return check_task(task)


def _edited(name: str, before: TaskDefinition, what: WhatArguments, how: HowArguments) -> TaskDefinition:
    if what.file is not None:
        return definition(name, what, how)
    given = what.fields() | how.fields()
    if not given:
        return read_task(one_task(_in_editor(write_task(before))))
    return read_task(laid_over(msgspec.to_builtins(before), given))


def _in_editor(text: str) -> str:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "task.yaml"
        path.write_text(text, encoding="utf-8")
        try:
            subprocess.run([*shlex.split(editor), str(path)], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise InvalidInput(f"the editor {editor!r} failed: {error}; set EDITOR, or give a file with -f") from error
        return read_file(str(path))
