"""The built-in metrics, one family a file; they enter the catalog through rankgauge's own entry point."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rankgauge.metrics import (
    answer,
    average_precision,
    bpref,
    compatibility,
    counts,
    cwl,
    cwl_expectations,
    diversity,
    err,
    gain,
    hit,
    interpolated_precision,
    judged_at_k,
    keyword,
    ndcg,
    ndcg_averages,
    novelty,
    nuggets,
    pairs,
    precision,
    rbp,
    recall,
    reciprocal_rank,
    sets,
)
from rankgauge.plugin import Scores, aggregate, hookimpl
from rankgauge.plugin.authored import declared_in
from rankgauge.stats import AGGREGATES

__all__: list[str] = []

_FAMILIES = (
    *(hit, recall, precision, reciprocal_rank, average_precision, interpolated_precision, bpref, ndcg, err, rbp),
    *(compatibility, gain, ndcg_averages, pairs, cwl, cwl_expectations, novelty, diversity, sets, judged_at_k, counts),
    *(answer, nuggets, keyword),
)


@hookimpl
def rankgauge_metrics() -> Sequence[Callable[..., Scores]]:
    """Return every built-in metric."""
    return [function for family in _FAMILIES for function in declared_in(family)]


@hookimpl
def rankgauge_aggregates() -> Sequence[Callable[[Sequence[float]], float]]:
    """Return every built-in aggregate."""
    return [aggregate(name)(function) for name, function in AGGREGATES.items()]
