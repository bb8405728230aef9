"""
Top: the first results of each judged query of a run, judged or not.

Nothing but these is kept, so memory follows the depth and not the run.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankgauge.columns import Ints, Qrels, RankingBatch, Slices
from rankgauge.judging.ranking import settle
from rankgauge.judging.ranks import ranks_of
from rankgauge.judging.repeats import RepeatFinder
from rankgauge.policy import Policy

__all__ = ["Top", "TopCollector"]


class Top(NamedTuple):
    """
    The first results of each judged query, in order of query and rank.

    Attributes:
        places: The query of each row, as its place in the judgments.

        ranks: The rank of each row, from 1.

        documents: The document of each row.
    """

    places: Ints
    ranks: Ints
    documents: Slices

    def of_queries(self, first: int, last: int) -> list[tuple[int, int, bytes]]:
        """Return place, rank and document of every row of the queries from *first* up to, but not including, *last*."""
        rows = slice(*np.searchsorted(self.places, (first, last)).tolist())
        columns = (self.places[rows].tolist(), self.ranks[rows].tolist(), self.documents.at(rows).texts())
        return list(zip(*columns, strict=True))


class TopCollector:
    """Keeps the first results of each query, batch by batch; rankings are prepared and ordered as for scoring."""

    def __init__(self, qrels: Qrels, policy: Policy, depth: int) -> None:
        self._qrels = qrels
        self._policy = policy
        self._depth = depth if policy.depth is None else min(depth, policy.depth)
        self._finder = RepeatFinder()
        self._places: list[Ints] = []
        self._ranks: list[Ints] = []
        self._documents: list[bytes] = []

    def add(self, batch: RankingBatch) -> None:
        """Take some whole queries."""
        places = self._qrels.places_of(batch.names)
        if (places < 0).any():
            batch, places = batch.of_queries(places >= 0), places[places >= 0]
        pairs = self._qrels.salted(batch.keys, np.repeat(places, batch.lengths))
        batch = settle(batch, pairs, self._policy, self._finder.find).batch
        ranks = ranks_of(batch, np.arange(len(batch.scores)), by_id=self._policy.ties != "given").rank
        kept = np.flatnonzero(ranks <= self._depth)
        self._places.append(places[batch.owners()[kept]])
        self._ranks.append(ranks[kept])
        self._documents += batch.documents.at(kept).texts()  # copies, so that the batch can go

    def finish(self) -> Top:
        """Return what was kept."""
        places = np.concatenate([*self._places, np.empty(0, dtype=np.int64)])
        ranks = np.concatenate([*self._ranks, np.empty(0, dtype=np.int64)])
        order = np.lexsort((ranks, places))
        return Top(places[order], ranks[order], Slices.of(self._documents).at(order))
