"""The API's description (OpenAPI 3.1), made from the table of routes."""

import re
from functools import cache
from typing import Any

import msgspec

from horae.model.errors import by_code
from horae.model.roles import Permission
from horae.release import own_version
from horae.server.routes import ROUTES, Route

_REF = "#/components/schemas/{name}"


@cache
def describe() -> dict[str, Any]:
    types = [t for route in ROUTES for t in (route.body, route.answer) if t is not None]
    schemas, components = msgspec.json.schema_components(types, ref_template=_REF)
    by_type = dict(zip([_key(t) for t in types], schemas, strict=True))
    components["Problem"] = _problem()
    paths: dict[str, dict[str, Any]] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, by_type)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Horae", "version": own_version(), "license": {"name": "Apache-2.0"}},
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}},
    }


def _key(kind: Any) -> str:
    return repr(kind)


def _operation(route: Route, schemas: dict[str, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": f"{route.handler.__module__.rpartition('.')[2]}_{route.handler.__name__}",
        "summary": route.summary,
        "tags": [route.tag],
        "x-permission": route.permission.value,
        "parameters": [*_path_parameters(route.path), *_query_parameters(route.query)],
        "responses": {str(route.status): _answer(route, schemas), "default": _problem_answer()},
    }
    if route.permission is not Permission.PUBLIC:
        operation["security"] = [{"key": []}]
    if route.body is not None:
        operation["requestBody"] = {"content": {"application/json": {"schema": schemas[_key(route.body)]}}}
    return operation


def _path_parameters(path: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)}", path)
    ]


def _query_parameters(names: tuple[str, ...]) -> list[dict[str, Any]]:
    return [{"name": name, "in": "query", "required": False, "schema": {"type": "string"}} for name in names]


def _answer(route: Route, schemas: dict[str, Any]) -> dict[str, Any]:
    if route.answer is None:
        return {"description": route.summary}
    content = {"application/json": {"schema": schemas[_key(route.answer)]}}
    return {"description": route.summary, "content": content}


def _problem_answer() -> dict[str, Any]:
    reference = {"$ref": _REF.format(name="Problem")}
    return {"description": "A problem", "content": {"application/problem+json": {"schema": reference}}}


def _problem() -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["type", "title", "status", "code", "detail"],
        "properties": {
            "type": {"type": "string"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "code": {"enum": sorted(by_code())},
            "detail": {"type": "string"},
        },
    }
