"""
Names joined by dots, as flattened frames have them: `expected_output.relevant` leads into `expected_output`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankgauge.samples.sample_values import is_absent, is_dotted

__all__ = ["nested"]

_DEEPEST = {"expected_output": 2, "actual_output": 2, "metadata": -1}
"""How many dots of a name lead into a record; what is below may be ids, which have dots of their own."""


def nested(record: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """
    Return a record of a sample with the values of such names where these lead; as it is if it has none.

    A value that is missing is left out. A name that leads into something else than an object, or to a place that is
    taken, stays as it is.
    """
    if not any(map(is_dotted, record)):
        return record
    found = {name: _copied(value) for name, value in record.items() if not is_dotted(name)}
    for name, value in record.items():
        if not is_dotted(name):
            continue
        head, *parts = name.split(".", _DEEPEST[name.partition(".")[0]])
        if is_absent(value):
            found.setdefault(head, None)
        elif not _put(found, [head, *parts], value):
            found[name] = value
    return found


def _copied(value: Any) -> Any:  # noqa: ANN401  # any value
    return {key: _copied(item) for key, item in value.items()} if isinstance(value, Mapping) else value


def _put(record: dict[Any, Any], path: list[str], value: object) -> bool:
    """Put a value into a record; return whether there was room for it."""
    held: Any = record
    for part in path[:-1]:
        if held.get(part) is None:
            held[part] = {}
        held = held[part]
        if not isinstance(held, dict):
            return False
    return held.setdefault(path[-1], value) is value
