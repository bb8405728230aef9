"""
What declarations of functions share: the author's function and the first line of its documentation.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

from rankgauge.errors import DeclarationError

__all__ = ["PLAIN_NAME", "Authored", "declared_in", "first_line", "plain_name"]

PLAIN_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
"""Lower-case words joined by hyphens."""


class Authored:
    """A declaration of one function, which is its attribute `function`."""

    __slots__ = ()
    function: Callable[..., Any]

    @property
    def source(self) -> Callable[..., Any]:
        """Return the function that the author wrote."""
        return self.function

    @property
    def summary(self) -> str:
        """Return the first line of its documentation."""
        return first_line(self.function)


def first_line(function: Callable[..., Any]) -> str:
    """Return the first line of a function's documentation."""
    return (inspect.getdoc(function) or "").strip().partition("\n")[0]


def plain_name(name: str) -> str:
    """Return a name of lower-case words joined by hyphens; refuse any other."""
    if not isinstance(name, str) or PLAIN_NAME.fullmatch(name) is None:
        msg = f"{name!r} is not a usable name: write lower-case words joined by hyphens"
        raise DeclarationError(msg)
    return name


def declared_in(module: ModuleType) -> list[Callable[..., Any]]:
    """Return the functions of a module, not those it imports, that carry a declaration."""
    named = [value for value in vars(module).values() if hasattr(value, "__rankgauge__")]
    return [function for function in named if function.__module__ == module.__name__]
