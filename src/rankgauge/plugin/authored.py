"""
What every declaration of a function says of it: where it comes from, and what its documentation begins with.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["Authored", "first_line"]


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
    """
    Return the first line of a function's documentation.

    Args:
        function: Any function.

    Returns:
        The line; empty where there is no documentation.
    """
    return (inspect.getdoc(function) or "").strip().partition("\n")[0]
