"""
Diversity: whether the first results serve many intents of a query, and how little they repeat.

Ground truth names the intents of an item (TREC's diversity judgments, or `intent` in a sample). Where it names none,
the query has one intent, and every relevant item serves it. Grades are binary here: an item serves an intent for which
it is relevant. The numbers are those of TREC's `ndeval`, with its normalization at cutoff 1, too.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from rankgauge.metrics.family import retrieval
from rankgauge.plugin import Cutoff, Judged, Scores

__all__ = [
    "alpha_dcg",
    "alpha_ndcg",
    "average_precision_ia",
    "err_ia",
    "nerr_ia",
    "nnrbp",
    "nrbp",
    "precision_ia",
    "subtopic_recall",
]


class _Query(NamedTuple):
    """One query: what it has, and what was found."""

    sample: int
    n: int  # how many intents have a relevant item
    items: list[frozenset[int]]  # the intents of every relevant item, ties settled by id
    found: list[tuple[int, frozenset[int]]]  # rank, and the intents that the item there serves


def _check(*, alpha: float) -> None:
    if not 0 <= alpha <= 1:
        msg = f"alpha is how much of an item's worth a repeated intent loses, from 0 to 1, not {alpha}"
        raise ValueError(msg)


def _check_nrbp(*, alpha: float, beta: float) -> None:
    _check(alpha=alpha)
    if not 0 < beta < 1:
        msg = f"beta is the probability of going on to the next result, above 0 and below 1, not {beta}"
        raise ValueError(msg)


_diverse = functools.partial(
    retrieval, gold="relevant", matcher=None, needs=("intents",), laws=("bounded", "padding", "tail", "duplicates")
)


@_diverse("retrieval-alpha-dcg-at-k", short=("alpha_DCG",), check=_check)
def alpha_dcg(judged: Judged, *, k: Cutoff, alpha: float = 0.5) -> Scores:
    """
    Discounted gain of new intents, over that of a ranking in which every result serves all of them.

    Formula: ``sum over ranks i up to k of g_i / log2(i + 1)``, divided by its highest value for so many intents, with
    ``g_i = sum over intents served at i of (1 - alpha)**(times it was served above)``. Source: Clarke et al., Novelty
    and diversity in information retrieval evaluation, SIGIR 2008; TREC's ndeval, `alpha-DCG`.

    When to use it: as `retrieval-alpha-ndcg-at-k`, when queries with hard intents should score lower.

    Args:
        judged: The rankings of a batch of samples.

        k: How many results count, for all samples or for each.

        alpha: Share of its worth that an intent loses each time it is served.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    return _novel(judged, k, alpha, _log, ideal=False)


@_diverse("retrieval-alpha-ndcg-at-k", short=("alpha_nDCG", "alpha_ndcg"), check=_check)
def alpha_ndcg(judged: Judged, *, k: Cutoff, alpha: float = 0.5) -> Scores:
    """
    Discounted gain of new intents, over that of the best order of the ground truth.

    Formula: as `retrieval-alpha-dcg-at-k`, divided by its value for the ideal order, which takes the item that is worth
    most at each rank; of equal ones, the last by id. Source: Clarke et al., SIGIR 2008; TREC's ndeval, `alpha-nDCG`.

    When to use it: queries are ambiguous or broad, and the first results should cover their meanings.

    Args:
        judged: The rankings of a batch of samples.

        k: As in `alpha_dcg`.

        alpha: As in `alpha_dcg`.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant. The ideal order is nearly the best: a ranking that
        beats it scores 1.
    """
    return _novel(judged, k, alpha, _log, ideal=True)


