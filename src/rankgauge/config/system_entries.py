"""
Systems under test in the schema of a config file: which kind, with options that only their plugin knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import BeforeValidator, WithJsonSchema

__all__ = ["Parameters", "SystemEntry"]

_SECRET = re.compile(
    r"(?:^|[_-])(?:pass(?:word|wd|phrase)?|pwd|secret|token|bearer|jwt|authorization|cookie|credentials?"
    r"|(?:api|access|account|auth|private|secret|shared|subscription)[_-]?key)$",
    re.IGNORECASE,
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ASSIGNED = re.compile(r"([\w-]+)\s*=\s*([^\s&;]+)")
_VARIABLE = re.compile(r"\$\{[^}]+\}")


def _is_hidden(name: str) -> bool:
    """Return whether an option is named like a secret."""
    return _SECRET.search(_HUMP.sub("_", name)) is not None


def _values_of(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], object]]:
    """Yield every value inside mappings and lists, with the keys that lead to it."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _values_of(inner, (*path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _values_of(inner, (*path, place))
    else:
        yield path, value


def _system(value: object) -> object:
    """Check what can be checked without the plugin: the kind, and that no secret is written out."""
    if not isinstance(value, Mapping) or not isinstance(value.get("kind"), str):
        raise ValueError("expected a mapping with `kind`, such as {kind: http}")  # noqa: TRY004  # pydantic's contract
    _refuse_secrets(value)
    return value


def _refuse_secrets(value: object) -> None:
    """Raise a `ValueError` for a secret that is written out, and do not show it."""
    for path, inner in _values_of(value):
        if inner is None or inner == "" or isinstance(inner, bool):
            continue
        text = str(inner)
        named = next((str(key) for key in reversed(path) if isinstance(key, str)), "")
        if _is_hidden(named.rpartition(".")[2]) and _VARIABLE.search(text) is None:
            raise ValueError(f"{named} is written out, and a config is read by many; write ${{NAME_OF_A_VARIABLE}}")
        if any(_VARIABLE.search(secret) is None for secret in _secrets_in(text)):
            raise ValueError(f"a secret in {named} is written out; write ${{NAME_OF_A_VARIABLE}} in its place")


def _secrets_in(text: str) -> list[str]:
    """Return the password of an address, and values after names of secrets, as in ``?token=...``."""
    given = [value for name, value in _ASSIGNED.findall(text) if _is_hidden(name)]
    try:
        address = urlsplit(text)
        return [*given, *filter(None, [address.password if "://" in text else None])]
    except ValueError:  # no address after all
        return given


def _parameters(value: object) -> object:
    """Check parameters to try: a list of values for each option, or a list of options with one value each."""
    points: Sequence[Any] = [value] if isinstance(value, Mapping) else value if isinstance(value, list) else []
    is_grid = isinstance(value, Mapping)
    fits = all(
        isinstance(point, Mapping)
        and point
        and all(
            isinstance(key, str) and (not is_grid or (isinstance(tried, list) and tried))
            for key, tried in point.items()
        )
        for point in points
    )
    if not points or not fits:
        raise ValueError("expected options with a list of values each, such as {ef: [16, 64]}, or a list of {ef: 16}")
    _refuse_secrets(value)
    return value


SystemEntry = Annotated[
    dict[str, Any],
    BeforeValidator(_system),
    WithJsonSchema(
        {
            "type": "object",
            "properties": {"kind": {"type": "string", "description": "Which kind, such as http."}},
            "required": ["kind"],
            "description": "The other keys are options of the kind; `${NAME}` stands for environment variables.",
        }
    ),
]

Parameters = Annotated[
    dict[str, list[Any]] | list[dict[str, Any]],
    BeforeValidator(lambda value: value if value == {} else _parameters(value)),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "object", "additionalProperties": {"type": "array", "minItems": 1}},
                {"type": "array", "items": {"type": "object", "minProperties": 1}},
            ],
            "description": "A grid of options, or a list of points; dots lead into options, such as fuse.k.",
        }
    ),
]
