"""Checks params against the schemas of tasks, without ever holding up the server for long.

What is sure to be quick, because the schema is light and the params are small, is done here: that is nearly every
submit. Anything else goes to an examiner, a process that has a second for it (see `examiner`). So neither a schema that
explodes nor a large input keeps others waiting, however long ago it was saved.
"""

import contextlib
from collections.abc import Mapping
from typing import Any, Final

import jsonschema_rs
import msgspec

from horae.engine.examination import MAX_ERRORS, list_faults, refuse_reference
from horae.engine.examiner import Examiner
from horae.model.errors import InvalidInput, InvalidParams
from horae.model.job import JobRequest
from horae.model.kindchecks import templates
from horae.model.schemas import weigh
from horae.model.task import TaskDefinition
from horae.model.template import PARAMS, Reference, look_up, references

MAX_SCHEMA_BYTES: Final = 64 * 1024
QUICK: Final = 20_000_000
"""Weight times bytes: below a tenth of a second, whatever the schema is."""
LISTED: Final = 20_000
"""The same for telling what is wrong, as a list of thousands of faults takes long to make."""
_PATTERN_BYTES: Final = 32 * 1024
"""Of a compiled expression that weighs what `weigh` takes for one."""
_SCALES: Final = (1, 16)


class KnownSchema(msgspec.Struct, frozen=True):
    """The schema and the placeholders of a task, made ready for submits."""

    schema: dict[str, Any] | None
    weight: int | None
    """None: only an examiner may check it."""
    validator: Any
    needs: tuple[tuple[str, Reference], ...]
    """What placeholders take from the params, and where."""

    def passes(self, params: Mapping[str, Any], size: int) -> bool:
        """False also when it cannot be said in time."""
        if self.weight is None or self.weight * size > QUICK:
            return False
        return (self.validator is None or self.validator.is_valid(params)) and not (
            self.needs and missing_params(self, params)
        )


def known_schema(definition: TaskDefinition) -> KnownSchema:
    found = ((field, ref) for field, text in templates(definition) for ref in references(text, field))
    needs = tuple(dict.fromkeys((field, ref) for field, ref in found if ref.root == PARAMS))
    schema = definition.params_schema
    if not schema:
        return KnownSchema(None, 0, None, needs)
    return KnownSchema(schema, *_weighed(schema), needs)


def _weighed(schema: dict[str, Any]) -> tuple[int | None, Any]:
    """Its weight and what checks it, with expressions that cannot go back and forth. Neither, where it needs others, is
    too heavy, or no schema."""
    weight = weigh(schema)
    if weight is None:
        return None, None
    for scale in _SCALES:
        patterns = jsonschema_rs.RegexOptions(size_limit=_PATTERN_BYTES * scale)
        with contextlib.suppress(ValueError, jsonschema_rs.ValidationError):
            return weight * scale, jsonschema_rs.validator_for(
                schema, retriever=refuse_reference, pattern_options=patterns
            )
    return None, None


class Schemas:
    def __init__(self, examiner: Examiner) -> None:
        self._examiner = examiner

    async def check_schema(self, tenant_id: int, definition: TaskDefinition) -> None:
        """Of a task that is to be saved."""
        schema = definition.params_schema
        if schema is None:
            return
        if len(msgspec.json.encode(schema)) > MAX_SCHEMA_BYTES:
            raise InvalidInput(f"params_schema: larger than {MAX_SCHEMA_BYTES} bytes", field="params_schema")
        if _weighed(schema)[0] is not None:
            return
        wrong = await self._examiner.wrong_with(tenant_id, schema)
        if wrong is not None:
            raise InvalidInput(f"params_schema: {wrong}", field="params_schema")

    async def check_params(self, tenant_id: int, known: KnownSchema, request: JobRequest, size: int) -> None:
        """Refuses params that do not fit, naming the path of each fault. `size`: their bytes as JSON."""
        if known.passes(request.params, size):
            return
        faults = await self.faults(tenant_id, known, request.params, size)
        if faults:
            where, what = faults[0]["pointer"], faults[0]["detail"]
            raise InvalidParams(f"params of task {request.task!r}: {where}: {what}", errors=faults)

    async def faults(
        self, tenant_id: int, known: KnownSchema, params: Mapping[str, Any], size: int
    ) -> list[dict[str, str]]:
        return await self._schema_faults(tenant_id, known, params, size) or missing_params(known, params)

    async def _schema_faults(
        self, tenant_id: int, known: KnownSchema, params: Mapping[str, Any], size: int
    ) -> list[dict[str, str]]:
        if known.schema is None:
            return []
        work = None if known.weight is None else known.weight * size
        if work is not None and work <= LISTED:
            return list_faults(known.validator, params)
        if work is not None and work <= QUICK and known.validator.is_valid(params):
            return []
        return await self._examiner.faults(tenant_id, known.schema, params)


def missing_params(known: KnownSchema, params: Mapping[str, Any]) -> list[dict[str, str]]:
    """What placeholders want and the params have not."""
    faults = {}
    for field, reference in known.needs:
        try:
            look_up(reference, params, {})
        except InvalidInput as error:
            pointer = "/".join(("", *str(reference).split(".")))
            faults[pointer] = {"pointer": pointer, "detail": f"{field}: {error.detail}"}
    return list(faults.values())[:MAX_ERRORS]
