"""
Judged@k and unjudged@k: how many of the retrieved items the ground truth judges, and how many not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankgauge.metrics.family import has_grades
from rankgauge.metrics.ties import share_within, tied
from rankgauge.plugin import Cutoff, Judged, Scores, metric

__all__ = ["judged_at_k", "unjudged_at_k"]


def _expected(judged: Judged, *, k: Cutoff | None) -> Scores:
    ties = tied(judged, judged.first)
    with np.errstate(invalid="ignore"):
        found = judged.sum(ties.rows, share_within(ties, k)) / _looked_at(judged, k)
    return np.where(judged.graded, found, np.nan)


def _details(judged: Judged, *, k: Cutoff | None) -> dict[str, list[int]]:
    return {"judged_ranks": judged.judged_ranks(k).tolist(), "depth": judged.depth.tolist()}


@metric(
    "retrieval-judged-at-k",
    short=("judged", "Judged"),
    uses_rel=False,
    laws=("bounded", "relevant-helps", "tail"),
    defined=has_grades,
    undefined="the ground truth is a plain list, which judges only what it lists, or nothing was retrieved",
    details=_details,
    joins=("top_k",),
    expectation=_expected,
)
def judged_at_k(judged: Judged, *, k: Cutoff | None) -> Scores:
    """
    Fraction of the first *k* retrieved items that the ground truth judges, with any gain.

    Formula: ``judged@k = |ranks up to k whose item is judged| / min(k, depth)``. Source: the coverage figure that
    ir_measures reports as `Judged@k`.

    When to use it: beside any other score, to see how much unjudged items may distort it.

    Args:
        judged: The rankings of a batch of samples.

        k: How many results count, for all samples or for each; None for all.

    Returns:
        Shape (n,), from 0 to 1; NaN where the ground truth is a plain list or nothing was retrieved.
    """
    with np.errstate(invalid="ignore"):
        return np.where(judged.graded, judged.judged_ranks(k) / _looked_at(judged, k), np.nan)


def _looked_at(judged: Judged, k: Cutoff | None) -> NDArray[np.int64]:
    return judged.depth if k is None else np.minimum(judged.depth, k)


def _unjudged_expected(judged: Judged, *, k: Cutoff) -> Scores:
    ties = tied(judged, judged.first & (judged.rows.grade >= 0))
    known = judged.sum(ties.rows, share_within(ties, k))
    return np.where(judged.graded, (np.minimum(judged.depth, k) - known) / k, np.nan)


@metric(
    "retrieval-unjudged-at-k",
    short=("unj", "unjudged", "unj_{k}"),
    uses_rel=False,
    higher_is_better=False,
    describes=True,
    laws=("bounded",),
    defined=has_grades,
    undefined="the ground truth is a plain list, which judges only what it lists",
    joins=("top_k",),
    expectation=_unjudged_expected,
)
def unjudged_at_k(judged: Judged, *, k: Cutoff) -> Scores:
    """
    Fraction of the first *k* ranks that hold an item without a judgment.

    Formula: ``unj@k = |ranks up to k whose item has no grade, or one below 0| / k``; empty ranks are not
    unjudged. Unlike `retrieval-judged-at-k` it divides by *k*, and takes a negative grade for *pooled but not judged*.
    Source: trec_eval 10, measure `unj`.

    When to use it: beside any other score, to see how much unjudged items may distort it.

    Args:
        judged: The rankings of a batch of samples.

        k: How many results count, for all samples or for each.

    Returns:
        Shape (n,), from 0 to 1; NaN where the ground truth is a plain list.
    """
    known = judged.judged_ranks(k, at_least=0)
    return np.where(judged.graded, (np.minimum(judged.depth, k) - known) / k, np.nan)
