"""
Relevant against irrelevant results: how often they stand in the right order, and how many irrelevant ones come through.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from rankgauge.metrics.family import retrieval
from rankgauge.plugin import Cutoff, Judged, Scores

__all__ = ["auc", "fall_out"]

Among = Literal["retrieved", "judged", "collection"]


@retrieval("retrieval-auc", short=("AUC", "AUROC", "Accuracy"), laws=("bounded",))
def auc(judged: Judged, *, k: Cutoff | None = None) -> Scores:
    """
    Probability that a relevant result stands above an irrelevant one, both drawn from what was retrieved.

    Formula: ``pairs of a relevant and an irrelevant result in the right order / all such pairs``: the area under the
    ROC curve of the ranking. Source: ir_measures, measure `Accuracy`; torchmetrics, `RetrievalAUROC`.

    When to use it: to diagnose a classifier or reranker by its order alone; what was not retrieved plays no part.

    Args:
        judged: The rankings of a batch of samples.

        k: How many results count; None for all.

    Returns:
        Shape (n,), from 0 to 1; NaN where the results are all relevant, or all irrelevant.
    """
    hits = judged.hits(k)
    depth = judged.depth if k is None else np.minimum(judged.depth, k)
    relevant = np.bincount(hits.sample, minlength=judged.n)
    others = depth - relevant
    wrong = judged.sum(hits, (hits.rank - hits.nth()).astype(np.float64))
    pairs = relevant * others
    return np.where(pairs > 0, 1.0 - wrong / np.maximum(pairs, 1), np.nan)


def _check(*, among: Among, collection: int) -> None:
    if collection < 0 or (collection > 0) != (among == "collection"):
        msg = f"among=collection needs the number of documents, and nothing else does: collection={collection}"
        raise ValueError(msg)


@retrieval(
    "retrieval-fall-out-at-k",
    short=("fall_out", "fallout", "FallOut"),
    higher_is_better=False,
    check=_check,
    laws=("bounded",),
)
def fall_out(judged: Judged, *, k: Cutoff, among: Among = "retrieved", collection: int = 0) -> Scores:
    """
    Fraction of the irrelevant items that come within the first *k* ranks.

    Formula: ``|irrelevant in the first k| / |irrelevant|``. Source: Manning et al., Introduction to Information
    Retrieval, 2008, chapter 8; torchmetrics, `RetrievalFallOut`, for what was retrieved.

    When to use it: beside recall, as the other axis of a ROC curve.

    Args:
        judged: The rankings of a batch of samples.

        k: How many results count, for all samples or for each.

        among: Which irrelevant items there are: those in the whole ranking (`retrieved`), those that the ground truth
            names with a grade that is not relevant (`judged`), or all documents but the relevant ones (`collection`).

        collection: How many documents there are, for ``among=collection``.

    Returns:
        Shape (n,), from 0 to 1; NaN where nothing is relevant, or nothing irrelevant.
    """
    wanted = judged.n_gold()
    if among == "judged":
        wrong = judged.first & (judged.rows.grade >= 0) & ~judged.relevance.of(judged.rows.grade)
        retrieved = np.bincount(judged.rows.where(wrong).until(k).sample, minlength=judged.n)
        known = (judged.gold.grade >= 0) & ~judged.relevance.of(judged.gold.grade)
        total = np.bincount(judged.gold.sample[known], minlength=judged.n)
    else:
        retrieved = np.minimum(judged.depth, k) - judged.relevant_ranks(k)
        total = collection - wanted if collection else judged.depth - judged.relevant_ranks()
    share = np.minimum(retrieved / np.maximum(total, 1), 1.0)  # a collection smaller than it was said to be
    return np.where((wanted > 0) & (total > 0), share, np.nan)
