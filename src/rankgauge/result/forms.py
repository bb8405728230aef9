"""
Forms: which JSON values fit a type as annotations write it, how they are read into it, and its JSON Schema.

A form is a type such as ``float | None``, ``tuple[str, ...]`` (a JSON array), ``Mapping[str, int]``, or a dataclass, a
named tuple or a typed dictionary (JSON objects), so that what is read and what is documented cannot differ.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import types
from collections.abc import Iterator, Mapping
from typing import (
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import orjson

from rankgauge.base.guard import shown
from rankgauge.errors import ResultError, listed
from rankgauge.scoring.score import LARGEST

__all__ = ["DAMAGED", "as_json", "check", "check_version", "fits", "read", "schema"]

DAMAGED = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""What reading a damaged result may raise."""


class _Field:
    """A part of an object: its form, and whether it may be absent."""

    __slots__ = ("form", "is_required")

    def __init__(self, form: Any, *, is_required: bool) -> None:  # noqa: ANN401  # a type, as annotations write it
        self.form, self.is_required = form, is_required


@functools.cache
def _fields(form: Any) -> Mapping[str, _Field] | None:  # noqa: ANN401  # as above
    """Return the parts of a dataclass, a named tuple or a typed dictionary; None for another type."""
    if not isinstance(form, type):
        return None
    if is_typeddict(form):
        marked = get_type_hints(form, include_extras=True)  # which are texts until then, unseen by `__required_keys__`
        hints = get_type_hints(form)
        return {
            name: _Field(hints[name], is_required=get_origin(hint) is not NotRequired) for name, hint in marked.items()
        }
    if dataclasses.is_dataclass(form):
        hints = get_type_hints(form)
        absent = dataclasses.MISSING
        return {
            each.name: _Field(hints[each.name], is_required=each.default is absent and each.default_factory is absent)
            for each in dataclasses.fields(form)
        }
    if issubclass(form, tuple) and hasattr(form, "_field_defaults"):
        hints = get_type_hints(form)
        return {name: _Field(hint, is_required=name not in form._field_defaults) for name, hint in hints.items()}
    return None


def check(what: str, value: object, form: Any) -> None:  # noqa: ANN401  # a type, as annotations write it
    """Raise a `ValueError` for a JSON value that is not of a form."""
    if not fits(value, form):
        raise ValueError(f"{what} cannot be {shown(value)[:200]}")


def fits(value: Any, form: Any) -> bool:  # noqa: ANN401  # outside data and a type
    """Return whether a JSON value is of a form; an object may have further keys."""
    kind, parts = get_origin(form), get_args(form)
    if form is Any:
        return True
    if kind in {Union, types.UnionType}:
        return any(fits(value, part) for part in parts)
    if kind is Literal:
        return isinstance(value, str) and value in parts
    if kind is tuple:
        is_list = isinstance(value, tuple | list)
        each = (parts[0],) * len(value) if len(parts) > 1 and parts[1] is ... and is_list else parts
        return is_list and len(value) == len(each) and all(map(fits, value, each))
    if kind is not None:  # a mapping
        return isinstance(value, Mapping) and all(
            fits(key, parts[0]) and fits(each, parts[1]) for key, each in value.items()
        )
    if (fields := _fields(form)) is not None:
        return isinstance(value, Mapping) and all(
            fits(value[name], field.form) if name in value else not field.is_required for name, field in fields.items()
        )
    if form in {int, float}:
        return isinstance(value, int | form) and not isinstance(value, bool) and abs(value) <= LARGEST
    return isinstance(value, form)


def read(what: str, value: Any, form: Any) -> Any:  # noqa: ANN401  # outside data, a type, and an instance of it
    """
    Return a JSON value as an instance of its form: lists as tuples, objects as dataclasses or named tuples.

    Keys that a form does not have are left out: those that a later version adds. Raises a `ValueError` that names the
    part that does not fit.
    """
    kind, parts = get_origin(form), get_args(form)
    if kind in {Union, types.UnionType}:
        fitting = next((part for part in parts if fits(value, part)), None)
        if fitting is not None:
            return read(what, value, fitting)
    elif kind is tuple and isinstance(value, tuple | list):
        each = (parts[0],) * len(value) if len(parts) > 1 and parts[1] is ... else parts
        if len(each) == len(value):
            return tuple(read(what, item, part) for item, part in zip(value, each, strict=True))
    elif (fields := _fields(form)) is not None and isinstance(value, Mapping):
        if lost := [name for name, field in fields.items() if field.is_required and name not in value]:
            raise ValueError(f"{what} lacks {listed(list(map(repr, lost)))}")
        known = {
            name: read(f"{name!r} of {what}", value[name], field.form)
            for name, field in fields.items()
            if name in value
        }
        return known if is_typeddict(form) else form(**known)
    check(what, value, form)
    return value


