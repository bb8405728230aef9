"""
Bounds: the worst and the best case of a mean, whatever unjudged results turn out to be.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rankgauge.columns import Judged, Scores
from rankgauge.errors import PolicyError
from rankgauge.explain.extremes import EXTREMES, IDEALS, Extremes, binary
from rankgauge.planning.plan import Plan
from rankgauge.planning.resolve import PlannedMetric
from rankgauge.plugin.metric import POOLED
from rankgauge.policy import Policy
from rankgauge.stats import aggregate, weighted_mean

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
        raise PolicyError(
            "policy judged_only=true drops every unjudged result, so bounds say nothing; leave one of the two out"
        )
    if policy.settles_ties_late:
        raise PolicyError(
            f"bounds need settled ranks, which policy ties={policy.ties} has not; choose ties=docno or given"
        )
    if policy.duplicates in {"keep", "credit-once"}:
        raise PolicyError(
            f"bounds need distinct results, and policy duplicates={policy.duplicates} lets one be at several ranks; "
            "choose duplicates=first, last, best or error"
        )


def mean_bounds(
    plan: Plan, metric: PlannedMetric, judged: Judged, values: Scores, top: float, weights: Scores | None = None
) -> Bounds | None:
    """
    Return the worst and the best case of a mean, over everything that retrieved but unjudged results might be.

    *values* are the scores in the mean now, NaN for those that are not, which stay out of it; *top* is the highest
    grade that an unjudged result may get, and *weights* are how much each sample counts. None if no bounds are known
    for the metric with these parameters, or nothing is in the mean.
    """
    formula, is_counted = EXTREMES.get(metric.metric.alias), ~np.isnan(values)
    is_pooled = metric.metric.aggregate == POOLED  # of denominators that depend on judgments nothing is known
    if formula is None or is_pooled or not is_counted.any():
        return None
    parameters = inspect.signature(formula).parameters
    if not set(metric.params) <= set(parameters) or metric.params.get("ideal", "gold") not in IDEALS:
        return None
    data = {"k": metric.cut.resolve([None], plan.default_k)[0], "top": top}
    if metric.infers_max_grade:
        data["max_grade"] = float(judged.gold.grade.max(initial=0.0))
    params = {**metric.params, **{name: value for name, value in data.items() if name in parameters}}
    judged = judged if metric.rel is None else judged.at_least(metric.rel)
    if plan.profile.negatives == "judged":
        judged = _without_negatives(judged)
    uses_rel = metric.metric.judging.uses_rel is True or metric.rel is not None
    if uses_rel and not judged.relevance.holds(top):  # whatever is judged, nothing more is relevant
        extremes = Extremes(values, values)
    else:
        if metric.rel is not None and metric.metric.judging.uses_rel == "binary":
            judged, params = binary(judged), {**params, "top": 1.0}
        parts = [formula(part, **params) for part in _parts(judged)]
        extremes = Extremes(*map(np.concatenate, zip(*parts, strict=True)))

    def mean_of(scores: Scores) -> float | None:
        if weights is None:
            return aggregate(scores[is_counted], metric.metric.aggregate)
        return weighted_mean(scores[is_counted], weights[is_counted])

    worst, best = mean_of(np.fmin(extremes.worst, values)), mean_of(np.fmax(extremes.best, values))
    return None if worst is None or best is None else Bounds(worst, best)


def _without_negatives(judged: Judged) -> Judged:
    """Return the same columns where items with a negative grade are judged, and worth nothing."""
    if judged.relevance.holds(0.0):
        return judged
    rows, gold = (table._replace(grade=np.maximum(table.grade, 0.0)) for table in (judged.rows, judged.gold))
    return replace(judged, rows=rows, gold=gold)


def _parts(judged: Judged) -> Iterator[Judged]:
    """Yield the samples in stretches whose rankings together have a bounded number of ranks."""
    begin = 0
    while begin < judged.n:
        widest = np.maximum.accumulate(judged.depth[begin:])
        sizes = widest * np.arange(1, len(widest) + 1)
        count = max(1, int(np.searchsorted(sizes, _AT_ONCE, side="right")))
        yield judged.take(np.arange(begin, begin + count))
        begin += count
