"""
Repeats: the scores of systems that were called several times for each sample, as one score of each sample.

A sample counts once, with the mean over its repeats, so that intervals are those of samples and never of calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from rankgauge.base.plain_text import visible
from rankgauge.columns.judged_rows import Ints
from rankgauge.errors import ParameterError, counted
from rankgauge.planning.resolve import PlannedMetric
from rankgauge.plugin.metric import POOLED, WHOLE_RUN
from rankgauge.samples import Output, Sample
from rankgauge.scoring.score import FAILED, MISSING, SCORED, STATUSES, UNDEFINED, Outcome
from rankgauge.scoring.scored import Scored, ScoredMetric

__all__ = ["check_repeats", "differing", "folded", "unsteady_note"]

_WORST_FIRST = (FAILED, MISSING)
_EXAMPLES = 3


def check_repeats(metrics: Sequence[PlannedMetric], most: int) -> None:
    """Raise `ParameterError` for a metric that has no score of each sample, if samples have several outputs."""
    whole = [planned.name for planned in metrics if planned.metric.aggregate == WHOLE_RUN]
    if most > 1 and whole:
        raise ParameterError(f"{whole[0]} is one value of a whole run, and a run with repeats is several; leave it out")
    pooled = [planned.name for planned in metrics if planned.metric.aggregate == POOLED]
    if most > 1 and pooled:
        raise ParameterError(
            f"{pooled[0]} pools samples that have one output each, and these have repeats; leave it out"
        )


def differing(samples: Iterable[Sample]) -> Iterator[str]:
    """Yield the ids of samples, whose repeats are behind each other, that were answered with another ranking."""
    for name, repeats in groupby(samples, lambda sample: sample.id):
        outputs = (sample.output for sample in repeats)
        if len({_ranking(output) for output in outputs if isinstance(output, Output)}) > 1:
            yield name


def _ranking(output: Output) -> tuple[str | None, ...]:
    """Return what tells the items of an output apart: the id of each, or its text."""
    if None not in output.ids:
        return tuple(output.ids)
    return tuple(name or text for name, text in zip(output.ids, output.texts or output.ids, strict=True))


def unsteady_note(sample_ids: Sequence[str], whose: str) -> str:
    """Say that answers differ from call to call, and whose they are; empty if none does."""
    if not sample_ids:
        return ""
    shown = ", ".join(map(visible, sample_ids[:_EXAMPLES])) + (", ..." if len(sample_ids) > _EXAMPLES else "")
    were = "was" if len(sample_ids) == 1 else "were"
    return (
        f"{counted(len(sample_ids), 'sample')} {were} answered with another ranking when asked again ({shown}); this "
        f"comes from {whose}, so two runs may differ although nothing was changed"
    )


def folded(scored: Scored, most: int) -> Scored:
    """
    Return the scores of samples whose repeats, at *most* so many, are behind each other: one score for each sample.

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
    with np.errstate(invalid="ignore"):  # NaN if no repeat counts
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
