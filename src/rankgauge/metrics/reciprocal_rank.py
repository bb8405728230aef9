"""
How far down the first relevant item is: its reciprocal rank, and the rank itself.
"""

from __future__ import annotations

from typing import Any, get_args

import numpy as np

from rankgauge.metrics.family import retrieval
from rankgauge.metrics.ties import tied
from rankgauge.plugin import Contributions, Cutoff, Judged, Law, Scores

__all__ = ["first_rank", "reciprocal_rank"]


def _details(judged: Judged, *, k: Cutoff | None) -> dict[str, list[Any]]:
    return {"first_relevant_rank": [rank or None for rank in judged.first_rank(k).tolist()]}


def _expected(judged: Judged, *, k: Cutoff | None) -> Scores:
    """Return the expectation over how many irrelevant items of the first tie with relevant ones come first."""
    ties = tied(judged)
    found = np.zeros(judged.n)
    for at in np.flatnonzero(ties.starts & (ties.before == 0)).tolist():
        sample, low, size, count = (int(of[at]) for of in (ties.rows.sample, ties.low, ties.size, ties.together))
        ahead = size - count if k is None else min(size - count, int(k if isinstance(k, int) else k[sample]) - low)
        if ahead < 0:
            continue
        steps = np.arange(ahead, dtype=np.float64)  # the probability that one more comes first, given those before
        chances = np.concatenate([[1.0], np.cumprod((size - count - steps) / (size - 1 - steps))]) * (count / size)
        found[sample] = np.sum(chances / (low + np.arange(ahead + 1)))
    return np.where(judged.n_gold() > 0, found, np.nan)


def _first_hit(judged: Judged, *, k: Cutoff | None) -> Contributions:
    first = judged.hits(k).first_of_each_sample()
    return Contributions(first, np.ones(len(first.rank)), 1.0 / first.rank)


@retrieval(
    "retrieval-mrr",
    short=("MRR", "RR", "recip_rank"),
    laws=get_args(Law),  # every law
    details=_details,
    expectation=_expected,
    contributions=_first_hit,
)
def reciprocal_rank(judged: Judged, *, k: Cutoff | None = None) -> Scores:
    """
    One over the rank of the first relevant item; its mean over samples is MRR.

    Formula: ``RR = 1 / rank``, 0 where nothing relevant was retrieved (within *k*, if one is given).
    Source: trec_eval, measure `recip_rank`; Voorhees, The TREC-8 Question Answering Track Report, 1999.

    When to use it: the user wants one answer and reads from the top.

    Args:
        judged: The rankings of a batch of samples.

        k: How many results count; None for all.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    ranks = judged.first_rank(k)
    found = np.divide(1.0, ranks, out=np.zeros(judged.n), where=ranks > 0)
    return np.where(judged.n_gold() > 0, found, np.nan)


@retrieval(
    "retrieval-first-rank",
    short=("first_rank", "rank_first_rel"),
    range=(1.0, None),
    higher_is_better=False,
    laws=("bounded", "tail"),
    details=_details,
)
def first_rank(judged: Judged, *, k: Cutoff | None = None) -> Scores:
    """
    Rank of the first relevant item, over the samples where one was found.

    Formula: ``min rank of a relevant item``. Its mean says how far readers have to look, and covers only the samples
    where they find anything; the number of those stands beside it. Source: Voorhees, TREC-8 question answering track,
    1999, of which `retrieval-mrr` is the bounded form.

    When to use it: beside `retrieval-mrr` and `retrieval-hit-at-k`, since a rank is easier to picture than its inverse.

    Args:
        judged: The rankings of a batch of samples.

        k: How many results count; None for all.

    Returns:
        Shape (n,), 1 or more; NaN where no relevant item was found.
    """
    ranks = judged.first_rank(k).astype(np.float64)
    return np.where(ranks > 0, ranks, np.nan)
