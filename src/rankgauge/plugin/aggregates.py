"""
Aggregate declarations: how the scores of many samples become one number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rankgauge.plugin.authored import Authored, plain_name

__all__ = ["Aggregate", "AggregateFunction", "aggregate"]

AggregateFunction = Callable[[Sequence[float]], float]
F = TypeVar("F", bound=AggregateFunction)


@dataclass(frozen=True, slots=True)
class Aggregate(Authored):
    """A way to make one number of the scores of many samples; the fields are the arguments of `aggregate`."""

    name: str
    function: AggregateFunction
    version: str = "1"


def aggregate(name: str, *, version: str = "1") -> Callable[[F], F]:
    """
    Declare an aggregate, such as a median: ``(values: Sequence[float]) -> float``.

    The function is given the scores that count, at least one, in ascending order, so that it cannot depend on the order
    of samples, and merged parts of a run aggregate to the same bits as the whole. Metrics ask for it by name:
    ``@metric(..., aggregate="median")``.

    Args:
        name: Lower-case words joined by hyphens.

        version: Raise it when the definition changes.

    Returns:
        A decorator that leaves the function as it is.

    Raises:
        DeclarationError: When applied: the name cannot be used.
    """

    def decorate(function: F) -> F:
        function.__rankgauge__ = Aggregate(plain_name(name), function, version)  # type: ignore[attr-defined]  # functions allow it
        return function

    return decorate
