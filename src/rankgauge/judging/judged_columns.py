"""
Judged columns: built under a profile from rows, and from lists that grow while samples are judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from rankgauge.columns import Flags, Floats, Ints, Judged, Parts, Rows, intents_of
from rankgauge.columns.judged_rows import nth_of_each, ones
from rankgauge.judging.outputs import Ranking
from rankgauge.judging.ranking import relevance_of
from rankgauge.policy import Profile
from rankgauge.samples import Fault

__all__ = ["FoundRows", "JudgedLists", "judged_under"]


class FoundRows(NamedTuple):
    """
    Judged rows, in order of sample and rank, and a value for each.

    Attributes:
        ties: The first and the last rank that each could take.

        first: Which are the first of their gold item; None if that has to be found.

        earns: Which earn; None for all, or for the first of each gold item if duplicates are credited once.

        score: The match scores; None for 1.
    """

    rows: Rows
    ties: tuple[Ints, Ints] | None = None
    first: Flags | None = None
    earns: Flags | None = None
    score: Floats | None = None

    def by_grade(self, *, best: bool) -> FoundRows:
        """
        Return them in the order in which grades settle ties, at the ranks that they have in it.

        Of a tie from rank *low* to *high* the *best* order has grades of 0 or more first, the highest at rank *low*,
        and those below 0 last; the worst has those below 0 first, and the highest grade at rank *high*. Results that
        have no judgment are between, as grade 0 is.
        """
        if self.ties is None:
            return self
        rows, (low, high) = self.rows, self.ties
        order = np.lexsort((-rows.grade if best else rows.grade, low, rows.sample))
        rows, low, high = rows.where(order), low[order], high[order]
        starts = np.ones(len(order), dtype=np.bool_)
        starts[1:] = (rows.sample[1:] != rows.sample[:-1]) | (low[1:] != low[:-1])
        counts = np.diff(np.append(np.flatnonzero(starts), len(order)))
        place = np.arange(len(order)) - np.repeat(np.flatnonzero(starts), counts)
        after = np.repeat(counts, counts) - 1 - place
        ranks = np.where((rows.grade >= 0) == best, low + place, high - after)
        first, earns = (None if flags is None else flags[order] for flags in (self.first, self.earns))
        score = None if self.score is None else self.score[order]
        return FoundRows(rows._replace(rank=ranks), (low, high), first, earns, score)


def judged_under(
    profile: Profile,
    found: FoundRows,
    *,
    depth: Ints,
    gold: Rows,
    times: Mapping[int, int] = MappingProxyType({}),
    graded: Flags | None = None,
    own_ranks: bool = False,
) -> Judged:
    """
    Return judged rows as metrics read them.

    Gold items are listed once, but for those that *times* names, and samples are *graded* unless it is said which are.
    *own_ranks*: whether one result can hold several gold items, which take ranks of their own unless the profile has it
    otherwise.
    """
    if profile.policy.orders_ties_by_grade:
        found = found.by_grade(best=profile.policy.ties == "best")
    rows, ties, first, earns, score = found
    n, n_rows, n_gold = len(depth), len(rows.sample), len(gold.sample)
    if first is None:
        numbers = np.arange(n_rows)
        first_row = np.zeros(n_gold, dtype=np.int64)
        first_row[rows.gold[::-1]] = numbers[::-1]  # rows are in order of rank; a gold item's first is written last
        first = first_row[rows.gold] == numbers
    if earns is None:
        earns = first.copy() if profile.policy.duplicates == "credit-once" else ones(n_rows, np.bool_)
    listed = ones(n_gold, np.int64)
    if times:
        listed = listed.copy()
        listed[list(times)] = list(times.values())
    low, high = ties or (None, None)
    return Judged(
        n=n,
        depth=depth,
        rows=rows,
        first=first,
        earns=earns,
        score=ones(n_rows, np.float64) if score is None else score,
        gold=gold,
        times=listed,
        graded=ones(n, np.bool_) if graded is None else graded,
        relevance=relevance_of(profile),
        counts_repeats=profile.policy.duplicates == "keep",
        low=low,
        high=high,
        own_ranks=own_ranks and profile.own_ranks,
    )


class JudgedLists:
    """
    Lists that grow while samples are judged.

    Rows are added in order of sample, then rank; gold in order of sample. What is the same nearly everywhere is kept
    as the exceptions only.
    """

    def __init__(self) -> None:
        self.depth: list[int] = []  # one number for each sample
        self.n_dropped = 0  # how many items repeat another one of their sample and were dropped
        self.gold_count: list[int] = []  # how many gold items each sample has
        self.graded: list[int] = []  # the samples whose ground truth gives grades
        self.gold_grade: list[float] = []  # one grade for each gold item
        self.times: dict[int, int] = {}  # how often a gold item was listed, by its place, if that is not once
        # the place, sample and id of every gold item whose intents were named, and its gain for each
        self.intents: list[tuple[int, int, bytes, Mapping[str, float]]] = []
        self.row_sample: list[int] = []  # the sample of each judged row
        self.row_rank: list[int] = []  # its rank, from 1
        self.row_gold: list[int] = []  # the place of its gold item in the batch
        # the first and the last rank that it could take; empty if ties are not averaged
        self.row_ties: list[tuple[int, int]] = []
        self.row_idle: list[int] = []  # the places of rows that earn nothing
        self.row_score: list[float] = []  # the match score of each judged row; empty if all are 1
        # sample, rank, gold item, start and end of what results hold of gold items, where rows follow from these
        self.parts: list[tuple[int, int, int, int, int]] = []
        self.gold_size: list[int] = []  # the size of each gold item, in what its parts are measured in
        self.repeats: set[tuple[int, int]] = set()  # samples and ranks of results that repeat another one

    def add_sample(
        self, ranking: Ranking | Fault | None, grades: Sequence[float]
    ) -> tuple[Ranking | None, Fault | None]:
        """
        Add one sample's depth and gold; return its ranking, or why that cannot be judged, if there is gold.

        What cannot be ranked is judged as if nothing were there.
        """
        ranked, fault = (None, ranking) if isinstance(ranking, Fault) else (ranking, None)
        self.depth.append(0 if ranked is None else len(ranked.ids))
        self.gold_count.append(len(grades))
        self.gold_grade += grades
        return ranked, fault if grades else None

    def add_row(self, sample_no: int, rank: int, gold_no: int) -> None:
        """Add a judged row."""
        self.row_sample.append(sample_no)
        self.row_rank.append(rank)
        self.row_gold.append(gold_no)

    def add_parts(self, threshold: float, *, joint: bool) -> Parts:
        """Add the rows that follow from the parts; return these."""
        sample, rank, gold, start, end = np.array(self.parts, dtype=np.int64).reshape(-1, 5).T
        size = np.array(self.gold_size, dtype=np.int64)
        parts = Parts(sample, rank, gold, start, end, size, threshold, joint)
        found = parts.found()
        self.row_sample, self.row_rank = found.sample.tolist(), found.rank.tolist()
        self.row_gold, self.row_score = found.gold.tolist(), found.score.tolist()
        if self.repeats:
            of_rows = zip(self.row_sample, self.row_rank, strict=True)
            self.row_idle = [row for row, place in enumerate(of_rows) if place in self.repeats]
        return parts

    def add_without_gold(self, depth: Sequence[int]) -> None:
        """Add samples without ground truth, each with how many items were judged."""
        self.depth += depth
        self.gold_count += [0] * len(depth)

    def build(self, profile: Profile, *, own_ranks: bool = False) -> Judged:
        """Return what was collected; *own_ranks* as in `judged_under`."""
        n, n_rows = len(self.depth), len(self.row_gold)
        gold_sample = np.arange(n).repeat(self.gold_count)
        first: Flags | None = None
        earns = ones(n_rows, np.bool_)
        if self.row_idle:
            earns = earns.copy()
            earns[self.row_idle] = False
        elif len(set(self.row_gold)) == n_rows:
            first = earns  # as nearly everywhere
        graded = ones(n, np.bool_)
        if len(self.graded) < n:
            graded = np.zeros(n, dtype=np.bool_)
            graded[self.graded] = True
        ties = None
        if profile.policy.settles_ties_late:
            low, high = np.array(self.row_ties, dtype=np.int64).reshape(-1, 2).T
            ties = low, high
        gold_grade, row_gold = np.array(self.gold_grade, dtype=np.float64), np.array(self.row_gold, dtype=np.int64)
        row_sample, row_rank = np.array(self.row_sample, dtype=np.int64), np.array(self.row_rank, dtype=np.int64)
        rows = Rows(row_sample, row_rank, gold_grade[row_gold], row_gold)
        score = np.array(self.row_score, dtype=np.float64) if self.row_score else None
        judged = judged_under(
            profile,
            FoundRows(rows, ties, first, earns, score),
            depth=np.array(self.depth, dtype=np.int64),
            gold=Rows(gold_sample, nth_of_each(gold_sample), gold_grade, np.arange(len(gold_grade))),
            times=self.times,
            graded=graded,
            own_ranks=own_ranks,
        )
        if not self.intents:
            return judged
        items, samples, ids, gains = zip(*self.intents, strict=True)
        intents = intents_of(samples, ids, gains)
        return replace(judged, intents=intents._replace(item=np.array(items, dtype=np.int64)[intents.item]))
