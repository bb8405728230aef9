"""
Serialization: evaluators as the dictionaries that pipelines store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

__all__ = ["described", "rebuilt"]

_PACKAGE = __name__.rpartition(".")[0]

Evaluator = TypeVar("Evaluator")


def described(name: str, **parameters: str) -> dict[str, object]:
    """Return ``{"type": dotted name of the class, "init_parameters": {...}}``."""
    return {"type": f"{_PACKAGE}.{name}", "init_parameters": parameters}


def rebuilt(make: Callable[..., Evaluator], name: str, data: Mapping[str, object]) -> Evaluator:
    """Make an evaluator from such a dictionary, of ours or of Haystack's; raise `ValueError` for another class."""
    parameters = data.get("init_parameters") or {}
    if str(data.get("type")).rpartition(".")[2] != name or not isinstance(parameters, Mapping):
        msg = f"{dict(data)!r} does not describe a {name}"
        raise ValueError(msg)
    return make(**parameters)
