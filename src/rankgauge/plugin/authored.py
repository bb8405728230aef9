"""
What declarations of functions share: the author's function and the first line of its documentation.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any, Protocol

__all__ = ["Authored", "declared_in", "first_line"]


class _HasFunction(Protocol):
    @property
    def function(self) -> Callable[..., Any]: ...


class Authored:
    """A declaration of one function, which is its attribute `function`."""

    __slots__ = ()

    @property
    def source(self: _HasFunction) -> Callable[..., Any]:
        """Return the function that the author wrote."""
        return self.function

    @property
    def summary(self: _HasFunction) -> str:
        """Return the first line of its documentation."""
        return first_line(self.function)


def first_line(function: Callable[..., Any]) -> str:
    """Return the first line of a function's documentation."""
    return (inspect.getdoc(function) or "").strip().partition("\n")[0]


def declared_in(module: ModuleType) -> list[Callable[..., Any]]:
    """Return the functions in a module's `__all__` that carry a declaration."""
    named = [getattr(module, name) for name in module.__all__]
    return [function for function in named if hasattr(function, "__rankgauge__")]
