"""
Intents: which of the meanings of a query (its subtopics) each item of the ground truth serves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from rankgauge.columns.judged_rows import Floats, Ints
from rankgauge.frozen import read_only

__all__ = ["Intents", "intents_of"]


class Intents(NamedTuple):
    """
    One row for each item and intent that it was judged for, in order of item.

    Attributes:
        item: Which item: a gold row of a batch, or a judgment.

        intent: Which intent, counted from 0 for each query.

        grade: The grade for this intent.

        place: The place of the item's id among those of its query, in descending order of bytes; settles ties between
            items that are worth the same.
    """

    item: Ints
    intent: Ints
    grade: Floats
    place: Ints

    def marked(self) -> Intents:
        """Return the same rows, which from now on are read-only."""
        for column in self:
            read_only(column)
        return self

    def renumbered(self, number: Ints) -> Intents:
        """Return the rows under other numbers of their items, ascending as before; -1 drops an item."""
        new = number[self.item]
        kept = new >= 0
        return Intents(new[kept], self.intent[kept], self.grade[kept], self.place[kept])

    def take(self, items: Ints) -> Intents:
        """Return the rows of some items, which are numbered anew in the order given."""
        start = np.searchsorted(self.item, items, side="left")
        lengths = np.searchsorted(self.item, items, side="right") - start
        within = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        rows = np.repeat(start, lengths) + within
        return Intents(np.repeat(np.arange(len(items)), lengths), self.intent[rows], self.grade[rows], self.place[rows])


def intents_of(owners: Sequence[int], ids: Sequence[bytes], grades: Sequence[Mapping[str, float]]) -> Intents:
    """Return the intents of items, given the query, the id and the grade for each intent of every item."""
    by_query: dict[int, dict[str, int]] = {}
    for owner, own in zip(owners, grades, strict=True):
        by_query.setdefault(owner, {}).update(dict.fromkeys(own, 0))
    for names in by_query.values():
        names.update({name: number for number, name in enumerate(sorted(names))})
    place = [0] * len(ids)
    for number, item in enumerate(sorted(range(len(ids)), key=ids.__getitem__, reverse=True)):
        place[item] = number
    rows = [
        (item, by_query[owner][name], grade, place[item])
        for item, (owner, own) in enumerate(zip(owners, grades, strict=True))
        for name, grade in sorted(own.items())
    ]
    items, intents, values, places = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Intents(
        np.array(items, dtype=np.int64),
        np.array(intents, dtype=np.int64),
        np.array(values, dtype=np.float64),
        np.array(places, dtype=np.int64),
    )
