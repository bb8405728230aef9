"""
`Judged`: the columns that every metric reads.

A judged row says: this sample retrieved, at this rank, an item that the ground truth names, with this grade. The
size of a `Judged` follows the judgments, not the rankings, so rankings of any depth stay small. Rows are in order
of sample, then rank; every sum over them is made in that order, so a sample's score never depends on its batch.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from rankgauge.base.frozen import read_only
from rankgauge.columns.judged_rows import (
    ANY_GRADE,
    POSITIVE,
    Cutoff,
    Flags,
    Floats,
    Intents,
    Ints,
    Relevance,
    Rows,
    Scores,
    assign,
    dense,
    gather,
    nth_of_each,
    one_a_rank,
    own_ranked,
)
from rankgauge.columns.parts import Parts
from rankgauge.columns.seen import JudgedSample, Seen, unasked
from rankgauge.columns.stretches import Cover

__all__ = ["Judged"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """
    A batch of samples, judged: which gold item was found at which rank. Its columns are read-only.

    Attributes:
        n: Number of samples.

        depth: How many items each sample retrieved, after policy; shape (n,).

        rows: The judged rows: every retrieved item that the ground truth names, with grades of 0 and below.

        first: Whether a judged row is the first that holds its gold item; shape (rows,).

        earns: Whether a judged row may earn; a repeat under policy `duplicates=credit-once` may not; shape (rows,).

        score: The match score of each judged row, from 0 to 1; shape (rows,).

        gold: The gold rows, one for each item of the ground truth; `rank` is its place there, from 1.

        times: How often each gold item was listed; shape (gold,).

        graded: Whether the ground truth gives grades, rather than a plain list; shape (n,).

        relevance: From which grade on an item is relevant.

        counts_repeats: Whether a gold item earns again when it is retrieved again (policy `duplicates=keep`).

        low: The first rank that each judged row could take in its tie; shape (rows,). None but under `ties=average`.

        high: The last such rank, as `low`.

        intents: Which intents of its query each gold row serves; None if no metric needs it, or none is named.

        shown: What `seen` returns; None if no metric asked.

        cover: Which stretches of documents gold spans and results take up; None if no metric needs it.

        parts: Which parts of gold items results hold, if these find a gold item together; None if each is found
            by one.

        cuts_ideal: Whether a cutoff also cuts the best possible order; not if it stands for a budget.

        own_ranks: Whether gold items that one result holds take ranks of their own in `at_own_ranks`: where ground
            truth is texts or places.
    """

    n: int
    depth: Ints
    rows: Rows
    first: Flags
    earns: Flags
    score: Floats
    gold: Rows
    times: Ints
    graded: Flags
    relevance: Relevance = POSITIVE
    counts_repeats: bool = False
    low: Ints | None = None
    high: Ints | None = None
    intents: Intents | None = None
    shown: Sequence[Seen] | None = None
    cover: Cover | None = None
    parts: Parts | None = None
    cuts_ideal: bool = True
    own_ranks: bool = False
    # what several metrics ask for, computed once
    _known: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        for column in (self.depth, self.first, self.earns, self.score, self.times, self.graded, self.low, self.high):
            if column is not None:
                column.setflags(write=False)
        for table in (self.rows, self.gold, self.intents, self.cover, self.parts):
            if table is not None:
                table.marked()
        if type(self.shown) is list:
            object.__setattr__(self, "shown", tuple(self.shown))  # the class is frozen

    def __reduce__(self) -> tuple[type[Judged], tuple[Any, ...]]:
        return Judged, tuple(getattr(self, each.name) for each in dataclasses.fields(self) if each.init)

    @property
    def seen(self) -> Sequence[Seen]:
        """Return what the metric asked to see of each sample, with ``needs=("texts", ...)``; n of them."""
        if self.shown is None:
            raise unasked("texts")
        return self.shown

    def at_least(self, rel: float) -> Judged:
        """Return the same columns, not copied, where the grade *rel* is the lowest of what is relevant."""
        return dataclasses.replace(self, relevance=Relevance(rel, strict=False))

    def by_gain(self) -> Judged:
        """Return the same columns with every gain above 0 relevant; as they are if no grade is asked for."""
        is_by_gain = self.relevance.strict or self.relevance == ANY_GRADE
        return self if is_by_gain else self._once("by_gain", self._positive)

    def with_grades(self, rows: Floats, gold: Floats) -> Judged:
        """
        Return the same columns with other grades, of which those above 0 are relevant.

        Args:
            rows: One grade for each judged row.

            gold: One grade for each gold row.

        Returns:
            A view; nothing else is copied.
        """
        return dataclasses.replace(
            self, rows=self.rows._replace(grade=rows), gold=self.gold._replace(grade=gold), relevance=POSITIVE
        )

    def scored_above(self, bound: float) -> Judged:
        """Return the same columns, where results with no score above a *bound* count as if they were unjudged."""
        scores = np.fromiter((score for seen in self.seen for score in seen.scores), np.float64)
        starts = np.cumsum([0, *(len(seen.scores) for seen in self.seen)])[:-1]
        kept = scores[starts[self.rows.sample] + self.rows.rank - 1] > bound if len(self.rows.sample) else self.first
        return dataclasses.replace(self, rows=self.rows.where(kept), **self._beside(kept))

    def binary(self) -> Judged:
        """Return the same columns with grade 1 for what is relevant and 0 for the rest."""
        of = self.relevance.of
        return self.with_grades(of(self.rows.grade).astype(np.float64), of(self.gold.grade).astype(np.float64))

    def n_gold(self) -> Ints:
        """Return how many relevant gold items each sample has; shape (n,)."""
        return self._once("n_gold", lambda: read_only(np.bincount(self._wanted().sample, minlength=self.n)))

    def n_listed(self) -> Ints:
        """Return how many relevant gold items each sample lists, repeated ones as often as listed; shape (n,)."""
        relevant = self.relevance.of(self.gold.grade)
        counts = np.bincount(self.gold.sample[relevant], weights=self.times[relevant], minlength=self.n)
        return counts.astype(np.int64)

    def hits(self, k: Cutoff | None = None) -> Rows:
        """Return one relevant row for each rank within the cutoff that holds a relevant item."""
        return self._ranked().until(k)

    def found(self, k: Cutoff | None = None) -> Ints:
        """Return how many distinct relevant gold items were found within the cutoff; shape (n,)."""
        return np.bincount(self.finds(k).sample, minlength=self.n)

    def finds(self, k: Cutoff | None = None) -> Rows:
        """Return the rows within the cutoff at which relevant gold items were found first; `found` counts them."""
        return self._found().until(k)

    def relevant_ranks(self, k: Cutoff | None = None) -> Ints:
        """Return how many ranks within the cutoff hold a relevant item; shape (n,)."""
        return np.bincount(self.hits(k).sample, minlength=self.n)

    def judged_ranks(self, k: Cutoff | None = None, *, at_least: float = -np.inf) -> Ints:
        """
        Return how many ranks within the cutoff hold an item that the ground truth names.

        Args:
            k: The cutoff; None for none.

            at_least: The grade from which on an item counts.

        Returns:
            Shape (n,).
        """
        rows = self.rows if at_least == -np.inf else self.rows.where(self.rows.grade >= at_least)
        return np.bincount(one_a_rank(rows).until(k).sample, minlength=self.n)

    def first_rank(self, k: Cutoff | None = None) -> Ints:
        """Return the first rank within the cutoff that holds a relevant item, 0 if none does; shape (n,)."""
        hits = self._relevant().until(k)
        ranks = np.zeros(self.n, dtype=np.int64)
        ranks[hits.sample[::-1]] = hits.rank[::-1]  # the first rank of a sample is written last
        return ranks

    def credits(self, k: Cutoff | None = None) -> Rows:
        """
        Return the rows that earn a gain within the cutoff.

        Each gold item earns once, where it is found first; one result earns at most once, the highest grade that is
        still to be had. With `counts_repeats` a gold item earns wherever it is.

        Returns:
            Relevant rows only, in order of sample, then rank.
        """
        return self._once("credits", self._earning).until(k)

    def at_own_ranks(self, k: Cutoff | None = None) -> Rows:
        """
        Return the rows that earn a gain within the cutoff, where one result may bring in that of several gold items.

        By id these are `credits`. With `own_ranks`, each gold item that was found takes a rank of its own: the best
        grade first, none above the rank at which it was found, no two the same. So what one result holds is worth as
        much as the same in pieces, one below the other, and never more than the ideal. An item whose own rank is beyond
        *k* earns nothing; under a budget, which limits results, all that was found within it earns.

        Returns:
            Relevant rows only, in order of sample, then own rank, which may be deeper than the ranking; `found_at` has
            the ranks of the results that hold them.
        """
        if not self.own_ranks:
            return self.credits(k)
        if k is not None and not self.cuts_ideal:
            return own_ranked(self._held().until(k))
        return self._once("own", lambda: own_ranked(self._held()).marked()).until(k)

    def found_at(self, rows: Rows) -> Ints:
        """
        Return the rank of the result that holds each of some rows.

        Args:
            rows: What `at_own_ranks` returned.

        Returns:
            Shape (rows,), from 1; by id the rank of each row.
        """
        if not self.own_ranks:
            return rows.rank
        # an item that earns repeatedly has its own ranks in the order of those at which it was found
        held = self._held()
        held_order, order = held.gold.argsort(kind="stable"), rows.gold.argsort(kind="stable")
        golds = rows.gold[order]
        at = np.searchsorted(held.gold[held_order], golds) + nth_of_each(golds) - 1
        ranks = np.empty(len(golds), dtype=np.int64)
        ranks[order] = held.rank[held_order[at]]
        return ranks

    def ideal(self, k: Cutoff | None = None) -> Rows:
        """Return the rows of the best possible order of the relevant gold items, cut at `ideal_cutoff`."""
        return self._once("ideal", lambda: self._wanted().best_first().marked()).until(self.ideal_cutoff(k))

    def ideal_cutoff(self, k: Cutoff | None) -> Cutoff | None:
        """
        Return how many ranks of the best possible order count: *k*, or all of them under a budget.

        A budget becomes a number of ranks of the ranking that was retrieved; how many of another order would fit is not
        known. `ideal` uses this; a metric that makes an ideal of its own calls it.

        Args:
            k: The cutoff that the metric was given.

        Returns:
            A cutoff; None for none.
        """
        return k if self.cuts_ideal else None

    def within(self, fits: Ints) -> Judged:
        """
        Return the same columns for a cutoff that stands for a budget.

        Args:
            fits: How many ranks fit, shape (n,). A sample of which nothing fits is as if it had retrieved nothing.

        Returns:
            A view whose ideal is not cut.
        """
        if (fits > 0).all():
            return dataclasses.replace(self, cuts_ideal=False)
        kept = fits[self.rows.sample] > 0
        seen = None if self.shown is None else zip(self.shown, fits.tolist(), strict=True)
        return dataclasses.replace(
            self,
            depth=np.where(fits > 0, self.depth, 0),
            rows=self.rows.where(kept),
            **self._beside(kept),
            shown=seen if seen is None else [each if fit else each.without_ranks() for each, fit in seen],
            cover=None if self.cover is None else self.cover.kept(fits[self.cover.items.owner] > 0),
            parts=None if self.parts is None else self.parts.where(fits[self.parts.sample] > 0),
            cuts_ideal=False,
        )

    def sum(self, rows: Rows, values: Floats) -> Scores:
        """Add values of rows, shape (rows,), by sample, in rank order; shape (n,), 0 for a sample without rows."""
        return np.bincount(rows.sample, weights=values, minlength=self.n).astype(np.float64, copy=False)

    def gain_matrix(self, k: Cutoff | None = None) -> Floats:
        """Return the gain earned at each rank, 0 elsewhere and beyond its own cutoff; shape (n, deepest rank)."""
        widest = int(self.depth.max(initial=0))
        return dense(self.credits(k), self.n, widest if k is None else min(widest, int(np.max(k, initial=0))))

    def ideal_matrix(self, k: Cutoff | None = None) -> Floats:
        """
        Return the gains of the best possible order, as `gain_matrix`.

        Returns:
            Shape (n, most gold items in use), descending in each row, 0 elsewhere.
        """
        ideal = self.ideal(k)
        return dense(ideal, self.n, int(ideal.rank.max(initial=0)))

    def take(self, samples: Sequence[int] | Ints) -> Judged:
        """Return a batch of some of the samples, given by their places from 0, in the order wanted."""
        chosen = np.asarray(samples, dtype=np.int64)
        rows, row_samples = gather(self.rows.sample, chosen)
        gold, gold_samples = gather(self.gold.sample, chosen)
        place = np.zeros(len(self.gold.sample), dtype=np.int64)
        place[gold] = np.arange(len(gold))
        return Judged(
            n=len(chosen),
            depth=self.depth[chosen],
            rows=Rows(row_samples, self.rows.rank[rows], self.rows.grade[rows], place[self.rows.gold[rows]]),
            **self._beside(rows),
            gold=Rows(gold_samples, self.gold.rank[gold], self.gold.grade[gold], np.arange(len(gold))),
            times=self.times[gold],
            graded=self.graded[chosen],
            relevance=self.relevance,
            counts_repeats=self.counts_repeats,
            intents=None if self.intents is None else self.intents.take(gold),
            shown=None if self.shown is None else [self.shown[place] for place in chosen.tolist()],
            cover=None if self.cover is None else self.cover.take(chosen),
            parts=None if self.parts is None else self.parts.take(chosen, gold),
            cuts_ideal=self.cuts_ideal,
            own_ranks=self.own_ranks,
        )

    def sample(self, index: int) -> JudgedSample:
        """Return one sample, by its place from 0, in plain Python values, for metrics written for one ranking."""
        one = self.take([index])
        depth = int(one.depth[0])
        grades: list[float | None] = [None] * depth
        for rank, grade in zip(one.rows.rank.tolist(), one.rows.grade.tolist(), strict=True):
            grades[rank - 1] = grade if (held := grades[rank - 1]) is None else max(held, grade)
        return JudgedSample(
            depth=depth,
            grades=tuple(grades),
            gains=tuple(one.gain_matrix()[0].tolist()),
            relevant=tuple(grade is not None and one.relevance.holds(grade) for grade in grades),
            gold=tuple(sorted(one.gold.grade.tolist(), reverse=True)),
            n_gold=int(one.n_gold()[0]),
            seen=Seen() if one.shown is None else one.shown[0],
            cuts_ideal=one.cuts_ideal,
        )

    def _beside(self, rows: Flags | Ints) -> dict[str, Any]:
        """Return the columns of some judged rows that are beside `rows`, by name."""
        names = "first", "earns", "score", "low", "high"
        return {name: None if (column := getattr(self, name)) is None else column[rows] for name in names}

    def _relevant(self) -> Rows:
        return self._once("relevant", lambda: self.rows.where(self.earns & self.relevance.of(self.rows.grade)).marked())

    def _earning(self) -> Rows:
        rows = self._relevant()
        if self._ranked() is not rows:
            return rows.where(assign(rows, repeats=self.counts_repeats)).marked()
        return rows if self.counts_repeats or np.count_nonzero(self.first) == len(self.first) else self._found()

    def _held(self) -> Rows:
        """Return the rows that take own ranks: of each relevant gold item the first, or all if each earns."""
        return self._relevant() if self.counts_repeats else self._found()

    def _positive(self) -> Judged:
        differs = POSITIVE.of(self.gold.grade) != self.relevance.of(self.gold.grade)
        return dataclasses.replace(self, relevance=POSITIVE) if np.count_nonzero(differs) else self  # and all it knows

    def _ranked(self) -> Rows:
        return self._once("ranked", lambda: one_a_rank(self._relevant()).marked())

    def _found(self) -> Rows:
        if self.first is self.earns:  # all ones
            return self._relevant()
        return self._once("found", lambda: self.rows.where(self.first & self.relevance.of(self.rows.grade)).marked())

    def _wanted(self) -> Rows:
        return self._once("wanted", lambda: self.gold.where(self.relevance.of(self.gold.grade)).marked())

    def _once(self, name: str, make: Callable[[], T]) -> T:
        found: T | None = self._known.get(name)
        if found is None:
            self._known[name] = found = make()
        return found