@_diverse("retrieval-err-ia-at-k", short=("ERR_IA",), check=_check)
def err_ia(judged: Judged, *, k: Cutoff, alpha: float = 0.5) -> Scores:
    """
    Reciprocal rank expected over intents, divided by that of a ranking in which every result serves all of them.

    Formula: as `retrieval-alpha-dcg-at-k`, with the discount ``1 / i``. Source: Chapelle et al., CIKM 2009; TREC's
    ndeval, `ERR-IA`.

    When to use it: each reader has one intent, and stops at the first results that serve it.

    Args:
        judged: The rankings of a batch of samples.

        k: As in `alpha_dcg`.

        alpha: The probability that a result which serves an intent satisfies its reader.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    return _novel(judged, k, alpha, _inverse, ideal=False)


@_diverse("retrieval-nerr-ia-at-k", short=("nERR_IA",), check=_check)
def nerr_ia(judged: Judged, *, k: Cutoff, alpha: float = 0.5) -> Scores:
    """
    Reciprocal rank expected over intents, divided by that of the best order of the ground truth.

    Formula: as `retrieval-alpha-ndcg-at-k`, with the discount ``1 / i``. Source: Chapelle et al., CIKM 2009; TREC's
    ndeval, `nERR-IA`.

    When to use it: as `retrieval-err-ia-at-k`, when queries should weigh the same whatever their ground truth allows.

    Args:
        judged: The rankings of a batch of samples.

        k: As in `alpha_dcg`.

        alpha: As in `err_ia`.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    return _novel(judged, k, alpha, _inverse, ideal=True)


@_diverse("retrieval-nrbp", short=("NRBP",), check=_check_nrbp)
def nrbp(judged: Judged, *, alpha: float = 0.5, beta: float = 0.5) -> Scores:
    """
    Rank-biased precision of new intents, over that of a ranking in which every result serves all of them.

    Formula: as `retrieval-alpha-dcg-at-k` over all ranks, with the discount ``beta**(i - 1)``. Source: Clarke et al.,
    An effectiveness measure for ambiguous and underspecified queries, ICTIR 2009; TREC's ndeval, `NRBP`.

    When to use it: as `retrieval-alpha-dcg-at-k`, for readers who stop early, without a cutoff.

    Args:
        judged: The rankings of a batch of samples.

        alpha: As in `alpha_dcg`.

        beta: The probability of going on to the next result.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    return _novel(judged, None, alpha, lambda rank: beta ** (rank - 1), ideal=False)


@_diverse("retrieval-nnrbp", short=("nNRBP",), check=_check_nrbp)
def nnrbp(judged: Judged, *, alpha: float = 0.5, beta: float = 0.5) -> Scores:
    """
    Rank-biased precision of new intents, over that of the best order of the ground truth.

    Formula: as `retrieval-alpha-ndcg-at-k` over all ranks, with the discount ``beta**(i - 1)``. Source: Clarke et al.,
    ICTIR 2009; TREC's ndeval, `nNRBP`.

    When to use it: as `retrieval-nrbp`, when queries should weigh the same whatever their ground truth allows.

    Args:
        judged: The rankings of a batch of samples.

        alpha: As in `alpha_dcg`.

        beta: As in `nrbp`.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    return _novel(judged, None, alpha, lambda rank: beta ** (rank - 1), ideal=True)


@_diverse("retrieval-map-ia", short=("AP_IA", "MAP_IA"))
def average_precision_ia(judged: Judged) -> Scores:
    """
    Mean over intents of average precision.

    Formula: ``mean over intents of AP``, with the items that serve the intent as the relevant ones. Source: Agrawal et
    al., Diversifying search results, WSDM 2009; TREC's ndeval, `MAP-IA`.

    When to use it: every intent matters as much, and all of what serves it should be found.

    Args:
        judged: The rankings of a batch of samples.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    scores = np.full(judged.n, np.nan)
    for query in _queries(judged):
        wanted: dict[int, int] = {}
        for intents in query.items:
            for intent in intents:
                wanted[intent] = wanted.get(intent, 0) + 1
        seen, total = dict.fromkeys(wanted, 0), dict.fromkeys(wanted, 0.0)
        for rank, intents in query.found:
            for intent in intents:
                seen[intent] += 1
                total[intent] += seen[intent] / rank
        scores[query.sample] = sum(total[intent] / count for intent, count in sorted(wanted.items())) / query.n
    return scores


@_diverse("retrieval-precision-ia-at-k", short=("P_IA",))
def precision_ia(judged: Judged, *, k: Cutoff) -> Scores:
    """
    Mean over intents of precision.

    Formula: ``|pairs of an intent and a rank up to k whose item serves it| / (k * |intents|)``. Source: Agrawal et al.,
    WSDM 2009; TREC's ndeval, `P-IA`.

    When to use it: every intent matters as much, and every result is shown.

    Args:
        judged: The rankings of a batch of samples.

        k: How many results count, for all samples or for each.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    scores = np.full(judged.n, np.nan)
    for query in _queries(judged, k):
        served = sum(len(intents) for _, intents in query.found)
        scores[query.sample] = served / (_cutoff(k, query.sample) * query.n)
    return scores


