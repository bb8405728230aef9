"""
Recall: how much of the ground truth was found.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rankgauge.metrics.family import USUAL, per_gold, retrieval
from rankgauge.metrics.ties import expected_ranks, share_within, tied
from rankgauge.plugin import Contributions, Cutoff, Judged, Scores

__all__ = ["each_found", "recall", "recall_all"]

Count = Literal["distinct", "listed"]


def _details(judged: Judged, *, k: Cutoff) -> dict[str, list[int]]:
    return {"relevant_count": judged.n_gold().tolist(), "found": judged.found(k).tolist()}


def _expected(judged: Judged, *, k: Cutoff) -> Scores:
    return per_gold(judged, expected_ranks(judged, k))


def _all_expected(judged: Judged, *, k: Cutoff, count: Count) -> Scores:
    """Return the probability that all relevant rows of each tie are within the cutoff."""
    ties = tied(judged)
    slots = np.rint(share_within(ties, k) * ties.size)
    brought = np.maximum(slots - ties.place, 0) / (ties.size - ties.place)
    complete = np.ones(judged.n)
    np.multiply.at(complete, ties.rows.sample, brought)
    wanted = _wanted(judged, count)
    return np.where(wanted > 0, np.where(judged.found() == wanted, complete, 0.0), np.nan)


def each_found(judged: Judged, *, k: Cutoff | None = None) -> Contributions:
    """Return what recall is made of: the row at which each relevant gold item was found first."""
    found = judged.finds(k)
    return Contributions(found, np.ones(len(found.rank)), None, judged.n_gold().astype(np.float64), "gold items")


@retrieval(
    "retrieval-recall-at-k",
    short=("recall", "R", "recall_{k}"),
    laws=(*USUAL, "monotone-in-k"),
    details=_details,
    joins=("top_k",),
    expectation=_expected,
    contributions=each_found,
)
def recall(judged: Judged, *, k: Cutoff) -> Scores:
    """
    Fraction of the relevant gold items that are in the first *k* ranks.

    Formula: ``recall@k = |relevant found in the first k| / |relevant|``; the denominator is all of the ground truth,
    never ``min(k, |relevant|)``. Source: trec_eval, measure `recall`.

    When to use it: everything relevant has to reach the next stage, such as a reranker or a reader.

    Args:
        judged: The rankings of a batch of samples.

        k: How many results count, for all samples or for each.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    return per_gold(judged, judged.found(k))


@retrieval(
    "retrieval-recall-all-at-k",
    short=("recall_all",),
    laws=(*USUAL, "monotone-in-k"),
    details=_details,
    joins=("top_k",),
    expectation=_all_expected,
)
def recall_all(judged: Judged, *, k: Cutoff, count: Count = "distinct") -> Scores:
    """
    Whether every relevant gold item is in the first *k* ranks.

    Formula: ``1 if recall@k = 1 else 0``. Source: REMem's `RetrievalRecallAll`, here over distinct gold items.

    When to use it: an answer needs all of several pieces of evidence (multi-hop questions).

    Args:
        judged: The rankings of a batch of samples.

        k: How many results count, for all samples or for each.

        count: Whether a gold item that is listed twice has to be found once (`distinct`), or twice (`listed`, as in
            REMem), which is impossible.

    Returns:
        Shape (n,), 0 or 1; NaN where no gold item is relevant.
    """
    wanted = _wanted(judged, count)
    return np.where(wanted > 0, (judged.found(k) == wanted).astype(np.float64), np.nan)


def _wanted(judged: Judged, count: Count) -> NDArray[np.int64]:
    return judged.n_gold() if count == "distinct" else judged.n_listed()
