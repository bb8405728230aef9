"""
What a column is called: by the name that it was asked for, and by one that is the same whoever asks.
"""

from __future__ import annotations

from typing import NamedTuple

from rankgauge.catalog import Catalog
from rankgauge.expression import MetricExpression, Value
from rankgauge.planning.cutoffs import Cut
from rankgauge.planning.requests import USUAL_BUDGET, Bound

__all__ = ["Names", "names_of", "unusual_engine"]


class Names(NamedTuple):
    """What a column is called."""

    expression: MetricExpression  # expanded
    standard: str  # whatever name it was asked for by
    asked: str  # by the name it was asked for, where that is a short one


def names_of(bound: Bound, cut: Cut, catalog: Catalog) -> Names:
    """Return the names of a column."""
    request, metric = bound.request, bound.metric
    short = catalog.short_name(metric) if request.given is None else next(iter(metric.plain_short), None)
    number, unit = cut.behind_at
    is_uncut = cut.rule == "none" and metric.cutoff.kind == "droppable"
    engine = unusual_engine(bound)
    expression = MetricExpression(
        (short or metric.alias).lower() if is_uncut else metric.alias,
        {**{key: value for key, value in bound.params.items() if value != bound.defaults[key]}, **engine},
        k=number,
        unit=unit,
    )
    if request.name is not None:
        return Names(expression, request.name, request.name)
    pinned = None if metric.cutoff.pins is None else bound.explicit.get(metric.cutoff.pins)
    usual = {**bound.defaults, **bound.usual}
    unusual = {key: value for key, value in bound.explicit.items() if value != usual[key] and key != metric.cutoff.pins}
    behind_at = pinned if isinstance(pinned, int | float) else number

    def written(name: str) -> str:
        return str(MetricExpression(name, {**unusual, **engine}, k=behind_at, unit=unit))

    is_short = is_uncut or number is not None or pinned is not None
    standard = written(short.lower() if is_short and short is not None else metric.alias)
    asked = request.expression.name.lower()
    leaves_nothing_out = is_short or (cut.rule == "none" and metric.cutoff.pins is None)
    if leaves_nothing_out and asked in {plain.lower() for plain in metric.plain_short}:
        return Names(expression, standard, written(asked))
    return Names(expression, standard, standard)


def unusual_engine(bound: Bound) -> dict[str, Value]:
    """Return what a request asks of the engine, without what is usual for budgets, spans and the metric."""
    usual = {**USUAL_BUDGET, "joint": False, "aggregate": bound.metric.aggregate}
    return {name: value for name, value in bound.request.engine.items() if (name, value) not in usual.items()}
