"""
Deprecation: names that still work, and warn of the version in which they go and of what to use instead.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

__all__ = ["Deprecated", "deprecated_names"]


class Deprecated(NamedTuple):
    """
    What became of a name.

    Attributes:
        instead: Where its successor is, as ``module:name``, such as ``rankgauge:Engine``.

        gone_in: The distribution and version in which the old name goes, such as ``rankgauge 0.3``.
    """

    instead: str
    gone_in: str


def deprecated_names(module: str, names: Mapping[str, Deprecated]) -> Callable[[str], Any]:
    """
    Return a ``__getattr__`` for a module from which names have moved.

    ::

        __getattr__ = deprecated_names(__name__, {"Suite": Deprecated("rankgauge:HostScorer", "acme-hosts 2.0")})

    Every use of such a name warns with a `DeprecationWarning`, which names the line that uses it.

    Args:
        module: The module's ``__name__``.

        names: What became of each name that is not there any more.

    Returns:
        The function. It raises `AttributeError` for every other name, as Python does.
    """

    def getattribute(name: str) -> Any:  # noqa: ANN401  # whatever the name stands for
        moved = names.get(name)
        if moved is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home, _, successor = moved.instead.partition(":")
        told = f"{module}.{name} is deprecated and goes in {moved.gone_in}; use {home}.{successor}"
        warnings.warn(told, DeprecationWarning, stacklevel=2)
        return getattr(importlib.import_module(home), successor)

    return getattribute
