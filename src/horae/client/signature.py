"""A function's signature as Horae needs it: names and types of the params, where the Context goes, the schema.

Params travel as one JSON object keyed by parameter name, so every parameter needs a name: `*args` and
positional-only ones are refused when the task is declared, not when its first job runs.
"""

import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from horae.client.context import Context
from horae.client.outcomes import BadParams, Unserialisable
from horae.model.errors import InvalidParams, SetupError

_NAMELESS: Final = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.POSITIONAL_ONLY: "positional-only "}
_NOT_JSON: Final = (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError)


class Signature:
    def __init__(self, function: Callable[..., Any], reserved: frozenset[str] = frozenset()) -> None:
        self._label = getattr(function, "__qualname__", repr(function))
        hints = _hints(function, self._label)
        self.returns: Any = hints.get("return", Any)
        parameters = inspect.signature(function).parameters
        self.context = next((name for name in parameters if _is_context(hints.get(name))), None)
        """The name of the parameter that takes the Context."""
        kept = [p for name, p in parameters.items() if name != self.context]
        for parameter in kept:
            self._refuse_unusable(parameter, reserved)
        self._bindable = inspect.Signature(kept)
        self._by_place = tuple(p.name for p in kept if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD)
        self._is_plain = len(self._by_place) == len(kept)
        self._needed = sum(p.default is inspect.Parameter.empty for p in kept)
        self._extra: Any = None
        self._names: tuple[str, ...] = ()
        self._struct = self._make_struct(kept, hints)
        self._decoder = msgspec.json.Decoder(self._struct)

    def _refuse_unusable(self, parameter: inspect.Parameter, reserved: frozenset[str]) -> None:
        if parameter.kind in _NAMELESS:
            raise SetupError(
                f"{self._label}: the {_NAMELESS[parameter.kind]}parameter {parameter.name!r} has no name in a job's "
                "params; make it an ordinary parameter (a list, for instance)"
            )
        if parameter.name in reserved:
            raise SetupError(f"{self._label}: {parameter.name!r} is an option of submit(); rename the parameter")

    def _make_struct(self, kept: list[inspect.Parameter], hints: dict[str, Any]) -> type[msgspec.Struct]:
        fields: list[Any] = []
        for parameter in kept:
            hint = _describable(hints.get(parameter.name, Any))
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                self._extra = hint
            elif parameter.default is inspect.Parameter.empty:
                fields.append((parameter.name, hint))
            else:
                # Left unset rather than defaulted, so that the function's own default applies when it is called.
                fields.append((parameter.name, typing.Union[hint, msgspec.UnsetType], msgspec.UNSET))  # noqa: UP007
        self._names = tuple(field[0] for field in fields)
        return msgspec.defstruct("Params", fields, kw_only=True, forbid_unknown_fields=self._extra is None)

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the params object, with its definitions inside."""
        refs, components = msgspec.json.schema_components([self._struct], ref_template="#/$defs/{name}")
        schema = dict(components.pop(refs[0]["$ref"].removeprefix("#/$defs/")))
        schema.pop("title", None)
        if self._extra is None:
            schema["additionalProperties"] = False
        elif self._extra is not Any:
            (extra,), more = msgspec.json.schema_components([self._extra], ref_template="#/$defs/{name}")
            schema["additionalProperties"] = extra
            components |= more
        return schema | ({"$defs": components} if components else {})

    def fits(self, args: tuple[Any, ...]) -> bool:
        """Whether they are surely the arguments of a call, by their number alone."""
        return self._is_plain and self._needed <= len(args) <= len(self._by_place)

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call as a params object, without the defaults that were left out."""
        if not kwargs and self.fits(args):
            # What `inspect` does in five microseconds; those who submit millions notice.
            return dict(zip(self._by_place, args, strict=False))
        try:
            bound = self._bindable.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise InvalidParams(f"{self._label}{self._bindable}: {error}") from error
        if self._extra is not None:
            for name, value in self._bindable.parameters.items():
                if value.kind is inspect.Parameter.VAR_KEYWORD:
                    bound |= bound.pop(name, {})
        return bound

    def decode(self, params: bytes, ctx: Context | None) -> dict[str, Any]:
        """Keyword arguments for the function: params converted to the declared types, and the Context."""
        try:
            struct = self._decoder.decode(params)
            extra = {} if self._extra is None else self._decode_extra(params)
        except (msgspec.MsgspecError, ValueError) as error:
            raise BadParams(f"{self._label}: the params do not fit: {error}") from error
        values = {name: value for name in self._names if (value := getattr(struct, name)) is not msgspec.UNSET}
        if self.context is not None:
            values[self.context] = ctx
        return values | extra

    def _decode_extra(self, params: bytes) -> dict[str, Any]:
        everything = msgspec.json.decode(params, type=dict[str, Any])
        extra = {name: value for name, value in everything.items() if name not in self._names}
        return msgspec.convert(extra, type=dict[str, self._extra])  # type: ignore[name-defined]

    def encode_result(self, result: Any) -> bytes:
        try:
            return msgspec.json.encode(result)
        except _NOT_JSON as error:
            raise Unserialisable(
                f"{self._label}: the result, a {type(result).__name__}, cannot be written as JSON: {error}"
            ) from error


def _hints(function: Callable[..., Any], label: str) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except (NameError, AttributeError, TypeError, SyntaxError) as error:
        raise SetupError(
            f"{label}: its type hints cannot be read: {error}. Import the type at run time, not under TYPE_CHECKING, "
            "and define it at module level"
        ) from error


def _is_context(hint: Any) -> bool:
    return hint is Context or Context in typing.get_args(hint)


def _describable(hint: Any) -> Any:
    """The hint, or Any when msgspec cannot describe it: such a parameter takes whatever JSON it is given."""
    try:
        msgspec.json.schema(hint)
    except (TypeError, ValueError):
        return Any
    return hint
