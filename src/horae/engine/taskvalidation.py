"""A look at a definition before it is saved: all that is wrong with it, and what it makes of sample params."""

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Final

import msgspec

from horae.engine.schemas import KnownSchema, Schemas, known_schema
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


async def validate(
    schemas: Schemas, tenant_id: int, definition: TaskDefinition, params: Mapping[str, Any] | None
) -> Validation:
    errors = [fault async for fault in _errors(schemas, tenant_id, definition)]
    if errors:
        return Validation(errors)
    known = known_schema(definition)
    warnings = list(_unsure(known))
    if params is None:
        return Validation([], warnings)
    faults = await schemas.faults(tenant_id, known, params, len(msgspec.json.encode(params)))
    if faults:
        return Validation([Fault(fault["pointer"], fault["detail"]) for fault in faults], warnings)
    try:
        return Validation([], warnings, _filled(definition, params))
    except InvalidInput as error:
        return Validation([_fault(error)], warnings)


async def _errors(schemas: Schemas, tenant_id: int, definition: TaskDefinition) -> AsyncIterator[Fault]:
    try:
        check_basics(definition)
    except InvalidInput as error:
        yield _fault(error)
    try:
        await schemas.check_schema(tenant_id, definition)
    except InvalidInput as error:
        yield _fault(error)
    for fault in kind_faults(definition):
        yield _fault(fault)


def _fault(error: InvalidInput) -> Fault:
    return Fault(error.extra.get("field", ""), error.detail)


def _unsure(known: KnownSchema) -> Iterator[str]:
    """A placeholder may want what a job need not have."""
    schema = known.schema
    if not schema or schema.get("type", "object") != "object":
        return
    required = schema.get("required", ())
    for field, reference in known.needs:
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