def check_version(what: str, data: object, version: str) -> None:
    """Refuse what has the form of another version, or none."""
    found = data.get("schema_version") if isinstance(data, Mapping) else None
    if found != version:
        raise ResultError(f"{what} has the schema {found!r}; this version reads {version!r}")


def as_json(what: str, value: object) -> Any:  # noqa: ANN401  # any JSON value
    """Return a value as JSON holds it: NaN as null, and what JSON has no value for by its `repr`."""
    try:
        return orjson.loads(
            orjson.dumps(value, default=repr, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS)
        )
    except orjson.JSONEncodeError as error:  # such as a text that is no Unicode
        raise ResultError(f"{what} cannot be stored as JSON: {error}") from error


_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def schema(name: str, title: str, form: Any, *, version: str) -> dict[str, Any]:  # noqa: ANN401  # a type
    """Return the JSON Schema of a form, an object with the `schema_version` that `check_version` takes."""
    definitions: dict[str, Any] = {}
    whole = _object(form, definitions)
    of_form = {"description": "The version of this form.", "const": version}
    whole["properties"] = {"schema_version": of_form, **whole["properties"]}
    whole["required"] = ["schema_version", *whole["required"]]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:rankgauge:{name}",
        "title": title,
        **whole,
        "$defs": dict(sorted(definitions.items())),
    }


def _schema(form: Any, definitions: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401  # a type
    kind, parts = get_origin(form), get_args(form)
    if form is Any:
        return {}
    if form in _PLAIN:
        return {"type": _PLAIN[form]}
    if kind is Literal:
        return {"enum": list(parts)}
    if kind in {Union, types.UnionType}:
        options = sorted((_schema(part, definitions) for part in parts), key=_is_null)
        if all(option.keys() == {"type"} for option in options):
            return {"type": [option["type"] for option in options]}
        return {"anyOf": options}
    if kind is tuple and len(parts) > 1 and parts[1] is ...:
        return {"type": "array", **_unless_any("items", parts[0], definitions)}
    if kind is tuple:
        each = [_schema(part, definitions) for part in parts]
        return {"type": "array", "prefixItems": each, "minItems": len(each), "maxItems": len(each)}
    if kind is not None:
        return {"type": "object", **_unless_any("additionalProperties", parts[1], definitions)}
    name = form.__name__.removeprefix("_")
    if name not in definitions:
        definitions[name] = {}  # which may hold itself
        definitions[name] = _object(form, definitions)
    return {"$ref": f"#/$defs/{name}"}


def _is_null(option: Mapping[str, Any]) -> tuple[bool, str]:
    """Return the order of options, null last: `typing` gives those of a union in the order of an equal one."""
    return option.get("type") == "null", str(option)


def _unless_any(key: str, form: Any, definitions: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401  # a type
    inner = _schema(form, definitions)
    return {key: inner} if inner else {}


def _object(form: Any, definitions: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401  # a type
    fields, documented = _fields(form) or {}, dict(_attributes(form))
    summary = (inspect.getdoc(form) or "").partition("\n\n")[0]
    return {
        "description": _prose(summary),
        "type": "object",
        "properties": {
            name: {
                **({"description": documented[name]} if name in documented else {}),
                **_schema(field.form, definitions),
            }
            for name, field in fields.items()
        },
        "required": [name for name, field in fields.items() if field.is_required],
    }


def _attributes(form: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401  # a type
    """Yield what a docstring says of each attribute."""
    _, _, section = (inspect.getdoc(form) or "").partition("\nAttributes:\n")
    section = re.split(r"\n(?=\S)", section)[0]
    for entry in re.split(r"\n(?=    \w+: )", f"\n{section}"):
        if match := re.match(r"    (\w+): (.+)", entry, re.DOTALL):
            yield match[1], _prose(match[2])


def _prose(text: str) -> str:
    return " ".join(text.replace("``", "`").split())
