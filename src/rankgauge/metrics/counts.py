"""
Counts: how many queries, retrieved, relevant and found items there are; summed over samples.
"""

from __future__ import annotations

import functools

import numpy as np

from rankgauge.metrics.family import always, retrieval
from rankgauge.plugin import Judged, Scores

__all__ = ["num_nonrel_judged_ret", "num_q", "num_rel", "num_rel_ret", "num_ret"]


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

    Args:
        judged: The rankings of a batch of samples.

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

    Args:
        judged: The rankings of a batch of samples.

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

    Args:
        judged: The rankings of a batch of samples.

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

    Args:
        judged: The rankings of a batch of samples.

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

    Args:
        judged: The rankings of a batch of samples.

    Returns:
        Shape (n,), whole numbers.
    """
    known = (judged.rows.grade >= 0) & ~judged.relevance.of(judged.rows.grade)
    return np.bincount(judged.rows.sample[known & judged.first], minlength=judged.n).astype(np.float64)
