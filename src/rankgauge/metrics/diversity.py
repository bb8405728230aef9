"""
Diversity: measures averaged over the intents of a query, and how many intents are served.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rankgauge.metrics.family import retrieval
from rankgauge.plugin import Cutoff, Judged, Scores

__all__ = ["Query", "average_precision_ia", "cutoff_of", "diverse", "precision_ia", "queries", "subtopic_recall"]

diverse = functools.partial(
    retrieval, gold="relevant", matcher=None, needs=("intents",), laws=("bounded", "padding", "tail", "duplicates")
)
"""Declare a metric that reads intents."""


class Query(NamedTuple):
    """One query: what it has, and what was found."""

    sample: int
    n: int  # how many intents have a relevant item
    items: list[frozenset[int]]  # the intents of every relevant item, ties settled by id
    found: list[tuple[int, frozenset[int]]]  # rank, and the intents that the item there serves


def cutoff_of(k: Cutoff, sample: int) -> int:
    """Return the cutoff of one sample."""
    return k if isinstance(k, int) else int(k[sample])


def queries(judged: Judged, k: Cutoff | None = None) -> Iterator[Query]:
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
        yield Query(sample, len(served), [intents for _, intents in items], found)


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


@diverse("retrieval-map-ia", short=("AP_IA", "MAP_IA"))
def average_precision_ia(judged: Judged) -> Scores:
    """
    Mean over intents of average precision.

    Formula: ``mean over intents of AP``, with the items that serve the intent as the relevant ones. Source: Agrawal et
    al., Diversifying search results, WSDM 2009; TREC's ndeval, `MAP-IA`.

    When to use it: every intent matters as much, and all of what serves it should be found.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant.
    """
    scores = np.full(judged.n, np.nan)
    for query in queries(judged):
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


@diverse("retrieval-precision-ia-at-k", short=("P_IA",))
def precision_ia(judged: Judged, *, k: Cutoff) -> Scores:
    """
    Mean over intents of precision.

    Formula: ``|pairs of an intent and a rank up to k whose item serves it| / (k * |intents|)``. Source: Agrawal et al.,
    WSDM 2009; TREC's ndeval, `P-IA`.

    When to use it: every intent matters as much, and every result is shown.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant.
    """
    scores = np.full(judged.n, np.nan)
    for query in queries(judged, k):
        served = sum(len(intents) for _, intents in query.found)
        scores[query.sample] = served / (cutoff_of(k, query.sample) * query.n)
    return scores


@diverse("retrieval-subtopic-recall-at-k", short=("StRecall", "strec", "subtopic_recall"))
def subtopic_recall(judged: Judged, *, k: Cutoff) -> Scores:
    """
    Fraction of the intents that the first *k* results serve.

    Formula: ``|intents served by one of the first k| / |intents with a relevant item|``. Source: Zhai, Cohen &
    Lafferty, Beyond independent relevance, SIGIR 2003; TREC's ndeval, `strec`.

    When to use it: one result for each meaning is enough.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant.
    """
    scores = np.full(judged.n, np.nan)
    for query in queries(judged, k):
        scores[query.sample] = len(frozenset().union(*(intents for _, intents in query.found))) / query.n
    return scores
