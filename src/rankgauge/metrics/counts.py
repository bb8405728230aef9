"""
Counts of queries and of retrieved, relevant and judged items, and the share of results that is judged.
"""

from __future__ import annotations

import functools
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankgauge.metrics.family import always, has_grades, retrieval, share_within, tied
from rankgauge.plugin import Cutoff, Judged, Scores, metric

__all__ = ["judged_at_k", "num_nonrel_judged_ret", "num_q", "num_rel", "num_rel_ret", "num_ret", "unjudged_at_k"]

_count = functools.partial(
    retrieval, range=(0.0, None), aggregate="sum", describes=True, defined=always, expectation="itself", laws=()
)


@_count(
    "retrieval-num-q",
    short=("num_q", "NumQ"),
    range=(1.0, 1.0),
    uses_rel=False,
    laws=("bounded", "padding", "tail", "duplicates"),
)
def num_q(judged: Judged) -> Scores:
    """
    Count the samples that were evaluated.

    Formula: 1 for each; their sum is the number. Source: trec_eval, measure `num_q`.

    When to use it: beside means, to see how many samples they cover.

    Returns:
        Shape (n,), all 1.
    """
    return np.ones(judged.n)


@_count("retrieval-num-ret", short=("num_ret", "NumRet"), uses_rel=False)
def num_ret(judged: Judged) -> Scores:
    """
    Count the retrieved items, after policy.

    Formula: the depth of the ranking. Source: trec_eval, measure `num_ret`. ir_measures reads ``NumRet(rel=1)`` as
    our `retrieval-num-rel-ret`.

    When to use it: to see whether a run is as deep as it should be.

    Returns:
        Shape (n,), whole numbers.
    """
    return judged.depth.astype(np.float64)


@_count("retrieval-num-rel", short=("num_rel", "NumRel"), laws=("padding", "tail", "duplicates"))
def num_rel(judged: Judged) -> Scores:
    """
    Count the relevant items of the ground truth.

    Formula: ``R = |relevant|``. Source: trec_eval, measure `num_rel`.

    When to use it: beside recall, as its denominator.

    Returns:
        Shape (n,), whole numbers.
    """
    return judged.n_gold().astype(np.float64)


@_count(
    "retrieval-num-rel-ret",
    short=("num_rel_ret", "NumRelRet"),
    laws=("best-first", "relevant-helps", "padding", "tail", "duplicates"),
)
def num_rel_ret(judged: Judged) -> Scores:
    """
    Count the relevant items that were retrieved, at any rank.

    Formula: ``|relevant and retrieved|``. Source: trec_eval, measure `num_rel_ret`.

    When to use it: recall as a count.

    Returns:
        Shape (n,), whole numbers.
    """
    return judged.found().astype(np.float64)


@_count(
    "retrieval-num-nonrel-judged-ret",
    gold="relevant",
    matcher=None,
    short=("num_nonrel_judged_ret",),
    higher_is_better=False,
)
def num_nonrel_judged_ret(judged: Judged) -> Scores:
    """
    Count the retrieved items that were judged and are not relevant.

    Formula: ``|retrieved with 0 <= grade < the threshold of relevance|``; a negative grade means *pooled but not
    judged*. Source: trec_eval, measure `num_nonrel_judged_ret`.

    When to use it: to tell wrong results from unjudged ones.

    Returns:
        Shape (n,), whole numbers.
    """
    known = (judged.rows.grade >= 0) & ~judged.relevance.of(judged.rows.grade)
    return np.bincount(judged.rows.sample[known & judged.first], minlength=judged.n).astype(np.float64)


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

    Returns:
        Shape (n,), from 0 to 1; NaN if the ground truth is a plain list or nothing was retrieved.
    """
    with np.errstate(invalid="ignore"):
        return np.where(judged.graded, judged.judged_ranks(k) / _looked_at(judged, k), np.nan)


def _looked_at(judged: Judged, k: Cutoff | None) -> NDArray[np.int64]:
    return judged.depth if k is None else np.minimum(judged.depth, k)


Of = Literal["ranks", "retrieved"]


def _unjudged_expected(judged: Judged, *, k: Cutoff, of: Of) -> Scores:
    ties = tied(judged, judged.first & (judged.rows.grade >= 0))
    return _unjudged(judged, k, of, judged.sum(ties.rows, share_within(ties, k)))


def _unjudged(judged: Judged, k: Cutoff, of: Of, known: NDArray[Any]) -> Scores:
    """Return what is not *known* of the first *k* ranks, as a share of these or of the results there."""
    looked_at = np.minimum(judged.depth, k)
    with np.errstate(invalid="ignore"):
        return np.where(judged.graded, (looked_at - known) / (k if of == "ranks" else looked_at), np.nan)


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
def unjudged_at_k(judged: Judged, *, k: Cutoff, of: Of = "ranks") -> Scores:
    """
    Fraction of the first *k* ranks that hold an item without a judgment.

    Formula: ``unj@k = |ranks up to k whose item has no grade, or one below 0| / k``; empty ranks are not
    unjudged. Unlike `retrieval-judged-at-k` it divides by *k*, and takes a negative grade for *pooled but not judged*.
    Source: trec_eval 10, measure `unj`.

    When to use it: beside any other score, to see how much unjudged items may distort it.

    Args:
        of: What it is a share of: the first *k* `ranks`, as in trec_eval, or what was `retrieved` within them, of which
            short rankings have less. Reports use the latter.

    Returns:
        Shape (n,), from 0 to 1; NaN if the ground truth is a plain list, and as a share of nothing.
    """
    return _unjudged(judged, k, of, judged.judged_ranks(k, at_least=0))
