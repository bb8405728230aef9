"""
Aggregation: how the scores of a column become one number, by a built-in aggregate or that of a plugin.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from rankgauge.catalog import Catalog
from rankgauge.errors import CatalogError
from rankgauge.guard import ForeignError, guarded, shown
from rankgauge.logs import logger
from rankgauge.plugin.aggregates import AggregateFunction
from rankgauge.stats import AGGREGATES, aggregate

__all__ = ["aggregated"]


def aggregated(
    values: Sequence[float], how: str, function: AggregateFunction | None, provider: Mapping[str, Any] | None
) -> float | None:
    """
    Return one number of scores; None for nothing (whose sum is 0), and where the aggregate of a plugin fails.

    A result that was loaded has no *function*: it is looked up among the installed plugins. What fails is logged, so
    that the other columns of a result can still be saved and shown.
    """
    if how in AGGREGATES:
        return aggregate(values, how)
    if not values:
        return None
    by = " ".join(str((provider or {}).get(key) or "") for key in ("distribution", "version")).strip() or "this process"
    try:
        with guarded(CatalogError):
            value = float((function or _installed(how))(sorted(values)))
    except (ForeignError, CatalogError) as error:
        logger("result").warning("aggregate %r of %s gives no value: %s", how, by, error)
        return None
    if not math.isfinite(value):
        logger("result").warning("aggregate %r of %s gives %s, which is no value", how, by, shown(value))
        return None
    return value


@functools.cache
def _installed(name: str) -> AggregateFunction:
    return Catalog.discover().aggregate(name).declaration.function
