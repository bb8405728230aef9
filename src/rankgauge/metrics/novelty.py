"""
Novelty: gain that grows with every intent that a result serves, and less each time that the intent is served again.

The numbers are those of TREC's `ndeval`, but for cutoff 1, where it leaves `alpha-DCG` and `ERR-IA` undivided.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankgauge.metrics.diversity import cutoff_of, diverse, queries
from rankgauge.plugin import Cutoff, Judged, Scores

__all__ = ["alpha_dcg", "alpha_ndcg", "err_ia", "nerr_ia", "nnrbp", "nrbp"]


def _check(*, alpha: float) -> None:
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha is how much of an item's worth a repeated intent loses, from 0 to 1, not {alpha}")


def _check_nrbp(*, alpha: float, beta: float) -> None:
    _check(alpha=alpha)
    if not 0 < beta < 1:
        raise ValueError(f"beta is the probability of going on to the next result, above 0 and below 1, not {beta}")


@diverse("retrieval-alpha-dcg-at-k", short=("alpha_DCG",), check=_check)
def alpha_dcg(judged: Judged, *, k: Cutoff, alpha: float = 0.5) -> Scores:
    """
    Discounted gain of new intents, over that of a ranking in which every result serves all of them.

    Formula: ``sum over ranks i up to k of g_i / log2(i + 1)``, divided by its highest value for so many intents, with
    ``g_i = sum over intents served at i of (1 - alpha)**(times it was served above)``. Source: Clarke et al., Novelty
    and diversity in information retrieval evaluation, SIGIR 2008; TREC's ndeval, `alpha-DCG`.

    When to use it: as `retrieval-alpha-ndcg-at-k`, when queries with hard intents should score lower.

    Args:
        alpha: Share of its worth that an intent loses each time it is served.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant.
    """
    return _novel(judged, k, alpha, _log, ideal=False)


@diverse("retrieval-alpha-ndcg-at-k", short=("alpha_nDCG", "alpha_ndcg"), check=_check)
def alpha_ndcg(judged: Judged, *, k: Cutoff, alpha: float = 0.5) -> Scores:
    """
    Discounted gain of new intents, over that of the best order of the ground truth.

    Formula: as `retrieval-alpha-dcg-at-k`, divided by its value for the ideal order, which takes the item that is worth
    most at each rank; of equal ones, the last by id. Source: Clarke et al., SIGIR 2008; TREC's ndeval, `alpha-nDCG`.

    When to use it: queries are ambiguous or broad, and the first results should cover their meanings.

    Args:
        alpha: As in `alpha_dcg`.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant. The ideal order is nearly the best: a ranking that
        beats it scores 1.
    """
    return _novel(judged, k, alpha, _log, ideal=True)


@diverse("retrieval-err-ia-at-k", short=("ERR_IA",), check=_check)
def err_ia(judged: Judged, *, k: Cutoff, alpha: float = 0.5) -> Scores:
    """
    Reciprocal rank expected over intents, divided by that of a ranking in which every result serves all of them.

    Formula: as `retrieval-alpha-dcg-at-k`, with the discount ``1 / i``. Source: Chapelle et al., CIKM 2009; TREC's
    ndeval, `ERR-IA`.

    When to use it: each reader has one intent, and stops at the first results that serve it.

    Args:
        alpha: The probability that a result which serves an intent satisfies its reader.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant.
    """
    return _novel(judged, k, alpha, _inverse, ideal=False)


@diverse("retrieval-nerr-ia-at-k", short=("nERR_IA",), check=_check)
def nerr_ia(judged: Judged, *, k: Cutoff, alpha: float = 0.5) -> Scores:
    """
    Reciprocal rank expected over intents, divided by that of the best order of the ground truth.

    Formula: as `retrieval-alpha-ndcg-at-k`, with the discount ``1 / i``. Source: Chapelle et al., CIKM 2009; TREC's
    ndeval, `nERR-IA`.

    When to use it: as `retrieval-err-ia-at-k`, when queries should weigh the same whatever their ground truth allows.

    Args:
        alpha: As in `err_ia`.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant.
    """
    return _novel(judged, k, alpha, _inverse, ideal=True)


@diverse("retrieval-nrbp", short=("NRBP",), check=_check_nrbp)
def nrbp(judged: Judged, *, alpha: float = 0.5, beta: float = 0.5) -> Scores:
    """
    Rank-biased precision of new intents, over that of a ranking in which every result serves all of them.

    Formula: as `retrieval-alpha-dcg-at-k` over all ranks, with the discount ``beta**(i - 1)``. Source: Clarke et al.,
    An effectiveness measure for ambiguous and underspecified queries, ICTIR 2009; TREC's ndeval, `NRBP`.

    When to use it: as `retrieval-alpha-dcg-at-k`, for readers who stop early, without a cutoff.

    Args:
        alpha: As in `alpha_dcg`.

        beta: The probability of going on to the next result.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant.
    """
    return _novel(judged, None, alpha, lambda rank: beta ** (rank - 1), ideal=False)


@diverse("retrieval-nnrbp", short=("nNRBP",), check=_check_nrbp)
def nnrbp(judged: Judged, *, alpha: float = 0.5, beta: float = 0.5) -> Scores:
    """
    Rank-biased precision of new intents, over that of the best order of the ground truth.

    Formula: as `retrieval-alpha-ndcg-at-k` over all ranks, with the discount ``beta**(i - 1)``. Source: Clarke et al.,
    ICTIR 2009; TREC's ndeval, `nNRBP`.

    When to use it: as `retrieval-nrbp`, when queries should weigh the same whatever their ground truth allows.

    Args:
        alpha: As in `alpha_dcg`.

        beta: As in `nrbp`.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant.
    """
    return _novel(judged, None, alpha, lambda rank: beta ** (rank - 1), ideal=True)


def _log(rank: int) -> float:
    return float(1.0 / np.log2(rank + 1.0))


def _inverse(rank: int) -> float:
    return 1.0 / rank


def _novel(judged: Judged, k: Cutoff | None, alpha: float, discount: Callable[[int], float], *, ideal: bool) -> Scores:
    """Return the discounted gain of new intents, over that of the ideal order, or of a ranking that serves all."""
    scores = np.full(judged.n, np.nan)
    for query in queries(judged, k):
        cutoff = judged.ideal_cutoff(k) if ideal else k
        last = None if cutoff is None else cutoff_of(cutoff, query.sample)
        if ideal:
            best = _gain(list(enumerate(_ideal(query.items, alpha)[:last], 1)), alpha, discount)
        else:
            best = query.n * _most(last, alpha, discount)
        scores[query.sample] = min(_gain(query.found, alpha, discount) / best, 1.0)
    return scores


def _gain(found: list[tuple[int, frozenset[int]]], alpha: float, discount: Callable[[int], float]) -> float:
    left: dict[int, float] = {}
    total = 0.0
    for rank, intents in found:
        total += sum(left.get(intent, 1.0) for intent in sorted(intents)) * discount(rank)
        left.update({intent: left.get(intent, 1.0) * (1.0 - alpha) for intent in intents})
    return total


def _ideal(items: list[frozenset[int]], alpha: float) -> list[frozenset[int]]:
    """Return the greedy order: at each rank the item that is worth most there, the first of equal ones."""
    left: dict[int, float] = {}
    rest, order = list(items), []
    while rest:
        worth = [sum(left.get(intent, 1.0) for intent in sorted(intents)) for intents in rest]
        order.append(rest.pop(worth.index(max(worth))))
        left.update({intent: left.get(intent, 1.0) * (1.0 - alpha) for intent in order[-1]})
    return order


_NEGLIGIBLE = 1e-18


def _most(last: int | None, alpha: float, discount: Callable[[int], float]) -> float:
    """Return the gain of a ranking whose every result serves one intent."""
    total, worth, rank = 0.0, 1.0, 1
    while (last is None or rank <= last) and worth * discount(rank) > _NEGLIGIBLE * total:
        total += worth * discount(rank)
        worth *= 1.0 - alpha
        rank += 1
    return total
