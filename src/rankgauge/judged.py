"""
`Judged`: the columns that every metric reads, and nothing else.

A judged row says: this sample retrieved, at this rank, an item that the ground truth names, with this grade. The
size of a `Judged` follows the judgments, not the rankings, so rankings of any depth stay small. Rows stand in order
of sample, then rank; every sum over them is made in that order, so a sample's score never depends on its batch.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["ANY_GRADE", "POSITIVE", "Cutoff", "Judged", "JudgedSample", "Relevance", "Rows", "Scores"]

Cutoff = int | NDArray[np.int64]
"""How many results count: one number for all samples, or one for each, shape (n,)."""

Scores = NDArray[np.float64]
"""One number for each sample, shape (n,); NaN where the metric has no value."""

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


POSITIVE = Relevance(0.0, strict=True)
"""A gain above 0: the default."""

ANY_GRADE = Relevance(-np.inf, strict=False)
"""Everything that the ground truth names, whatever its gain."""


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

    def where(self, mask: NDArray[np.bool_] | Ints) -> Rows:
        """Return the rows that a mask or an index selects."""
        return Rows(self.sample[mask], self.rank[mask], self.grade[mask], self.gold[mask])

    def until(self, k: Cutoff | None) -> Rows:
        """Return the rows within the cutoff; None cuts nothing."""
        if k is None:
            return self
        return self.where(self.rank <= (k if isinstance(k, int) else k[self.sample]))

    def nth(self) -> Ints:
        """Return for each row, counting from 1, which one of its sample's rows it is."""
        places = np.arange(len(self.sample))
        return places - np.searchsorted(self.sample, self.sample) + 1

    def best_first(self) -> Rows:
        """Return the same rows reordered by descending grade within each sample, ranked from 1 anew."""
        ordered = self.where(np.lexsort((-self.grade, self.sample)))
        return ordered._replace(rank=ordered.nth())


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """
    A batch of samples, judged: which gold item was found at which rank.

    Attributes:
        n: Number of samples.

        depth: How many items each sample retrieved, after policy; shape (n,).

        rows: The judged rows: every retrieved item that the ground truth names, with grades of 0 and below.

        first: Whether a judged row is the first that holds its gold item; shape (rows,).

        score: The match score of each judged row, from 0 to 1; shape (rows,).

        gold: The gold rows, one for each item of the ground truth; `rank` is its place there, from 1.

        times: How often each gold item was listed; shape (gold,).

        graded: Whether the ground truth gives grades, rather than a plain list; shape (n,).

        relevance: From which grade on an item is relevant.

        counts_repeats: Whether a gold item earns again when it is retrieved again (policy `duplicates=keep`).
    """

    n: int
    depth: Ints
    rows: Rows
    first: Flags
    score: Floats
    gold: Rows
    times: Ints
    graded: Flags
    relevance: Relevance = POSITIVE
    counts_repeats: bool = False

    def at_least(self, rel: float) -> Judged:
        """
        Return the same columns with another threshold of relevance.

        Args:
            rel: The grade from which on an item is relevant.

        Returns:
            A view; nothing is copied.
        """
        return dataclasses.replace(self, relevance=Relevance(rel, strict=False))

    def with_grades(self, rows: Floats, gold: Floats) -> Judged:
        """
        Return the same columns with other grades.

        Args:
            rows: One grade for each judged row.

            gold: One grade for each gold row.

        Returns:
            A view; nothing else is copied.
        """
        return dataclasses.replace(self, rows=self.rows._replace(grade=rows), gold=self.gold._replace(grade=gold))

    def n_gold(self) -> Ints:
        """Return how many relevant gold items each sample has; shape (n,)."""
        return np.bincount(self.gold.sample[self.relevance.of(self.gold.grade)], minlength=self.n)

    def found(self, k: Cutoff | None = None) -> Ints:
        """Return how many distinct relevant gold items were found within the cutoff; shape (n,)."""
        found = self.rows.where(self.first & self.relevance.of(self.rows.grade)).until(k)
        return np.bincount(found.sample, minlength=self.n)

    def relevant_ranks(self, k: Cutoff | None = None) -> Ints:
        """Return how many ranks within the cutoff hold a relevant item; shape (n,)."""
        return np.bincount(_one_a_rank(self._relevant()).until(k).sample, minlength=self.n)

    def judged_ranks(self, k: Cutoff | None = None) -> Ints:
        """Return how many ranks within the cutoff hold an item that the ground truth names; shape (n,)."""
        return np.bincount(_one_a_rank(self.rows).until(k).sample, minlength=self.n)

    def first_rank(self, k: Cutoff | None = None) -> Ints:
        """Return the first rank within the cutoff that holds a relevant item, 0 where none does; shape (n,)."""
        hits = self._relevant().until(k)
        ranks = np.zeros(self.n, dtype=np.int64)
        ranks[hits.sample[::-1]] = hits.rank[::-1]  # the first rank of a sample is written last
        return ranks

    def credits(self, k: Cutoff | None = None) -> Rows:
        """
        Return the rows that earn a gain within the cutoff.

        Each gold item earns once, where it is found first; one result earns at most once, the highest grade that is
        still to be had. With `counts_repeats` a gold item earns wherever it stands.

        Args:
            k: The cutoff; None for none.

        Returns:
            Relevant rows only, in order of sample, then rank.
        """
        hits = self._relevant()
        if _same_rank_as_before(hits).any():
            return hits.where(_assign(hits, repeats=self.counts_repeats)).until(k)
        if not self.counts_repeats and not self.first.all():
            hits = self.rows.where(self.first & self.relevance.of(self.rows.grade))
        return hits.until(k)

    def ideal(self, k: Cutoff | None = None) -> Rows:
        """Return the rows of the best possible order of the relevant gold items, cut at *k*."""
        return self.gold.where(self.relevance.of(self.gold.grade)).best_first().until(k)

    def sum(self, rows: Rows, values: Floats) -> Scores:
        """
        Add values by sample, in rank order.

        Args:
            rows: The rows that the values belong to.

            values: Shape (rows,).

        Returns:
            Shape (n,); 0 for a sample without rows.
        """
        return np.bincount(rows.sample, weights=values, minlength=self.n).astype(np.float64, copy=False)

    def gain_matrix(self, k: Cutoff | None = None) -> Floats:
        """
        Return the gains as a dense table.

        Args:
            k: The cutoff; None for none.

        Returns:
            Shape (n, deepest rank in use): the gain earned at each rank, 0 elsewhere and beyond a sample's own cutoff.
        """
        widest = int(self.depth.max(initial=0))
        return _dense(self.credits(k), self.n, widest if k is None else min(widest, int(np.max(k, initial=0))))

    def ideal_matrix(self, k: Cutoff | None = None) -> Floats:
        """
        Return the gains of the best possible order as a dense table.

        Args:
            k: The cutoff; None for none.

        Returns:
            Shape (n, most gold items in use), descending in each row, 0 elsewhere.
        """
        ideal = self.ideal(k)
        return _dense(ideal, self.n, int(ideal.rank.max(initial=0)))

    def take(self, samples: Sequence[int] | Ints) -> Judged:
        """
        Return the judged rows of some samples, renumbered.

        Args:
            samples: Which samples, from 0, in the order wanted.

        Returns:
            A new batch of ``len(samples)`` samples.
        """
        chosen = np.asarray(samples, dtype=np.int64)
        rows, row_samples = _gather(self.rows.sample, chosen)
        gold, gold_samples = _gather(self.gold.sample, chosen)
        place = np.zeros(len(self.gold.sample), dtype=np.int64)
        place[gold] = np.arange(len(gold))
        return Judged(
            n=len(chosen),
            depth=self.depth[chosen],
            rows=Rows(row_samples, self.rows.rank[rows], self.rows.grade[rows], place[self.rows.gold[rows]]),
            first=self.first[rows],
            score=self.score[rows],
            gold=Rows(gold_samples, self.gold.rank[gold], self.gold.grade[gold], np.arange(len(gold))),
            times=self.times[gold],
            graded=self.graded[chosen],
            relevance=self.relevance,
            counts_repeats=self.counts_repeats,
        )

    def sample(self, index: int) -> JudgedSample:
        """
        Return one sample in plain Python values, for metrics written for one ranking.

        Args:
            index: Which sample, from 0.

        Returns:
            Its ranks, gains and ground truth.
        """
        one = self.take([index])
        depth = int(one.depth[0])
        grades: list[float | None] = [None] * depth
        for rank, grade in zip(one.rows.rank.tolist(), one.rows.grade.tolist(), strict=True):
            held = grades[rank - 1]
            grades[rank - 1] = grade if held is None else max(held, grade)
        gains = [0.0] * depth
        earned = one.credits()
        for rank, grade in zip(earned.rank.tolist(), earned.grade.tolist(), strict=True):
            gains[rank - 1] = grade
        relevant = [grade is not None and one.relevance.holds(grade) for grade in grades]
        return JudgedSample(
            depth=depth,
            grades=tuple(grades),
            gains=tuple(gains),
            relevant=tuple(relevant),
            gold=tuple(sorted(one.gold.grade.tolist(), reverse=True)),
            n_gold=int(one.n_gold()[0]),
        )

    def _relevant(self) -> Rows:
        return self.rows.where(self.relevance.of(self.rows.grade))


