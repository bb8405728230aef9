"""
Counts: how many queries, retrieved, relevant and found items there are; summed over samples.
"""

from __future__ import annotations

import numpy as np

from rankgauge.columns import Flags
from rankgauge.plugin import Judged, Scores, metric

__all__ = ["num_nonrel_judged_ret", "num_q", "num_rel", "num_rel_ret", "num_ret"]


def _always(judged: Judged) -> Flags:
    return np.ones(judged.n, dtype=np.bool_)


@metric(
    "retrieval-num-q",
    gold=("relevant", "passages"),
    matcher="chunk",
    short=("num_q", "NumQ"),
    range=(1.0, 1.0),
    aggregate="sum",
    uses_rel=False,
    describes=True,
    defined=_always,
    laws=("bounded", "padding", "tail", "duplicates"),
    expectation="itself",
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


@metric(
    "retrieval-num-ret",
    gold=("relevant", "passages"),
    matcher="chunk",
    short=("num_ret", "NumRet"),
    range=(0.0, None),
    aggregate="sum",
    uses_rel=False,
    describes=True,
    defined=_always,
    expectation="itself",
)
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


@metric(
    "retrieval-num-rel",
    gold=("relevant", "passages"),
    matcher="chunk",
    short=("num_rel", "NumRel"),
    range=(0.0, None),
    aggregate="sum",
    describes=True,
    defined=_always,
    laws=("padding", "tail", "duplicates"),
    expectation="itself",
)
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


@metric(
    "retrieval-num-rel-ret",
    gold=("relevant", "passages"),
    matcher="chunk",
    short=("num_rel_ret", "NumRelRet"),
    range=(0.0, None),
    aggregate="sum",
    describes=True,
    defined=_always,
    laws=("best-first", "relevant-helps", "padding", "tail", "duplicates"),
    expectation="itself",
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


@metric(
    "retrieval-num-nonrel-judged-ret",
    short=("num_nonrel_judged_ret",),
    range=(0.0, None),
    aggregate="sum",
    higher_is_better=False,
    describes=True,
    defined=_always,
    expectation="itself",
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
