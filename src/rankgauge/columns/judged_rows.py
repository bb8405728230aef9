"""
Rows: the columns that judged and gold items are in, and the intents of a query that each item serves.
"""

from __future__ import annotations

import functools
import heapq
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankgauge.base.frozen import read_only

__all__ = [
    "ANY_GRADE",
    "POSITIVE",
    "Cutoff",
    "Flags",
    "Floats",
    "Intents",
    "Ints",
    "Relevance",
    "Rows",
    "Scores",
    "assign",
    "dense",
    "distinct",
    "first_of_each",
    "gather",
    "has_mask",
    "intents_of",
    "nth_of_each",
    "one_a_rank",
    "ones",
    "own_order",
    "own_ranked",
    "stretches",
    "unmasked",
    "unmasked_flags",
]

N = TypeVar("N", bound="np.generic[Any]")

Cutoff = int | NDArray[np.int64]
"""How many results count: one number for all samples, or one for each, shape (n,)."""

Scores = NDArray[np.float64]
"""One number for each sample, shape (n,); NaN if the metric has no value."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class Relevance(NamedTuple):
    """
    From which grade on an item is relevant.

    Attributes:
        minimum: The grade.

        strict: Whether the grade must be above *minimum*, rather than at least that.
    """

    minimum: float
    strict: bool

    def of(self, grades: Floats) -> Flags:
        """Return which of *grades* are relevant."""
        return grades > self.minimum if self.strict else grades >= self.minimum

    def holds(self, grade: float) -> bool:
        """Return whether one grade is relevant."""
        return grade > self.minimum if self.strict else grade >= self.minimum

    @classmethod
    def from_grade(cls, minimum: float) -> Relevance:
        """Return the threshold that a grade reaches when it is at least *minimum*."""
        return cls(float(minimum), strict=False)


POSITIVE = Relevance(0.0, strict=True)
"""A gain above 0: the default."""

ANY_GRADE = Relevance(-np.inf, strict=False)
"""Everything that the ground truth names, also with a gain of 0 or below."""


class Rows(NamedTuple):
    """
    Rows in order of sample, then rank.

    Attributes:
        sample: Which sample, from 0.

        rank: At which rank, from 1.

        grade: Which gain.

        gold: Which gold row, counted over the batch.
    """

    sample: Ints
    rank: Ints
    grade: Floats
    gold: Ints

    def marked(self) -> Rows:
        """Return the same rows, which from now on are read-only."""
        for column in self:
            column.setflags(write=False)
        return self

    def where(self, mask: NDArray[np.bool_] | Ints) -> Rows:
        """Return the rows that a mask or an index selects; a mask that selects all changes nothing."""
        if mask.dtype == np.bool_:
            if np.count_nonzero(mask) == len(mask):
                return self
            mask = mask.nonzero()[0]  # faster than the mask for four columns
        return Rows(self.sample[mask], self.rank[mask], self.grade[mask], self.gold[mask])

    def until(self, k: Cutoff | None) -> Rows:
        """Return the rows within the cutoff; None cuts nothing."""
        if k is None:
            return self
        return self.where(self.rank <= (k if isinstance(k, int) else k[self.sample]))

    def nth(self) -> Ints:
        """Return for each row, counting from 1, which one of its sample's rows it is."""
        return nth_of_each(self.sample)

    def first_of_each_sample(self) -> Rows:
        """Return the first row of each sample."""
        return self.where(first_of_each(self.sample))

    def best_first(self) -> Rows:
        """Return the same rows reordered by descending grade within each sample, ranked from 1 anew."""
        rises = self.grade[1:] > self.grade[:-1]
        if np.count_nonzero(rises) and np.count_nonzero(rises & (self.sample[1:] == self.sample[:-1])):
            ordered = self.where(np.lexsort((-self.grade, self.sample)))
            return ordered._replace(rank=ordered.nth())
        return Rows(self.sample, self.nth(), self.grade, self.gold)


def one_a_rank(rows: Rows) -> Rows:
    """Return the first row of each rank."""
    repeats = rows.rank[1:] == rows.rank[:-1]
    if not np.count_nonzero(repeats):  # which for few is much faster than `any`
        return rows
    first = np.ones(len(rows.rank), dtype=np.bool_)
    first[1:] = ~repeats | (rows.sample[1:] != rows.sample[:-1])
    return rows.where(first)


def assign(hits: Rows, *, repeats: bool) -> Ints:
    """
    Give each rank at most one gold item, and each gold item at most one rank.

    A rank takes the highest grade that is left; of equal ones, that which comes last the earliest, so that ranks below
    go without only where they must. What is earned is a partial matching, and never exceeds the ideal.
    """
    samples, ranks, grades, golds = (column.tolist() for column in hits)
    last = dict(zip(golds, ranks, strict=True))  # rows are in order of rank, so that the last one stays
    chosen: list[int] = []
    taken: set[int] = set()
    rank_of: dict[tuple[int, int], list[int]] = {}
    for place, where in enumerate(zip(samples, ranks, strict=True)):
        rank_of.setdefault(where, []).append(place)
    for places in rank_of.values():
        left = [place for place in places if repeats or golds[place] not in taken]
        if left:
            best = min(left, key=lambda place: (-grades[place], last[golds[place]], golds[place]))
            chosen.append(best)
            taken.add(golds[best])
    return np.array(chosen, dtype=np.int64)


