"""
`Parts`: which parts of gold texts and spans each result holds, and the rank at which enough of each is held together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from rankgauge.base.frozen import read_only
from rankgauge.columns.judged_rows import Flags, Floats, Ints, gather

__all__ = ["Found", "Part", "Parts", "Row", "found_rows", "length", "united"]

Part = tuple[int, int, int, int, int]
"""A part of a gold item that a result holds: its sample, rank, gold row, start and end."""

Row = tuple[int, int, int, float]
"""A result that finds a gold item: its sample, rank, gold row and score."""

_GOLD_AND_RANK = itemgetter(2, 1)


class Found(NamedTuple):
    """
    Results that find a gold item, in order of sample, rank and gold item.

    Attributes:
        sample: The sample of each.

        rank: Its rank.

        gold: The gold row that it finds.

        score: The share of the gold item that it holds alone; if that is too little, what the results down to it
            hold together.
    """

    sample: Ints
    rank: Ints
    gold: Ints
    score: Floats


class Parts(NamedTuple):
    """
    Parts of the gold items of a batch that its results hold, from which follows where each is found in any order.

    A gold item is found at the first rank down to which the results hold enough of it together. A result finds it that
    brings it there, or that holds as much alone.

    Attributes:
        sample: The sample of each part.

        rank: The rank of the result that holds it.

        gold: The gold row of which it is a part.

        start: Where it begins, in whatever the gold item is measured in.

        end: Where it ends, exclusive.

        size: The size of each gold row; shape (gold,).

        threshold: From which share on a gold item is found.

        joint: Whether results find one together; otherwise each finds it alone.
    """

    sample: Ints
    rank: Ints
    gold: Ints
    start: Ints
    end: Ints
    size: Ints
    threshold: float
    joint: bool

    def marked(self) -> Parts:
        """Return the same columns, which from now on are read-only."""
        for column in (self.sample, self.rank, self.gold, self.start, self.end, self.size):
            read_only(column)
        return self

    def where(self, chosen: Flags | Ints) -> Parts:
        """Return some of the parts."""
        sample, rank, gold, start, end = (column[chosen] for column in self[:5])
        return self._replace(sample=sample, rank=rank, gold=gold, start=start, end=end)

    def take(self, samples: Ints, gold: Ints) -> Parts:
        """Return a batch of some of the samples, in the order wanted; *gold* are their gold rows."""
        kept, owners = gather(self.sample, samples)
        number = np.zeros(len(self.size), dtype=np.int64)
        number[gold] = np.arange(len(gold))
        parts = self.where(kept)
        return parts._replace(sample=owners, gold=number[parts.gold], size=self.size[gold])

    def found(self) -> Found:
        """Return the results that find gold items."""
        columns = (self.sample, self.rank, self.gold, self.start, self.end)
        rows = list(zip(*(column.tolist() for column in columns), strict=True))
        found = found_rows(rows, self.size.tolist(), self.threshold, joint=self.joint)
        sample, rank, gold, score = zip(*found, strict=True) if found else ((), (), (), ())
        owners, ranks, golds = (np.array(column, dtype=np.int64) for column in (sample, rank, gold))
        return Found(owners, ranks, golds, np.array(score, dtype=np.float64))

    def fewest(self) -> list[int]:
        """Return the ranks of few results that find one gold item together, given its parts alone: most first."""
        held: dict[int, list[tuple[int, int]]] = {}
        for rank, start, end in zip(self.rank.tolist(), self.start.tolist(), self.end.tolist(), strict=True):
            held.setdefault(rank, []).append((start, end))
        size = int(self.size[self.gold[0]])
        chosen: list[int] = []
        union: list[tuple[int, int]] = []
        while length(union) < self.threshold * size and len(chosen) < len(held):
            best = max(
                (rank for rank in held if rank not in chosen), key=lambda rank: length(united([*union, *held[rank]]))
            )
            chosen.append(best)
            union = united([*union, *held[best]])
        return chosen


def found_rows(parts: Iterable[Part], sizes: Sequence[float], threshold: float, *, joint: bool) -> list[Row]:
    """Return the results that find gold items, as `Found` has them, given all parts and the size of each gold item."""
    ordered = sorted(parts, key=_GOLD_AND_RANK)
    found = [
        row
        for gold, own in groupby(ordered, itemgetter(2))
        for row in _found(list(own), sizes[gold], threshold, joint=joint)
    ]
    found.sort()
    return found


def _found(parts: Sequence[Part], size: float, threshold: float, *, joint: bool) -> Iterator[Row]:
    """Yield the results that find one gold item, given its parts in order of rank."""
    sample, _, gold, *_ = parts[0]
    union: list[tuple[int, int]] = []
    before = 0.0
    for rank, held in groupby(parts, itemgetter(1)):
        own = [(start, end) for *_, start, end in held]
        share = length(united(own)) / size
        if joint and before < threshold:
            union = united([*union, *own])
            together = length(union) / size
            if share < threshold <= together:
                share = together
            before = together
        if share >= threshold:
            yield sample, rank, gold, share


def united(parts: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return stretches in order, of which none meets another."""
    union: list[tuple[int, int]] = []
    for start, end in sorted(parts):
        if union and start <= union[-1][1]:
            union[-1] = (union[-1][0], max(end, union[-1][1]))
        else:
            union.append((start, end))
    return union


def length(parts: list[tuple[int, int]]) -> int:
    """Return how long stretches are that do not meet."""
    return sum(end - start for start, end in parts)