@dataclass(frozen=True, slots=True)
class JudgedSample:
    """
    One judged ranking in plain Python values.

    Attributes:
        depth: How many items were retrieved, after policy.

        grades: The grade at each rank, None where the ground truth does not name the item; `depth` long.

        gains: The gain earned at each rank, 0.0 where none is; `depth` long.

        relevant: Whether each rank holds a relevant item; `depth` long.

        gold: The grades of all gold items, best first.

        n_gold: How many gold items are relevant.
    """

    depth: int
    grades: tuple[float | None, ...]
    gains: tuple[float, ...]
    relevant: tuple[bool, ...]
    gold: tuple[float, ...]
    n_gold: int


def _same_rank_as_before(rows: Rows) -> Flags:
    """Return which rows share sample and rank with the row before them."""
    same = np.zeros(len(rows.sample), dtype=np.bool_)
    same[1:] = (rows.rank[1:] == rows.rank[:-1]) & (rows.sample[1:] == rows.sample[:-1])
    return same


def _one_a_rank(rows: Rows) -> Rows:
    repeated = _same_rank_as_before(rows)
    return rows.where(~repeated) if repeated.any() else rows


def _assign(hits: Rows, *, repeats: bool) -> Ints:
    """
    Give each rank at most one gold item, the best one left, and each gold item at most one rank.

    A partial matching, so what is earned never exceeds the ideal. Only batches in which one text holds several gold
    items come here.
    """
    chosen: list[int] = []
    taken: set[int] = set()
    place: tuple[int, int] | None = None
    best: int | None = None
    samples, ranks, grades, golds = (column.tolist() for column in hits)
    for index, here in enumerate([*zip(samples, ranks, strict=True), None]):
        if here != place:
            if best is not None:
                chosen.append(best)
                taken.add(golds[best])
            place, best = here, None
        if here is None or (golds[index] in taken and not repeats):
            continue
        if best is None or grades[index] > grades[best]:
            best = index
    return np.array(chosen, dtype=np.int64)


def _gather(owners: Ints, samples: Ints) -> tuple[Ints, Ints]:
    """Return the places of the rows that *samples* own, and the new number of each one's sample."""
    starts = np.searchsorted(owners, samples, side="left")
    lengths = np.searchsorted(owners, samples, side="right") - starts
    renumbered = np.repeat(np.arange(len(samples)), lengths)
    within = np.arange(len(renumbered)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return starts[renumbered] + within, renumbered


def _dense(rows: Rows, n: int, width: int) -> Floats:
    table = np.zeros((n, width))
    table[rows.sample, rows.rank - 1] = rows.grade
    return table
