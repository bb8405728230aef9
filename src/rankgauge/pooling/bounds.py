"""
Bounds: the worst and the best case of a mean, whatever unjudged results turn out to be.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rankgauge.columns import Judged, Scores
from rankgauge.errors import PolicyError
from rankgauge.planning.plan import Plan
from rankgauge.planning.resolve import PlannedMetric
from rankgauge.policy import Policy
from rankgauge.pooling.extremes import EXTREMES, Extremes
from rankgauge.stats import aggregate

__all__ = ["Bounds", "check_bounds", "mean_bounds"]

_AT_ONCE = 1 << 20
"""How many ranks are laid out at once, more or less."""


class Bounds(NamedTuple):
    """
    The worst and the best case of a mean.

    Attributes:
        worst: The lowest value that the mean can take.

        best: The highest.
    """

    worst: float
    best: float


def check_bounds(policy: Policy) -> None:
    """Refuse a policy under which it is not known which ranks hold which unjudged item, or there are none."""
    if policy.judged_only:
        msg = "policy judged_only=true drops every unjudged result, so bounds say nothing; leave one of the two out"
        raise PolicyError(msg)
    if policy.averages_ties:
        msg = "bounds need settled ranks, which policy ties=average has not; choose ties=docno or given"
        raise PolicyError(msg)
    if policy.duplicates in {"keep", "credit-once"}:
        msg = (
            f"bounds need distinct results, and policy duplicates={policy.duplicates} lets one stand at several ranks; "
            "choose duplicates=first, last, best or error"
        )
        raise PolicyError(msg)


def mean_bounds(plan: Plan, metric: PlannedMetric, judged: Judged, values: Scores, top: float) -> Bounds | None:
    """
    Return the worst and the best case of a mean, over everything that retrieved but unjudged results might be.

    *values* are the scores in the mean now, NaN for those that are not, which stay out of it; *top* is the highest
    grade that an unjudged result may get. None where no bounds are known for the metric with these parameters, or
    nothing is in the mean.
    """
    formula = EXTREMES.get(metric.metric.alias)
    if formula is None or not _takes(formula, metric) or np.isnan(values).all():
        return None
    offered = {"k": metric.cut.resolve([None], plan.default_k)[0], "top": top}
    if metric.infers_max_grade:
        offered["max_grade"] = float(judged.gold.grade.max(initial=0.0))
    taken = {name: value for name, value in offered.items() if name in inspect.signature(formula).parameters}
    judged = judged if metric.rel is None else judged.at_least(metric.rel)
    parts = [formula(part, **{**metric.params, **taken}) for part in _parts(judged)]
    found = Extremes(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    counted = ~np.isnan(values)
    worst, best = np.fmin(found.worst, values)[counted], np.fmax(found.best, values)[counted]
    low, high = (aggregate(each, metric.metric.aggregate) for each in (worst, best))
    return None if low is None or high is None else Bounds(low, high)


def _takes(formula: object, metric: PlannedMetric) -> bool:
    """Return whether a formula covers the parameters of a column."""
    known = inspect.signature(formula).parameters  # type: ignore[arg-type]  # a function of the table
    unlike_gold = str(metric.params.get("ideal", "gold")).startswith("retrieved")
    return set(metric.params) <= set(known) and not unlike_gold


def _parts(judged: Judged) -> Iterator[Judged]:
    """Yield the samples in stretches whose rankings together have a bounded number of ranks."""
    begin = 0
    while begin < judged.n:
        widest = np.maximum.accumulate(judged.depth[begin:])
        sizes = widest * np.arange(1, len(widest) + 1)
        count = max(1, int(np.searchsorted(sizes, _AT_ONCE, side="right")))
        yield judged.take(np.arange(begin, begin + count))
        begin += count
