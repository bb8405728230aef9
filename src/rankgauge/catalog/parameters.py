"""
Parameters: checking values from expressions and config against a declared signature.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rankgauge.errors import ParameterError, did_you_mean
from rankgauge.expression import Value
from rankgauge.plugin.signature import Parameter

__all__ = ["check_parameters", "signature_parameters"]


def check_parameters(owner: str, known: Iterable[Parameter], given: Mapping[str, Value]) -> dict[str, Value]:
    """Check values against declared parameters, strictly (only int becomes float); *owner* is named in messages."""
    by_name = {parameter.name: parameter for parameter in known}
    checked: dict[str, Value] = {}
    for name, value in given.items():
        parameter = by_name.get(name)
        if parameter is None:
            listed = f"known are {', '.join(by_name)}" if by_name else "it has no parameters"
            msg = f"{owner} has no parameter {name!r}{did_you_mean(name, by_name)}; {listed}"
            raise ParameterError(msg)
        checked[name] = _check(owner, parameter, value)
    return checked


def signature_parameters(function: Callable[..., Any]) -> list[Parameter]:
    """Return the keyword-only parameters of a function as declarations."""
    hints = typing.get_type_hints(function)
    return [
        Parameter(name, hints.get(name, Any), given.default)
        for name, given in inspect.signature(function).parameters.items()
        if given.kind is inspect.Parameter.KEYWORD_ONLY
    ]


def _check(owner: str, parameter: Parameter, value: Value) -> Value:
    if _is_plainly(parameter, value):
        return float(value) if parameter.annotation is float else value
    from pydantic import ConfigDict, TypeAdapter, ValidationError  # loads only where it is needed

    try:
        adapter: TypeAdapter[Value] = TypeAdapter(parameter.annotation, config=ConfigDict(strict=True))
        return adapter.validate_python(value)
    except ValidationError as error:
        if parameter.choices:
            wanted = f"choose from {', '.join(map(str, parameter.choices))}"
        else:
            wanted = error.errors(include_url=False)[0]["msg"]
        msg = f"parameter {parameter.name!r} of {owner} cannot be {value!r}: {wanted}"
        raise ParameterError(msg) from None


def _is_plainly(parameter: Parameter, value: Value) -> bool:
    """Return whether a value fits a simple annotation, so that pydantic need not be loaded."""
    if parameter.choices:
        return any(type(value) is type(choice) and value == choice for choice in parameter.choices)
    if parameter.annotation is float:
        return type(value) in {int, float}
    return parameter.annotation in {bool, int, str} and type(value) is parameter.annotation
