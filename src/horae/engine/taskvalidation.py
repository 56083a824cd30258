"""A look at a definition before it is saved: all that is wrong with it, and what it makes of sample params."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from horae.engine.taskrows import check_schema
from horae.engine.tasks import KnownTask, known_task, missing_params, schema_faults
from horae.model.errors import InvalidInput
from horae.model.kindchecks import kind_faults, templates
from horae.model.task import TaskDefinition, check_basics
from horae.model.template import MAX_FILLED, SECRETS, fill, fill_url, references

HIDDEN: Final = "***"


class Fault(msgspec.Struct, frozen=True):
    field: str
    detail: str


class Validation(msgspec.Struct, frozen=True):
    errors: list[Fault]
    warnings: list[str] = []
    filled: dict[str, str] = {}
    """Texts with their placeholders filled in from the sample params; secrets are not shown."""

    @property
    def valid(self) -> bool:
        return not self.errors


def validate(definition: TaskDefinition, params: Mapping[str, Any] | None) -> Validation:
    errors = [Fault(error.extra.get("field", ""), error.detail) for error in _errors(definition)]
    if errors:
        return Validation(errors)
    task = known_task(definition)
    warnings = list(_unsure(task))
    if params is None:
        return Validation([], warnings)
    faults = schema_faults(task, params) or missing_params(task, params)
    if faults:
        return Validation([Fault(fault["pointer"], fault["detail"]) for fault in faults], warnings)
    try:
        return Validation([], warnings, _filled(definition, params))
    except InvalidInput as error:
        return Validation([Fault(error.extra.get("field", ""), error.detail)], warnings)


def _errors(definition: TaskDefinition) -> Iterator[InvalidInput]:
    for check in (check_basics, check_schema):
        try:
            check(definition)
        except InvalidInput as error:
            yield error
    yield from kind_faults(definition)


def _unsure(task: KnownTask) -> Iterator[str]:
    """A placeholder may want what a job need not have."""
    schema = task.definition.params_schema
    if not schema or schema.get("type", "object") != "object":
        return
    required = schema.get("required", ())
    for field, reference in task.needs:
        if reference.steps[0] not in required:
            yield f"{field} uses {reference}, which the schema does not require: a job without it is refused"


def _filled(definition: TaskDefinition, params: Mapping[str, Any]) -> dict[str, str]:
    shown, size = {}, 0
    for field, text in templates(definition):
        found = references(text, field)
        if found:
            secrets = {ref.steps[0]: HIDDEN for ref in found if ref.root == SECRETS}
            shown[field] = (fill_url if field == "http.url" else fill)(text, params, secrets)
            size += len(shown[field])
            if size > MAX_FILLED:
                raise InvalidInput(f"what is filled in makes more than {MAX_FILLED} characters", field=field)
    return shown
