"""
Other orders of the same results: the best one there is, and the one in which they came.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rankgauge.columns import Ints, Judged, Rows
from rankgauge.columns.judged_rows import first_of_each
from rankgauge.judging import Ranking
from rankgauge.plugin.metric import Metric

__all__ = ["best_order", "can_be_reordered", "order_of", "reordered"]


def can_be_reordered(metric: Metric, judged: Judged) -> bool:
    """Return whether a metric sees nothing but judged rows, of which a reordering knows all."""
    return not metric.judging.needs and judged.low is None and judged.cover is None and bool(judged.earns.all())


def reordered(judged: Judged, ranks: Ints) -> Judged:
    """Return a batch whose results have other *ranks*, those of one sample after those of another; shape (results,)."""
    rows = judged.rows
    starts = np.cumsum(judged.depth) - judged.depth
    moved = ranks[starts[rows.sample] + rows.rank - 1]
    order = np.lexsort((moved, rows.sample))
    changed = Rows(rows.sample[order], moved[order], rows.grade[order], rows.gold[order])
    by_gold = np.argsort(changed.gold, kind="stable")
    first = np.zeros(len(order), dtype=np.bool_)
    first[by_gold] = first_of_each(changed.gold[by_gold])
    return replace(judged, rows=changed, first=first, earns=judged.earns[order], score=judged.score[order])


def best_order(judged: Judged) -> Ints:
    """
    Return ranks for `reordered`: what has the highest grade first, of equal grades what holds more gold items.

    What repeats a gold item counts as nothing. Where each result holds one gold item at most, no order scores higher.
    """
    rows, n_results = judged.rows.where(judged.first), int(judged.depth.sum())
    starts = np.cumsum(judged.depth) - judged.depth
    places = starts[rows.sample] + rows.rank - 1
    grade, count = np.zeros(n_results), np.zeros(n_results, dtype=np.int64)
    np.maximum.at(grade, places, rows.grade)
    np.add.at(count, places, 1)
    owner = np.repeat(np.arange(judged.n), judged.depth)
    order = np.lexsort((-count, -grade, owner))
    ranks = np.empty(n_results, dtype=np.int64)
    ranks[order] = np.arange(n_results) - starts[owner[order]] + 1
    return ranks


def order_of(rankings: Sequence[Ranking | None], earlier: Sequence[Ranking | None]) -> Ints:
    """Return ranks for `reordered`: those of an earlier stage; what it does not have follows in its present order."""
    ranks: list[int] = []
    for ranking, before in zip(rankings, earlier, strict=True):
        if ranking is None:
            continue
        items = _items(ranking)
        places = {} if before is None else {item: at for at, item in reversed(list(enumerate(_items(before))))}
        order = sorted(
            range(len(items)),
            key=lambda at, items=items, places=places: (  # type: ignore[misc]
                places.get(items[at], len(places)),
                at,
            ),
        )
        new = dict(zip(order, range(1, len(order) + 1), strict=True))
        ranks += [new[at] for at in range(len(items))]
    return np.array(ranks, dtype=np.int64)


def _items(ranking: Ranking) -> list[str | None]:
    """Return what tells results apart: the id of each, or its text."""
    if ranking.texts is None:
        return list(ranking.ids)
    return [text if name is None else name for name, text in zip(ranking.ids, ranking.texts, strict=True)]
