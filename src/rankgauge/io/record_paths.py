"""
Paths of presets, followed into a record: ``hits[].doc.id`` and what is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import orjson

from rankgauge.plugin.named_data import Steps, read_path

__all__ = ["decoded", "steps_of", "values_at"]

steps_of = cache(read_path)


def values_at(value: Any, path: str) -> Iterator[Any]:  # noqa: ANN401  # any JSON value
    """
    Yield what is at the end of a path of a preset.

        list(values_at({"hits": [{"id": "d1"}, {"id": "d2"}]}, "hits[].id"))  # ["d1", "d2"]

    Args:
        value: A JSON value; a text on the way may be JSON, too.

        path: Names with dots between them; ``[]`` takes each item of a list.

    Returns:
        The values in order; none if the path leads nowhere.
    """
    return _values(value, steps_of(path))


def _values(value: Any, steps: Steps) -> Iterator[Any]:  # noqa: ANN401  # any JSON value
    """Yield what is at the end of a path; a text on the way may be JSON."""
    if not steps:
        yield value
        return
    value = decoded(value)
    name, selectors = steps[0]
    if name == "":
        yield from _selected(value, selectors, steps[1:])
    elif isinstance(value, Mapping):
        if name == "*":
            for item in value.values():
                yield from _selected(item, selectors, steps[1:])
            return
        for count in range(len(steps), 0, -1):  # `a.b` may be one name, and then it is
            key = ".".join(step[0] for step in steps[:count])
            if key in value and not any(step[1] for step in steps[: count - 1]):
                yield from _selected(value[key], steps[count - 1][1], steps[count:])
                return


def _selected(value: Any, selectors: tuple[str, ...], rest: Steps) -> Iterator[Any]:  # noqa: ANN401  # any JSON value
    """Yield what brackets select of a value, and then the rest of the path."""
    if not selectors:
        yield from _values(value, rest)
        return
    value = decoded(value)
    if not isinstance(value, list | tuple):
        return
    selector, later = selectors[0], selectors[1:]
    field, equals, wanted = selector.partition("=")
    if equals:
        chosen = [item for item in value if isinstance(item, Mapping) and item.get(field) == wanted]
        yield from _selected(chosen, later, rest)
    elif not selector:
        for item in value:
            yield from _selected(item, later, rest)
    elif -len(value) <= int(selector) < len(value):
        yield from _selected(value[int(selector)], later, rest)


def decoded(value: Any) -> Any:  # noqa: ANN401  # any JSON value
    """Return a list or an object that is written as JSON text as that, anything else as it is."""
    if isinstance(value, str) and value[:1] in {"[", "{"}:
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            return value
    return value
