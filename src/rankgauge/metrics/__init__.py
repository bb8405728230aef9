"""
The built-in metrics, one family a file; they enter the catalog through rankgauge's own entry point.

A family is imported when one of its names is asked for, or all are. In all of them *judged* holds the rankings of a
batch of samples, and *k* is how many results count, for all samples or for each; None for all.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence

from rankgauge.metrics.names import FAMILIES, FAMILY_OF
from rankgauge.plugin import Scores, aggregate, hookimpl
from rankgauge.plugin.signature import declared_in
from rankgauge.stats import AGGREGATES

__all__ = ["Family", "family_of"]


@hookimpl
def rankgauge_metrics() -> Sequence[Callable[..., Scores]]:
    """Return every built-in metric."""
    return [function for family in FAMILIES for function in _declared(family)]


@hookimpl
def rankgauge_aggregates() -> Sequence[Callable[[Sequence[float]], float]]:
    """Return every built-in aggregate."""
    return [aggregate(name)(function) for name, function in AGGREGATES.items()]


class Family:
    """The metrics of one family, as a plugin."""

    def __init__(self, name: str) -> None:
        self._name = name

    @hookimpl
    def rankgauge_metrics(self) -> Sequence[Callable[..., Scores]]:
        """Return the metrics of the family."""
        return _declared(self._name)


def family_of(name: str) -> str | None:
    """Return the family that has a metric of this name, in lower case; None if there is none."""
    return FAMILY_OF.get(name)


def _declared(family: str) -> list[Callable[..., Scores]]:
    return declared_in(importlib.import_module(f"{__name__}.{family}"))
