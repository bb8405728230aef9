"""
Changes: how much a score would change if one more document were judged, found by scoring it both ways.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from rankgauge.columns import Floats, Ints, Judged, Rows
from rankgauge.judging import Evidence
from rankgauge.planning.plan import Plan
from rankgauge.planning.resolve import PlannedMetric
from rankgauge.scoring.score import JudgedBatch, score_metric

__all__ = ["changes", "with_one_more"]

_AT_ONCE = 1 << 20
"""How many judged and gold rows are scored at once, more or less."""


def changes(plan: Plan, metric: PlannedMetric, judged: Judged, samples: Ints, ranks: Ints, grade: float) -> Floats:
    """
    Return how much a score changes when one unjudged document gets a grade.

    Each document is one of *samples* with the rank at which the run has it, 0 where the run does not retrieve it, which
    still changes what the run could have found. A sample without a score counts as 0.
    """
    extra = {"max_grade": max(grade, float(judged.gold.grade.max(initial=0.0)))} if metric.infers_max_grade else {}

    def scores(of: Judged) -> Floats:
        batch = JudgedBatch(dict.fromkeys(plan.targets, Evidence(of)), {}, [None] * of.n)
        return np.nan_to_num(score_metric(plan, metric, metric.targets[0], batch, extra).outcome.values)

    before = scores(judged)
    after = np.empty(len(samples))
    for part in _parts(judged, samples):
        after[part] = scores(with_one_more(judged.take(samples[part]), ranks[part], grade))
    return after - before[samples]


def with_one_more(judged: Judged, ranks: Ints, grade: float) -> Judged:
    """Return the samples with one more gold item each, retrieved at the rank given, or nowhere where that is 0."""
    n = judged.n
    own, new = np.arange(n), np.flatnonzero(ranks > 0)
    n_gold = len(judged.gold.sample)
    counts = np.bincount(judged.gold.sample, minlength=n)
    gold = _joined(judged.gold, Rows(own, counts + 1, np.full(n, grade), n_gold + own))
    rows = _joined(judged.rows, Rows(new, ranks[new], np.full(len(new), grade), n_gold + new))
    place = np.argsort(gold_order := np.lexsort((gold.rank, gold.sample)))
    rows = rows._replace(gold=place[rows.gold])
    row_order = np.lexsort((rows.rank, rows.sample))
    in_order = gold.where(gold_order)._replace(gold=np.arange(n_gold + n))
    return dataclasses.replace(
        judged,
        rows=rows.where(row_order),
        first=np.append(judged.first, np.ones(len(new), dtype=np.bool_))[row_order],
        earns=np.append(judged.earns, np.ones(len(new), dtype=np.bool_))[row_order],
        score=np.append(judged.score, np.ones(len(new)))[row_order],
        gold=in_order,
        times=np.append(judged.times, np.ones(n, dtype=np.int64))[gold_order],
        depth=np.maximum(judged.depth, ranks),
    )


def _joined(first: Rows, second: Rows) -> Rows:
    return Rows(*(np.concatenate(columns) for columns in zip(first, second, strict=True)))


def _parts(judged: Judged, samples: Ints) -> Iterator[slice]:
    """Yield stretches of the documents whose samples have a bounded number of rows together."""
    sizes = np.bincount(np.append(judged.rows.sample, judged.gold.sample), minlength=judged.n)
    ends = np.cumsum(sizes[samples] + 2)
    begin = 0
    while begin < len(samples):
        done = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, done + _AT_ONCE, side="right")))
        yield slice(begin, end)
        begin = end
