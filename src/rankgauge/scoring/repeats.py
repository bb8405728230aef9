"""
Repeats: the scores of systems that were called several times for each sample, as one score of each sample.

A sample counts once, with the mean over its repeats, so that intervals are those of samples and never of calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from rankgauge.columns.judged_rows import Ints
from rankgauge.errors import ParameterError
from rankgauge.planning.resolve import PlannedMetric
from rankgauge.plugin.metric import WHOLE_RUN
from rankgauge.scoring.score import FAILED, MISSING, SCORED, STATUSES, UNDEFINED, Outcome
from rankgauge.scoring.scored import Scored, ScoredMetric

__all__ = ["check_repeats", "folded"]

_WORST_FIRST = (FAILED, MISSING)


def check_repeats(metrics: Iterable[PlannedMetric], most: int) -> None:
    """Raise `ParameterError` for a metric that has no score of each sample, where samples have several outputs."""
    whole = [planned.name for planned in metrics if planned.metric.aggregate == WHOLE_RUN]
    if most > 1 and whole:
        raise ParameterError(f"{whole[0]} is one value of a whole run, and a run with repeats is several; leave it out")


def folded(scored: Scored, most: int) -> Scored:
    """
    Return the scores of samples whose repeats, at *most* so many, stand behind each other: one score for each sample.

    It is the mean over the repeats that count. A sample of which a repeat failed is failed, so that a run says so.
    """
    if most == 1:
        return scored
    sizes = [len(list(same)) for _, same in groupby(scored.sample_ids)]
    starts = np.cumsum([0, *sizes])[:-1]
    return Scored(
        [scored.sample_ids[start] for start in starts.tolist()],
        [scored.tags[start] for start in starts.tolist()],
        [_folded(metric, starts, sizes) for metric in scored.metrics],
        scored.notes,
        scored.gold_keys[starts],
    )


def _folded(metric: ScoredMetric, starts: Ints, sizes: Sequence[int]) -> ScoredMetric:
    outcome = metric.outcome
    sample = np.repeat(np.arange(len(sizes)), sizes)
    repeats = np.full((len(sizes), max(sizes)), np.nan)
    repeats[sample, np.arange(len(sample)) - starts[sample]] = outcome.values
    counts = ~np.isnan(repeats)
    n = counts.sum(axis=1)
    low = np.where(counts, repeats, np.inf).min(axis=1)
    high = np.where(counts, repeats, -np.inf).max(axis=1)
    with np.errstate(invalid="ignore"):  # NaN where no repeat counts
        mean = np.where(low == high, low, np.where(counts, repeats, 0.0).sum(axis=1) / n)  # equal ones stay as they are
    status = outcome.status[starts].copy()
    reasons: dict[int, str] = {}
    for at, (start, size) in enumerate(zip(starts.tolist(), sizes, strict=True)):
        codes = outcome.status[start : start + size]
        if not codes.any():
            continue
        worst = next((code for code in _WORST_FIRST if code in codes), None)
        status[at] = (SCORED if n[at] else UNDEFINED) if worst is None else worst
        if status[at] != SCORED:
            places = start + np.flatnonzero(codes == status[at])
            reason = outcome.reasons.get(int(places[0]), STATUSES[status[at]])
            reasons[at] = reason if len(places) == size else f"{len(places)} of {size} repeats: {reason}"
    facts: list[dict[str, Any]] | None = None
    if metric.details is not None:
        facts = [{"repeats": metric.details[start : start + size]} for start, size in zip(starts, sizes, strict=True)]
    first = {source: -(-count * len(sizes) // len(sample)) for source, count in metric.k_sources.items()}
    folded_outcome = Outcome(mean, status, reasons, None, repeats)
    return metric._replace(outcome=folded_outcome, details=facts, k_sources=first)
