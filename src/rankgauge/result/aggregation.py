"""
Aggregation: how the scores of a column become one number, by a built-in aggregate or that of a plugin.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from rankgauge.base.guard import ForeignError, guarded, shown
from rankgauge.base.logs import logger
from rankgauge.catalog import Catalog
from rankgauge.columns import has_mask, unmasked
from rankgauge.errors import CatalogError
from rankgauge.expression import MetricExpression
from rankgauge.plugin.declarations import AggregateFunction
from rankgauge.plugin.metric import POOLED, WHOLE_RUN, declared
from rankgauge.stats import AGGREGATES, aggregate

__all__ = ["Aggregated", "aggregated", "aggregator_in", "counted", "whole_run"]

_FEW = 64


class Aggregated(NamedTuple):
    """
    What a column comes to.

    Attributes:
        value: The number; None if there is none.

        failure: What went wrong in a plugin's function; empty if nothing did.
    """

    value: float | None
    failure: str = ""


def counted(values: NDArray[np.float64]) -> Sequence[float] | NDArray[np.float64]:
    """Return the scores that count, which are not NaN: of few as a list, which is faster there, of many as an array."""
    if len(values) < _FEW:
        return [value for value in values.tolist() if value == value]  # noqa: PLR0124  # not NaN
    return values[~absent] if np.count_nonzero(absent := np.isnan(values)) else values


def aggregated(
    values: Sequence[float] | NDArray[np.float64],
    how: str,
    function: AggregateFunction | None,
    provider: Mapping[str, Any] | None,
    *,
    higher_is_better: bool,
) -> Aggregated:
    """
    Return one number of scores; None for nothing (whose sum is 0), and where the aggregate of a plugin fails.

    A result that was loaded has no *function*: it is looked up among the installed plugins. What fails is logged, so
    that the other columns of a result can still be saved and shown.
    """
    if how in AGGREGATES:
        return Aggregated(aggregate(values, how))
    if not len(values):
        return Aggregated(None)

    def compute() -> float:
        aggregate_of = function or Catalog.installed().aggregate(how).declaration.function
        takes = inspect.signature(aggregate_of).parameters
        direction = {"higher_is_better": higher_is_better} if "higher_is_better" in takes else {}
        return aggregate_of(np.sort(values).tolist(), **direction)

    return _valued(f"aggregate {how!r}", provider, compute)


def whole_run(
    rankings: Sequence[Sequence[str]],
    alias: str,
    function: Callable[..., Any] | None,
    settings: Mapping[str, Any],
    provider: Mapping[str, Any],
) -> Aggregated:
    """
    Return the value of a metric of whole runs; None without a ranking, and where the metric fails.

    The *settings* are its parameters and its cutoff. As for `aggregated`, the function of a loaded result is looked up.
    """
    if not rankings:
        return Aggregated(None)

    def compute() -> float | None:
        found = function or _metric_of(Catalog.installed(), alias)
        metric = declared(found)
        names = [] if metric is None else [parameter.name for parameter in metric.parameters]
        names += [] if metric is None else metric.cutoff.given(None)
        value: float | None = found(sorted(rankings), **{name: settings[name] for name in names})
        return value

    return _valued(f"metric {alias!r}", provider, compute)


def _valued(what: str, provider: Mapping[str, Any] | None, call: Callable[[], float | None]) -> Aggregated:
    """Return what a plugin's function gives; if it fails, no number, and the reason, which is also logged."""
    by = " ".join(str((provider or {}).get(key) or "") for key in ("distribution", "version")).strip() or "this process"
    try:
        with guarded(CatalogError):
            returned = call()
            value = math.nan if returned is None else float(unmasked(returned) if has_mask(returned) else returned)
    except (ForeignError, CatalogError) as error:
        failure = f"{what} of {by} gives no value: {error}"
    else:
        if math.isfinite(value) or returned is None:
            return Aggregated(None if returned is None else value)
        failure = f"{what} of {by} gives {shown(value)}, which is no value"
    logger("result").warning("%s", failure)
    return Aggregated(None, failure)


def _metric_of(catalog: Catalog, alias: str) -> Callable[..., Any]:
    return catalog.read(MetricExpression(alias)).claim.declaration.function


def aggregator_in(catalog: Catalog, aggregate: str, alias: str) -> Callable[..., Any] | None:
    """
    Return the function of a catalog behind the aggregate of a column; None for a built-in one.

    For one that the catalog lacks it is a function that says so, and nothing else is looked through.
    """
    if aggregate in {*AGGREGATES, POOLED}:
        return None
    try:
        if aggregate == WHOLE_RUN:
            return _metric_of(catalog, alias)
        return catalog.aggregate(aggregate).declaration.function
    except CatalogError as error:
        return _Absent(str(error))


@dataclass(frozen=True, slots=True)
class _Absent:
    """An aggregate that a catalog lacks; it can be pickled, and says why when it is called."""

    why: str

    def __call__(self, *_: object, **__: object) -> NoReturn:
        raise CatalogError(self.why)
