"""
Columns: collecting judged and gold rows in plain lists, and turning them into a `Judged` at once.
"""

from __future__ import annotations

import numpy as np

from rankgauge.judged import Judged, Relevance, Rows

__all__ = ["Columns"]


class Columns:
    """Lists that grow while a batch is judged. Rows are added in order of sample, then rank."""

    __slots__ = (
        "depth",
        "first",
        "gold_grade",
        "gold_place",
        "gold_sample",
        "graded",
        "row_gold",
        "row_grade",
        "row_rank",
        "row_sample",
        "score",
        "times",
    )

    def __init__(self) -> None:
        self.depth: list[int] = []
        self.graded: list[bool] = []
        self.row_sample: list[int] = []
        self.row_rank: list[int] = []
        self.row_grade: list[float] = []
        self.row_gold: list[int] = []
        self.first: list[bool] = []
        self.score: list[float] = []
        self.gold_sample: list[int] = []
        self.gold_place: list[int] = []
        self.gold_grade: list[float] = []
        self.times: list[int] = []

    def build(self, relevance: Relevance, *, counts_repeats: bool) -> Judged:
        """
        Return what was collected.

        Args:
            relevance: From which grade on an item is relevant.

            counts_repeats: Whether a gold item earns again when it is retrieved again.

        Returns:
            The batch.

        """
        return Judged(
            n=len(self.depth),
            depth=np.array(self.depth, dtype=np.int64),
            rows=Rows(
                np.array(self.row_sample, dtype=np.int64),
                np.array(self.row_rank, dtype=np.int64),
                np.array(self.row_grade, dtype=np.float64),
                np.array(self.row_gold, dtype=np.int64),
            ),
            first=np.array(self.first, dtype=np.bool_),
            score=np.array(self.score, dtype=np.float64),
            gold=Rows(
                np.array(self.gold_sample, dtype=np.int64),
                np.array(self.gold_place, dtype=np.int64),
                np.array(self.gold_grade, dtype=np.float64),
                np.arange(len(self.gold_sample)),
            ),
            times=np.array(self.times, dtype=np.int64),
            graded=np.array(self.graded, dtype=np.bool_),
            relevance=relevance,
            counts_repeats=counts_repeats,
        )
