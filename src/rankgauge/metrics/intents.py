"""
Queries with intents in plain values, for measures of diversity; diversity judgments are few.

Ground truth names the intents of an item (TREC's diversity judgments, or `intent` in a sample). Where it names none,
the query has one intent, and every relevant item serves it. Grades are binary here: an item serves an intent for which
it is relevant.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rankgauge.metrics.family import retrieval
from rankgauge.plugin import Cutoff, Judged

__all__ = ["Query", "cutoff_of", "diverse", "queries"]

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
