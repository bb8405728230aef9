"""
Diversity: measures averaged over the intents of a query, and how many intents are served at all.

The numbers are those of TREC's `ndeval`.
"""

from __future__ import annotations

import numpy as np

from rankgauge.metrics.intents import cutoff_of, diverse, queries
from rankgauge.plugin import Cutoff, Judged, Scores

__all__ = ["average_precision_ia", "precision_ia", "subtopic_recall"]


@diverse("retrieval-map-ia", short=("AP_IA", "MAP_IA"))
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

    Args:
        judged: The rankings of a batch of samples.

        k: How many results count, for all samples or for each.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
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

    Args:
        judged: The rankings of a batch of samples.

        k: How many results count, for all samples or for each.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    scores = np.full(judged.n, np.nan)
    for query in queries(judged, k):
        scores[query.sample] = len(frozenset().union(*(intents for _, intents in query.found))) / query.n
    return scores
