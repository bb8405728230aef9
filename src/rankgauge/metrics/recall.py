"""
Recall and hits: how much of the ground truth was found, and whether any of it was.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rankgauge.metrics.family import USUAL, expected_ranks, per_gold, retrieval, share_within, tied, with_gold
from rankgauge.plugin import Contributions, Cutoff, Judged, Scores

__all__ = ["any_found", "each_found", "first_found", "hit", "hits", "recall", "recall_all"]

Count = Literal["distinct", "listed"]


def _details(judged: Judged, *, k: Cutoff) -> dict[str, list[int]]:
    return {"relevant_count": judged.n_gold().tolist(), "found": judged.found(k).tolist()}


def _expected(judged: Judged, *, k: Cutoff) -> Scores:
    return per_gold(judged, expected_ranks(judged, k))


def _wanted_items(judged: Judged) -> Scores:
    return judged.n_gold().astype(np.float64)


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
    laws=(*USUAL, "monotone-in-k", "whole-or-pieces"),
    details=_details,
    joins=("top_k",),
    expectation=_expected,
    denominators=_wanted_items,
    contributions=each_found,
)
def recall(judged: Judged, *, k: Cutoff) -> Scores:
    """
    Fraction of the relevant gold items that are in the first *k* ranks.

    Formula: ``recall@k = |relevant found in the first k| / |relevant|``; the denominator is all of the ground truth,
    never ``min(k, |relevant|)``. Source: trec_eval, measure `recall`.

    When to use it: everything relevant has to reach the next stage, such as a reranker or a reader.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant.
    """
    return per_gold(judged, judged.found(k))


@retrieval(
    "retrieval-recall-all-at-k",
    short=("recall_all",),
    laws=(*USUAL, "monotone-in-k", "whole-or-pieces"),
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
        count: Whether a gold item that is listed twice has to be found once (`distinct`), or twice (`listed`, as in
            REMem), which is impossible.

    Returns:
        Shape (n,), 0 or 1; NaN if no gold item is relevant.
    """
    wanted = _wanted(judged, count)
    return np.where(wanted > 0, (judged.found(k) == wanted).astype(np.float64), np.nan)


def _wanted(judged: Judged, count: Count) -> NDArray[np.int64]:
    return judged.n_gold() if count == "distinct" else judged.n_listed()


def _expected_hits(judged: Judged, *, k: Cutoff) -> Scores:
    """Return 1 minus the probability that every tie has its relevant rows below the cutoff."""
    ties = tied(judged)
    slots = np.rint(share_within(ties, k) * ties.size)
    left = np.maximum(ties.size - slots - ties.place, 0) / (ties.size - ties.place)
    missed = np.ones(judged.n)
    np.multiply.at(missed, ties.rows.sample, left)
    return with_gold(judged, 1.0 - missed)


def any_found(judged: Judged, k: Cutoff | None) -> Scores:
    """Return 1 if a relevant item was found within the cutoff, else 0; NaN if nothing is relevant."""
    return with_gold(judged, (judged.found(k) > 0).astype(np.float64))


def first_found(judged: Judged, *, k: Cutoff | None = None) -> Contributions:
    """Return what `any_found` is made of: the first row with a relevant item."""
    first = judged.finds(k).first_of_each_sample()
    return Contributions(first, np.ones(len(first.rank)))


@retrieval(
    "retrieval-hit-at-k",
    short=("hit", "Success", "success_{k}", "hit_rate", "HitRate"),
    laws=(*USUAL, "perfect-is-one", "monotone-in-k", "whole-or-pieces"),
    joins=("relevant", "top_k"),
    expectation=_expected_hits,
    contributions=first_found,
)
def hit(judged: Judged, *, k: Cutoff) -> Scores:
    """
    Whether at least one relevant item is in the first *k* ranks.

    Formula: ``hit@k = 1 if any of the first k is relevant else 0``. Source: trec_eval, measure `success`.

    When to use it: a reader needs one good passage, and which one does not matter.

    Returns:
        Shape (n,), 0 or 1; NaN if no gold item is relevant.
    """
    return any_found(judged, k)


def _hits_expected(judged: Judged, *, k: Cutoff | None) -> Scores:
    return with_gold(judged, expected_ranks(judged, k))


@retrieval(
    "retrieval-hits-at-k",
    short=("hits",),
    range=(0.0, None),
    joins=("top_k",),
    laws=(*USUAL, "linear", "whole-or-pieces"),
    expectation=_hits_expected,
)
def hits(judged: Judged, *, k: Cutoff | None) -> Scores:
    """
    How many relevant items are in the first *k* ranks.

    Formula: ``hits@k = |relevant in the first k|``, each gold item counted once; recall before it is divided. Source:
    ranx, metric `hits`.

    When to use it: a count says more than a share, such as "three of the five results are good".

    Returns:
        Shape (n,), whole numbers of 0 or more; NaN if no gold item is relevant.
    """
    return with_gold(judged, judged.found(k).astype(np.float64))
