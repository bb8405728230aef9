"""
Average precision: precision at every relevant item, over all of the ground truth; and its geometric mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankgauge.metrics.family import USUAL, per_gold, retrieval
from rankgauge.metrics.ties import last_rank, tied
from rankgauge.plugin import Contributions, Cutoff, Judged, Scores

__all__ = ["average_precision", "geometric_average_precision"]


def _details(judged: Judged, *, k: Cutoff | None) -> dict[str, list[Any]]:
    earned = judged.credits(k)
    ranks: list[list[int]] = [[] for _ in range(judged.n)]
    for sample, rank in zip(earned.sample.tolist(), earned.rank.tolist(), strict=True):
        ranks[sample].append(rank)
    return {"relevant_count": judged.n_gold().tolist(), "relevant_at": ranks}


def _expected(judged: Judged, *, k: Cutoff | None = None) -> Scores:
    """
    Return the expectation over the orders of ties, as McSherry & Najork give it.

    At rank i of a tie of m results from rank s on, r of them relevant and a relevant before it, the expected precision
    of a relevant item is ``(a + 1 + (i - s) * (r - 1) / (m - 1)) / i``, and one stands there with probability r/m. The
    sum over i is a difference of harmonic numbers.
    """
    ties = tied(judged)
    alone = ties.size == 1
    last = last_rank(ties, k)
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, last.max(where=~alone, initial=0) + 1))])
    value = np.where(last < ties.low, 0.0, (ties.before + ties.place + 1) / ties.rows.rank)
    head = np.flatnonzero(ties.starts & ~alone)
    low, size, count = ties.low[head], ties.size[head], ties.together[head]
    slope = (count - 1) / (size - 1)
    inverse = harmonic[last[head]] - harmonic[low - 1]
    value[~alone] = 0.0
    value[head] = count / size * (slope * (last[head] - low + 1) + (ties.before[head] + 1 - slope * low) * inverse)
    return per_gold(judged, judged.sum(ties.rows, value))


def _precisions(judged: Judged, *, k: Cutoff | None = None) -> Contributions:
    earned = judged.credits(k)
    gains, wanted = np.ones(len(earned.rank)), judged.n_gold().astype(np.float64)
    return Contributions(earned, gains, earned.nth() / earned.rank, wanted, "gold items")


@retrieval(
    "retrieval-map",
    short=("MAP", "AP", "map_cut_{k}"),
    laws=(*USUAL, "monotone-in-k"),
    details=_details,
    joins=("relevant",),
    expectation=_expected,
    contributions=_precisions,
)
def average_precision(judged: Judged, *, k: Cutoff | None = None) -> Scores:
    """
    Mean of the precision at each relevant item; its mean over samples is MAP.

    Formula: ``AP = sum over relevant ranks i of (relevant up to i) / i, divided by |relevant|``. Items that were not
    found count as 0; the denominator is all of the ground truth, also under a cutoff. Source: trec_eval, measures `map`
    and `map_cut`.

    When to use it: the whole order matters and judgments are binary.

    Args:
        judged: The rankings of a batch of samples.

        k: How many results count; None for all.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    earned = judged.credits(k)
    return per_gold(judged, judged.sum(earned, earned.nth() / earned.rank))


@retrieval(
    "retrieval-gm-map",
    short=("gm_map", "GMAP"),
    aggregate="geometric",
    joins=("relevant",),
    expectation=_expected,
    contributions=_precisions,
)
def geometric_average_precision(judged: Judged) -> Scores:
    """
    Average precision, averaged over samples by the geometric mean.

    Formula: ``exp(mean of ln(max(AP, 0.00001)))``; the score of one sample is its AP. Source: trec_eval, measure
    `gm_map`; Robertson, On GMAP: and other transformations, CIKM 2006.

    When to use it: a system should not fail on any query, so gains on hard queries count most.

    Args:
        judged: The rankings of a batch of samples.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    return average_precision(judged)
