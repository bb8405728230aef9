"""
Judging by id: a join of retrieved ids with the gold ids of one sample.
"""

from __future__ import annotations

from rankgauge.judging.columns import Columns
from rankgauge.judging.ranking import Ranking
from rankgauge.samples import Expected

__all__ = ["add_by_id"]


def add_by_id(columns: Columns, ranking: Ranking | None, expected: Expected) -> None:
    """
    Add one sample.

    Args:
        columns: Receives its rows.

        ranking: What it retrieved; None for nothing.

        expected: Its ground truth.

    """
    sample = len(columns.depth)
    columns.depth.append(0 if ranking is None else len(ranking.ids))
    columns.graded.append(expected.graded)
    gold = expected.relevant
    if not gold:
        return
    start = len(columns.gold_sample)
    size = len(gold)
    columns.gold_sample += [sample] * size
    columns.gold_place += range(1, size + 1)
    columns.gold_grade += gold.values()
    columns.times += [1] * size if expected.repeats is None else [expected.repeats.get(name, 1) for name in gold]
    if ranking is None or gold.keys().isdisjoint(ranking.ids):
        return
    places = dict(zip(gold, range(start, start + size), strict=True))
    seen: set[int] = set()
    for rank, name in enumerate(ranking.ids, 1):
        if name is None or name not in gold or (ranking.repeated is not None and ranking.repeated[rank - 1]):
            continue
        place = places[name]
        columns.row_sample.append(sample)
        columns.row_rank.append(rank)
        columns.row_grade.append(gold[name])
        columns.row_gold.append(place)
        columns.first.append(place not in seen)
        columns.score.append(1.0)
        seen.add(place)
