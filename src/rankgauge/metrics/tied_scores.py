"""
Metrics of tied scores as scikit-learn defines them: results of one score share their ranks, in whatever order.

McSherry & Najork, Computing information retrieval performance measures efficiently in the presence of tied scores, ECIR
2008; Tsoumakas et al., Mining multi-label data, 2010, for label ranking.
"""

from __future__ import annotations

from bisect import bisect_left
from math import log2

from rankgauge.metrics.ndcg import Gain
from rankgauge.plugin import Cutoff, JudgedSample, sample_metric

__all__ = ["label_ranking_average_precision", "tied_ndcg"]


@sample_metric(
    "retrieval-label-ranking-average-precision",
    short=("LRAP", "label_ranking_average_precision_score"),
    needs=("scores",),
    laws=("bounded",),
    expectation="itself",
)
def label_ranking_average_precision(ranking: JudgedSample) -> float | None:
    """
    Average precision in which tied results all have the last rank of their tie.

    Formula: the mean over relevant items of ``relevant results with at least its score / results with at least its
    score``, 0 for one that was not retrieved. Source: scikit-learn, `label_ranking_average_precision_score`, where
    every item has a score; if nothing is relevant it gives 1.

    When to use it: scores are compared with scikit-learn's, or ties must not help.

    Returns:
        From 0 to 1; None if no gold item is relevant.
    """
    if not ranking.n_gold:
        return None
    scores = sorted(ranking.seen.scores)
    relevant = sorted(score for score, counts in zip(ranking.seen.scores, ranking.relevant, strict=True) if counts)
    shares = ((len(relevant) - bisect_left(relevant, it)) / (len(scores) - bisect_left(scores, it)) for it in relevant)
    return sum(shares) / ranking.n_gold


@sample_metric(
    "retrieval-tied-ndcg-at-k",
    short=("tied_ndcg", "ndcg_score"),
    needs=("scores",),
    uses_rel=False,
    laws=("bounded",),
    without=("tail", "last-rank"),
    expectation="itself",
)
def tied_ndcg(ranking: JudgedSample, *, k: Cutoff | None, gain: Gain = "linear") -> float | None:
    """
    NDCG in which every result of a tie has the mean gain of the tie.

    Formula: ``DCG = sum over ranks of the mean gain of its tie / log2(rank + 1)``, up to rank k; ``DCG / IDCG``, with
    the ideal over all gold items. Source: scikit-learn, `ndcg_score`, where every item has a score; if nothing has a
    gain it gives 0.

    When to use it: scores are compared with scikit-learn's, or the order of ties must not matter.

    Args:
        gain: As in `ndcg`.

    Returns:
        From 0 to 1; None if no gold item has a gain.
    """

    def worth(grade: float) -> float:
        if gain == "binary":
            return float(grade > 0)
        return max(grade, 0.0) if gain == "linear" else 2.0 ** max(grade, 0.0) - 1.0

    ideal = [worth(grade) for grade in ranking.gold if grade > 0][:k]
    best = sum(each / log2(rank + 1) for rank, each in enumerate(ideal, 1))
    ties: dict[float, list[float]] = {}
    for score, grade in zip(ranking.seen.scores, ranking.gains, strict=True):
        ties.setdefault(score, []).append(worth(grade))
    ordered = enumerate(sorted(ranking.seen.scores, reverse=True)[:k], 1)
    earned = sum(sum(ties[score]) / len(ties[score]) / log2(rank + 1) for rank, score in ordered)
    return earned / best if best else None
