"""
Serialization: the dictionaries that pipelines keep of their evaluators.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

__all__ = ["described", "rebuilt"]

_PACKAGE = __name__.rpartition(".")[0]

Evaluator = TypeVar("Evaluator")


def described(name: str, **parameters: str) -> dict[str, object]:
    """
    Return what makes an evaluator again.

    Args:
        name: The name of its class.

        **parameters: What it was made with.

    Returns:
        ``{"type": dotted name of the class, "init_parameters": {...}}``.
    """
    return {"type": f"{_PACKAGE}.{name}", "init_parameters": parameters}


def rebuilt(make: Callable[..., Evaluator], name: str, data: Mapping[str, object]) -> Evaluator:
    """
    Make an evaluator from such a dictionary, of ours or of Haystack's.

    Args:
        make: Its class.

        name: The name of its class.

        data: The dictionary.

    Returns:
        The evaluator.

    Raises:
        ValueError: The dictionary describes something else.
    """
    parameters = data.get("init_parameters") or {}
    if str(data.get("type")).rpartition(".")[2] != name or not isinstance(parameters, Mapping):
        msg = f"{dict(data)!r} does not describe a {name}"
        raise ValueError(msg)
    return make(**parameters)
