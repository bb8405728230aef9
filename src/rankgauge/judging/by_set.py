"""
Judging by sets: each set is a gold item, found at the rank at which the last of the items that it needs is found.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rankgauge.columns import Judged
from rankgauge.judging.evidence import Evidence, Judge
from rankgauge.judging.judged_columns import JudgedLists
from rankgauge.judging.target import Target
from rankgauge.policy import Profile
from rankgauge.samples import GoldSet, Sample

__all__ = ["SetJudge"]


class SetJudge:
    """Judges the items of sets, and makes gold items of the sets; a set that is never complete has no row."""

    def __init__(self, judge: Judge, target: Target, profile: Profile) -> None:
        self._judge = judge
        self._target = target
        self._profile = profile
        self._sets: list[tuple[GoldSet, ...]] = []
        self._names: list[str] = []  # of the items of all samples
        self._faults: dict[int, str] = {}

    def add(self, samples: Sequence[Sample]) -> None:
        """Judge some more samples, in order of the batch."""
        of_items = self._target.of_items
        for place, sample in enumerate(samples, len(self._sets)):
            expected = self._target.rolled(sample).expected
            self._sets.append(expected.sets_of(of_items.gold))
            self._names += of_items.kind.names(expected)
            if expected.faults is not None and "sets" in expected.faults:
                self._faults[place] = expected.faults["sets"].reason
        self._judge.add(samples)

    def evidence(self) -> Evidence:
        """Return the judged batch."""
        return self._of_sets(self._judge.evidence())

    def _of_sets(self, found: Evidence) -> Evidence:
        faults = {place: reason for place, reason in found.faults.items() if self._sets[place]}
        judged = replace(self._complete(found.judged), shown=found.judged.shown)
        others = None if found.without_places is None else self._of_sets(found.without_places)
        return replace(found, judged=judged, faults={**faults, **self._faults}, without_places=others)

    def _complete(self, judged: Judged) -> Judged:
        """Return what was judged of the items with the sets as gold."""
        lists = JudgedLists()
        lists.depth += judged.depth.tolist()
        ends = np.searchsorted(judged.rows.sample, np.arange(judged.n), side="right").tolist()
        ranks, golds = judged.rows.rank.tolist(), judged.rows.gold.tolist()
        start = 0
        for place, (sets, end) in enumerate(zip(self._sets, ends, strict=True)):
            found = {self._names[golds[row]]: ranks[row] for row in range(end - 1, start - 1, -1)}  # the first stays
            start, first = end, len(lists.gold_grade)
            complete = sorted((each.complete_at(found), number) for number, each in enumerate(sets))
            for rank, number in complete:
                if rank < math.inf:
                    lists.add_row(place, int(rank), first + number)
            lists.gold_count.append(len(sets))
            lists.gold_grade += [1.0] * len(sets)
        return lists.build(self._profile)
