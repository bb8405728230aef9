"""
Options that a function takes as ``**options: Unpack[...]``: refused by name, and listed by `help()` one by one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TypeVar

from rankgauge.errors import ParameterError, RankgaugeError, did_you_mean

__all__ = ["check_names", "listing"]

_Function = TypeVar("_Function", bound=Callable[..., object])


def listing(options: type, defaults: Mapping[str, object]) -> Callable[[_Function], _Function]:
    """
    Make `help()` and `inspect.signature` list the options that a function takes by a `TypedDict`, with their defaults.

    Type checkers and editors read them from the `TypedDict`; what looks at a running program would see none.
    """

    def listed(function: _Function) -> _Function:
        signature = inspect.signature(function)
        own = list(signature.parameters.values())[:-1]
        further = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=defaults[name],
                annotation=getattr(kind, "__forward_arg__", kind),
            )
            for name, kind in options.__annotations__.items()
        ]
        function.__signature__ = signature.replace(parameters=[*own, *further])  # type: ignore[attr-defined]  # read by `inspect`
        return function

    return listed


def check_names(
    function: str, given: Iterable[str], known: Collection[str], error: type[RankgaugeError] = ParameterError
) -> None:
    """Refuse options of other names than those that a function takes."""
    for name in given:
        if name not in known:
            raise error(f"{function}() has no option {name!r}{did_you_mean(name, known)}")