def own_ranked(found: Rows) -> Rows:
    """
    Return rows at ranks of their own: none above the rank at which it was found, no two of a sample at the same one.

    Each rank in turn goes to the best grade that still waits, of equal ones to that which was found first. No choice is
    better at any cutoff, so that finding an item earlier never costs anything. Found at 1, 1, 1 and 2 with the grades
    1, 2, 1 and 3, the own ranks are 3, 1, 4 and 2.
    """
    if one_a_rank(found) is found:
        return found
    rows, ranks = own_order(found.sample.tolist(), found.rank.tolist(), found.grade.tolist())
    return found.where(np.array(rows, dtype=np.int64))._replace(rank=np.array(ranks, dtype=np.int64))


def own_order(samples: Sequence[int], found: Sequence[int], grades: Sequence[float]) -> tuple[list[int], list[int]]:
    """Return rows in order of their own ranks, and these ranks, as `own_ranked` has them."""
    rows: list[int] = []
    ranks: list[int] = []
    waiting: list[tuple[float, int]] = []
    sample = rank = 0

    def hand_out(end: float) -> None:
        nonlocal rank
        while waiting and rank < end:
            rows.append(heapq.heappop(waiting)[1])
            ranks.append(rank)
            rank += 1

    for row, (own, at, grade) in enumerate(zip(samples, found, grades, strict=True)):
        hand_out(at if own == sample else np.inf)
        rank = at if own != sample else max(rank, at)
        sample = own
        heapq.heappush(waiting, (-grade, row))
    hand_out(np.inf)
    return rows, ranks


@functools.lru_cache(maxsize=256)
def ones(count: int, dtype: type[N]) -> NDArray[N]:
    """Return an array of ones, to be read only, in the memory of a single one."""
    return read_only(np.ndarray((count,), dtype=dtype, buffer=dtype(1), strides=(0,)))


def distinct(values: Ints) -> Ints:
    """Return the distinct values, in order; what numpy has for it loads much that nothing else needs."""
    ordered = np.sort(values)
    return ordered[first_of_each(ordered)]


def first_of_each(ordered: Ints) -> Flags:
    """Return which values, of values in order, are not the same as the one before."""
    first = np.ones(len(ordered), dtype=np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    return first


def nth_of_each(ordered: Ints) -> Ints:
    """Return the number of each value among its equals, from 1, in values that are in order."""
    number = np.arange(1, len(ordered) + 1)
    if not len(ordered) or ordered[0] == ordered[-1]:
        return number
    begun = np.maximum.accumulate(number * first_of_each(ordered))  # 5 5 5 8 8: 1 0 0 4 0, and so 1 1 1 4 4
    return number - begun + 1


def stretches(starts: Ints, lengths: Ints) -> Ints:
    """Return the places in stretches of some lengths: of those that start at 7 and 2 with 2 and 3, 7 8 2 3 4."""
    ends = np.cumsum(lengths)
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(int(ends[-1]) if len(ends) else 0)


def gather(owners: Ints, samples: Ints) -> tuple[Ints, Ints]:
    """Return the places of the rows that *samples* own, and the new number of each one's sample."""
    starts = np.searchsorted(owners, samples, side="left")
    lengths = np.searchsorted(owners, samples, side="right") - starts
    return stretches(starts, lengths), np.repeat(np.arange(len(samples)), lengths)


def dense(rows: Rows, n: int, width: int) -> Floats:
    """Return the grades of some rows by sample and rank, shape (n, width), 0 elsewhere."""
    table = np.zeros((n, width))
    table[rows.sample, rows.rank - 1] = rows.grade
    return table


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


def unmasked(returned: Any) -> Floats:  # noqa: ANN401  # whatever a plugin returned
    """Return numbers that a plugin returned as an array; what is masked is NaN, as what has no value."""
    values = np.asarray(returned, dtype=np.float64)
    if type(returned) is np.ndarray or not has_mask(returned):
        return values
    return np.where(np.ma.getmaskarray(returned), np.nan, values)


def unmasked_flags(returned: Any) -> Flags:  # noqa: ANN401  # whatever a plugin returned
    """Return flags that a plugin returned as an array; what is masked is not set."""
    return np.array(np.ma.filled(returned, fill_value=False) if has_mask(returned) else returned, dtype=np.bool_)


def has_mask(value: object) -> bool:
    """Return whether a value is a masked array of numpy; it is none if those are not loaded, which takes long."""
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(value, masked.MaskedArray)


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
