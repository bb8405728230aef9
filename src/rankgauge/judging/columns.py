"""
Columns: collecting judged and gold rows in plain lists, and turning them into a `Judged` at once.
"""

from __future__ import annotations

import numpy as np

from rankgauge.columns import Judged, Rows
from rankgauge.judging.relevance import relevance_of
from rankgauge.policy import Profile

__all__ = ["Columns"]


class Columns:
    """
    Lists that grow while a batch is judged.

    Rows are added in order of sample, then rank; gold in order of sample. What is the same nearly everywhere is kept
    as the exceptions only.

    Attributes:
        depth: One number for each sample.

        gold_count: How many gold items each sample has.

        graded: The samples whose ground truth gives grades.

        gold_grade: One grade for each gold item.

        times: How often a gold item was listed, by its place, where that is not once.

        row_sample: The sample of each judged row.

        row_rank: Its rank, from 1.

        row_grade: Its grade.

        row_gold: The place of its gold item in the batch.

        idle: The places of rows that earn nothing.

        repeats: The places of rows that are not the first to hold their gold item.

        tied: The first and the last rank that a row could take, by its place, where its score ties.

        score: The match score of each judged row; empty where all are 1.
    """

    __slots__ = (
        "depth",
        "gold_count",
        "gold_grade",
        "graded",
        "idle",
        "repeats",
        "row_gold",
        "row_grade",
        "row_rank",
        "row_sample",
        "score",
        "tied",
        "times",
    )

    def __init__(self) -> None:
        self.depth: list[int] = []
        self.gold_count: list[int] = []
        self.graded: list[int] = []
        self.gold_grade: list[float] = []
        self.times: dict[int, int] = {}
        self.row_sample: list[int] = []
        self.row_rank: list[int] = []
        self.row_grade: list[float] = []
        self.row_gold: list[int] = []
        self.idle: list[int] = []
        self.repeats: list[int] = []
        self.score: list[float] = []
        self.tied: dict[int, tuple[int, int]] = {}

    def build(self, profile: Profile) -> Judged:
        """
        Return what was collected.

        Args:
            profile: What counts as relevant, and whether repeated items earn again.

        Returns:
            The batch.
        """
        n, rows, gold = len(self.depth), len(self.row_sample), len(self.gold_grade)
        counts = np.array(self.gold_count, dtype=np.int64)
        gold_sample = np.repeat(np.arange(n), counts)
        gold_place = np.arange(gold)
        times = np.ones(gold, dtype=np.int64)
        if self.times:
            times[list(self.times)] = list(self.times.values())
        first = np.ones(rows, dtype=np.bool_)
        first[self.repeats] = False
        earns = np.ones(rows, dtype=np.bool_)
        earns[self.idle] = False
        ranks = np.array(self.row_rank, dtype=np.int64)
        low = high = None
        if profile.policy.order == "score" and profile.policy.ties == "average":
            low, high = ranks.copy(), ranks.copy()
            if self.tied:
                low[list(self.tied)], high[list(self.tied)] = np.array(list(self.tied.values())).T
        graded = np.zeros(n, dtype=np.bool_)
        graded[self.graded] = True
        return Judged(
            n=n,
            depth=np.array(self.depth, dtype=np.int64),
            rows=Rows(
                np.array(self.row_sample, dtype=np.int64),
                ranks,
                np.array(self.row_grade, dtype=np.float64),
                np.array(self.row_gold, dtype=np.int64),
            ),
            first=first,
            earns=earns,
            score=np.array(self.score, dtype=np.float64) if self.score else np.ones(rows),
            gold=Rows(
                gold_sample,
                gold_place - (np.cumsum(counts) - counts)[gold_sample] + 1,
                np.array(self.gold_grade, dtype=np.float64),
                gold_place,
            ),
            times=times,
            graded=graded,
            relevance=relevance_of(profile),
            counts_repeats=profile.policy.duplicates == "keep",
            low=low,
            high=high,
        )