@_diverse("retrieval-subtopic-recall-at-k", short=("StRecall", "strec", "subtopic_recall"))
def subtopic_recall(judged: Judged, *, k: Cutoff) -> Scores:
    """
    Fraction of the intents that the first *k* results serve.

    Formula: ``|intents served by one of the first k| / |intents with a relevant item|``. Source: Zhai, Cohen &
    Lafferty, Beyond independent relevance, SIGIR 2003; TREC's ndeval, `strec`.

    When to use it: one result for each meaning is enough.

    Args:
        judged: The rankings of a batch of samples.

        k: How many results count, for all samples or for each.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    scores = np.full(judged.n, np.nan)
    for query in _queries(judged, k):
        scores[query.sample] = len(frozenset().union(*(intents for _, intents in query.found))) / query.n
    return scores


def _log(rank: int) -> float:
    return float(1.0 / np.log2(rank + 1.0))


def _inverse(rank: int) -> float:
    return 1.0 / rank


def _novel(judged: Judged, k: Cutoff | None, alpha: float, discount: Callable[[int], float], *, ideal: bool) -> Scores:
    """Return the discounted gain of new intents, over that of the ideal order, or of a ranking that serves all."""
    scores = np.full(judged.n, np.nan)
    for query in _queries(judged, k):
        cutoff = judged.ideal_cutoff(k) if ideal else k
        last = None if cutoff is None else _cutoff(cutoff, query.sample)
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


def _cutoff(k: Cutoff, sample: int) -> int:
    return k if isinstance(k, int) else int(k[sample])


def _queries(judged: Judged, k: Cutoff | None = None) -> Iterator[_Query]:
    """Yield every query with something relevant, in plain values; diversity judgments are few."""
    by_item = _intents_of_items(judged)
    gold_starts = np.searchsorted(judged.gold.sample, np.arange(judged.n + 1)).tolist()
    rows = judged.rows.where(judged.first & judged.earns).until(k)
    row_starts = np.searchsorted(rows.sample, np.arange(judged.n + 1)).tolist()
    ranks, golds = rows.rank.tolist(), rows.gold.tolist()
    for sample in range(judged.n):
        own = range(gold_starts[sample], gold_starts[sample + 1])
        items = [by_item[item] for item in sorted(own, key=lambda item: by_item[item][0]) if by_item[item][1]]
        if not items:
            continue
        found = [
            (ranks[row], by_item[golds[row]][1])
            for row in range(row_starts[sample], row_starts[sample + 1])
            if by_item[golds[row]][1]
        ]
        served = frozenset().union(*(intents for _, intents in items))
        yield _Query(sample, len(served), [intents for _, intents in items], found)


def _intents_of_items(judged: Judged) -> list[tuple[int, frozenset[int]]]:
    """Return for each gold item its place among items that are worth the same, and the intents it is relevant for."""
    relevant = judged.relevance.of(judged.gold.grade).tolist()
    plain: list[tuple[int, frozenset[int]]] = [
        (item, frozenset({0}) if is_relevant else frozenset()) for item, is_relevant in enumerate(relevant)
    ]
    if judged.intents is None:
        return plain
    named = {int(sample) for sample in judged.gold.sample[judged.intents.item]}
    found: list[tuple[int, frozenset[int]]] = [
        (item, frozenset()) if sample in named else plain[item]
        for item, sample in enumerate(judged.gold.sample.tolist())
    ]
    serves = judged.relevance.of(judged.intents.grade).tolist()
    columns = (judged.intents.item.tolist(), judged.intents.intent.tolist(), judged.intents.place.tolist(), serves)
    for item, intent, place, is_relevant in zip(*columns, strict=True):
        found[item] = (place, found[item][1] | {intent} if is_relevant else found[item][1])
    return found
