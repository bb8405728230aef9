"""
Complete sets: how much of what is needed together was found together, as for questions of several hops.
"""

from __future__ import annotations

import functools

import numpy as np

from rankgauge.metrics.family import per_gold
from rankgauge.metrics.recall import each_found
from rankgauge.plugin import Cutoff, Judged, Scores, metric

__all__ = ["complete_sets", "first_complete_rank"]

_over_sets = functools.partial(metric, gold="sets", uses_rel=False, undefined="the ground truth has no sets")


@_over_sets(
    "retrieval-complete-sets-at-k",
    short=("complete_sets",),
    laws=("bounded", "relevant-helps", "padding", "tail", "duplicates", "monotone-in-k"),
    contributions=each_found,
)
def complete_sets(judged: Judged, *, k: Cutoff) -> Scores:
    """
    Fraction of the sets of relevant items that are complete in the first *k* ranks.

    Formula: ``|sets complete in the first k| / |sets|``, of `expected_output.sets`. A set is complete if all of its
    items were found (`all_of`), or one of them (`any_of`); how relevant they are, beyond being so, plays no part.
    Items are relevant ids, else spans, else passages; ``gold=`` says which, or names a plugin's kind. A passage or span
    is found as in any other metric: where the first results hold half of it together.

    When to use it: an answer needs several documents at once (multi-hop questions), or one of several that say the
    same. `retrieval-recall-at-k` gives half of the score for half of a chain that is not enough to answer from.

    Returns:
        Shape (n,), from 0 to 1; NaN if the ground truth has no sets.
    """
    return per_gold(judged, judged.found(k))


@_over_sets(
    "retrieval-first-complete-rank",
    short=("first_complete", "first_complete_rank"),
    range=(1.0, None),
    higher_is_better=False,
    laws=("bounded", "tail"),
)
def first_complete_rank(judged: Judged, *, k: Cutoff | None = None) -> Scores:
    """
    Rank at which the first set of relevant items is complete, over the samples where one is.

    Formula: ``min over sets of the rank at which it is complete``, of `expected_output.sets`. Its mean covers only the
    samples in which a set was completed; the number of those is printed beside it.

    When to use it: beside `retrieval-complete-sets-at-k`, to see how far a reader goes until one chain holds.

    Returns:
        Shape (n,), 1 or more; NaN if no set is complete.
    """
    ranks = judged.first_rank(k).astype(np.float64)
    return np.where(ranks > 0, ranks, np.nan)
