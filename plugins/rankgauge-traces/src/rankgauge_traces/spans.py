"""
Spans: what is read of one, whatever wrote it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

__all__ = ["Event", "MalformedSpanError", "Span", "decoded", "nested", "plain_id"]


class MalformedSpanError(ValueError):
    """A record that cannot be read as spans; the message says what is wrong with it."""


class Event(NamedTuple):
    """An event of a span."""

    name: str
    attributes: Mapping[str, Any]


class Span(NamedTuple):
    """A span: what one step of a program did. Attributes are those of the writer, keys and values as they were."""

    trace: str
    id: str
    parent: str  # empty for a root
    name: str
    attributes: Mapping[str, Any]
    events: Sequence[Event] = ()
    start: int = 0  # nanoseconds since 1970; 0 if it is not known
    end: int = 0
    dropped: int = 0  # how many attributes were lost when it was written
    file: str = ""
    line: int | None = None

    @property
    def seconds(self) -> float | None:
        """Return how long it took; None if that is not known."""
        return (self.end - self.start) / 1e9 if 0 < self.start <= self.end else None

    @property
    def place(self) -> str:
        """Return where it is, for messages."""
        return self.file if self.line is None else f"{self.file}, line {self.line}"


def plain_id(value: object, what: str) -> str:
    """Return an id of a trace or a span as it is compared; a `MalformedSpanError` if it is none."""
    if isinstance(value, str) and value.strip():
        return value.strip().removeprefix("0x")
    found = "nothing" if value is None or value == "" else f"{value!r:.60}"
    raise MalformedSpanError(f"a span needs {what}, a text; found {found}")


def decoded(value: object) -> Any:  # noqa: ANN401  # any JSON value
    """Return a text that holds a JSON list, object or text as that, anything else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in {"[", "{", '"'}:
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            return value
    return value


def nested(attributes: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """
    Return the objects of a list that is written as flat attributes, in order, with the keys that each has.

    ``{"documents.0.id": "a", "documents.1.id": "b"}`` with the prefix ``documents`` is ``[{"id": "a"}, {"id": "b"}]``.
    Where numbers are missing, however many, there is one empty object.
    """
    found: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        if not key.startswith(f"{prefix}."):
            continue
        number, _, field = key[len(prefix) + 1 :].partition(".")
        if field and number.isascii() and number.isdigit() and len(number) < 19:
            found.setdefault(int(number), {})[field] = value
    listed: list[dict[str, Any]] = []
    expected = 0
    for place in sorted(found):
        listed += [found[place]] if place == expected else [{}, found[place]]
        expected = place + 1
    return listed
