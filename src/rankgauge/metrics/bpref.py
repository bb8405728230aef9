"""
Measures for incomplete judgments: bpref and inferred average precision, which skip unjudged items.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankgauge.metrics.family import per_gold
from rankgauge.plugin import Judged, Scores, metric

__all__ = ["bpref", "geometric_bpref", "inferred_average_precision"]

_EPSILON = 1e-5
"""What trec_eval adds to avoid division by zero when nothing above was judged."""


@metric(
    "retrieval-bpref",
    short=("bpref",),
    laws=("bounded", "perfect-is-one", "best-first", "relevant-helps", "padding", "tail", "duplicates"),
)
def bpref(judged: Judged) -> Scores:
    """
    How far the relevant items rank above judged nonrelevant ones.

    Formula: ``bpref = 1/R * sum over relevant retrieved items of 1 - min(n, R) / min(N, R)``, where *n* counts the
    judged nonrelevant items above it and *N* those of the ground truth; an item with none above counts 1. Items that
    nobody judged are skipped, and so are negative grades, in *N* too. Source: trec_eval, measure `bpref`; Buckley &
    Voorhees, Retrieval evaluation with incomplete information, SIGIR 2004.

    When to use it: judgments are incomplete, and unjudged items should not count as wrong.

    Args:
        judged: The rankings of a batch of samples.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    relevant, nonrelevant = _known(judged)
    sample = judged.rows.sample[relevant]
    above = _above(judged, nonrelevant)[relevant]
    wanted = judged.n_gold()
    grades = judged.gold.grade
    others = judged.gold.sample[(grades >= 0) & ~judged.relevance.of(grades)]
    bound = np.minimum(np.bincount(others, minlength=judged.n), wanted)[sample]
    lost = np.divide(np.minimum(above, wanted[sample]), bound, out=np.zeros(len(sample)), where=above > 0)
    with np.errstate(invalid="ignore"):
        return np.bincount(sample, weights=1.0 - lost, minlength=judged.n) / wanted


@metric(
    "retrieval-gm-bpref",
    short=("gm_bpref",),
    aggregate="geometric",
    laws=("bounded", "perfect-is-one", "best-first", "relevant-helps", "padding", "tail", "duplicates"),
)
def geometric_bpref(judged: Judged) -> Scores:
    """
    Bpref, averaged over samples by the geometric mean.

    Formula: ``exp(mean of ln(max(bpref, 0.00001)))``; the score of one sample is its bpref. Source: trec_eval, measure
    `gm_bpref`.

    When to use it: like `retrieval-gm-map`, when judgments are incomplete.

    Args:
        judged: The rankings of a batch of samples.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    return bpref(judged)


@metric(
    "retrieval-inf-ap", short=("infAP", "inf_ap"), laws=("bounded", "relevant-helps", "padding", "tail", "duplicates")
)
def inferred_average_precision(judged: Judged) -> Scores:
    """
    Average precision, estimated from a sample of judgments.

    Formula: ``infAP = 1/R * sum over relevant ranks i of 1/i + (i-1)/i * (p / (i-1)) * (r + e) / (r + n + 2e)``, where
    *r* and *n* count the relevant and the judged nonrelevant items above rank i, *p* these and those with a negative
    grade (pooled, but left out of the sample that was judged), and e is 0.00001; a relevant item at rank 1 counts 1.
    Equal to average precision, but for e, where everything was judged. Source: trec_eval, measure `infAP`; Yilmaz &
    Aslam, Estimating average precision with incomplete and imperfect judgments, CIKM 2006.

    When to use it: only a random sample of a pool was judged, and the rest of the pool carries grade -1.

    Args:
        judged: The rankings of a batch of samples.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    relevant, nonrelevant = _known(judged)
    ahead = judged.rows.rank[relevant] - 1
    rel = _above(judged, relevant)[relevant]
    nonrel = _above(judged, nonrelevant)[relevant]
    pooled = _above(judged, judged.first & (judged.rows.grade < 0) & ~relevant)[relevant]
    share = np.divide(rel + nonrel + pooled, ahead, out=np.zeros(len(ahead)), where=ahead > 0)
    inferred = (rel + _EPSILON) / (rel + nonrel + 2 * _EPSILON)
    value = np.where(ahead == 0, 1.0, 1.0 / (ahead + 1) + ahead / (ahead + 1) * share * inferred)
    return per_gold(judged, np.bincount(judged.rows.sample[relevant], weights=value, minlength=judged.n))


def _known(judged: Judged) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which rows count as relevant, and which are the first to hold an item judged nonrelevant."""
    holds = judged.relevance.of(judged.rows.grade)
    once = judged.earns if judged.counts_repeats else judged.earns & judged.first
    return holds & once, ~holds & judged.first & (judged.rows.grade >= 0)


def _above(judged: Judged, counted: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return for each row how many rows of *counted* stand above it in its sample."""
    running: NDArray[np.int64] = np.cumsum(counted) - counted
    sample = judged.rows.sample
    return running - running[np.searchsorted(sample, sample)] if len(sample) else running
