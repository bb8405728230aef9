"""
Hits: whether anything relevant was found (hit rate, also called success), and how much was.
"""

from __future__ import annotations

from typing import get_args

import numpy as np

from rankgauge.metrics.family import retrieval
from rankgauge.metrics.ties import expected_ranks, share_within, tied
from rankgauge.plugin import Contributions, Cutoff, Judged, Law, Scores

__all__ = ["any_found", "first_found", "hit", "hits"]


def _expected(judged: Judged, *, k: Cutoff) -> Scores:
    """Return 1 minus the probability that every tie has its relevant rows below the cutoff."""
    ties = tied(judged)
    slots = np.rint(share_within(ties, k) * ties.size)
    left = np.maximum(ties.size - slots - ties.place, 0) / (ties.size - ties.place)
    missed = np.ones(judged.n)
    np.multiply.at(missed, ties.rows.sample, left)
    return np.where(judged.n_gold() > 0, 1.0 - missed, np.nan)


def any_found(judged: Judged, k: Cutoff | None) -> Scores:
    """Return 1 where a relevant item was found within the cutoff, else 0; NaN where nothing is relevant."""
    return np.where(judged.n_gold() > 0, (judged.found(k) > 0).astype(np.float64), np.nan)


def first_found(judged: Judged, *, k: Cutoff | None = None) -> Contributions:
    """Return what `any_found` is made of: the first row with a relevant item."""
    first = judged.finds(k).first_of_each_sample()
    return Contributions(first, np.ones(len(first.rank)))


@retrieval(
    "retrieval-hit-at-k",
    short=("hit", "Success", "success_{k}", "hit_rate", "HitRate"),
    laws=get_args(Law),  # every law
    joins=("relevant", "top_k"),
    expectation=_expected,
    contributions=first_found,
)
def hit(judged: Judged, *, k: Cutoff) -> Scores:
    """
    Whether at least one relevant item is in the first *k* ranks.

    Formula: ``hit@k = 1 if any of the first k is relevant else 0``. Source: trec_eval, measure `success`.

    When to use it: a reader needs one good passage, and which one does not matter.

    Args:
        judged: The rankings of a batch of samples.

        k: How many results count, for all samples or for each.

    Returns:
        Shape (n,), 0 or 1; NaN where no gold item is relevant.
    """
    return any_found(judged, k)


def _hits_expected(judged: Judged, *, k: Cutoff | None) -> Scores:
    return np.where(judged.n_gold() > 0, expected_ranks(judged, k), np.nan)


@retrieval("retrieval-hits-at-k", short=("hits",), range=(0.0, None), joins=("top_k",), expectation=_hits_expected)
def hits(judged: Judged, *, k: Cutoff | None) -> Scores:
    """
    How many relevant items are in the first *k* ranks.

    Formula: ``hits@k = |relevant in the first k|``, each gold item counted once; recall before it is divided. Source:
    ranx, metric `hits`.

    When to use it: a count says more than a share, such as "three of the five results are good".

    Args:
        judged: The rankings of a batch of samples.

        k: How many results count, for all samples or for each; None for all.

    Returns:
        Shape (n,), whole numbers of 0 or more; NaN where no gold item is relevant.
    """
    return np.where(judged.n_gold() > 0, judged.found(k).astype(np.float64), np.nan)
