"""
Top: the first results of each judged query of a run, judged or not.

Nothing but these is kept, so memory follows the depth and not the run.
"""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

import numpy as np

from rankgauge.columns import Flags, Ints, Qrels, RankingBatch, Slices
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
    """
    Keeps the first results of each query, batch by batch; rankings are prepared and ordered as for scoring.

    Attributes:
        wanted: Whether each query of the judgments is kept; None for all.
    """

    def __init__(self, qrels: Qrels, policy: Policy, depth: int, *, wanted: Flags | None = None) -> None:
        self.wanted = wanted
        self._qrels = qrels
        self._policy = policy
        self._depth = depth if policy.depth is None else min(depth, policy.depth)
        self._finder = RepeatFinder()
        self._parts: list[tuple[Ints, Ints, list[bytes]]] = []

    def add(self, batch: RankingBatch) -> None:
        """Take some whole queries as they were read."""
        places = self._qrels.places_of(batch.names)
        if (places < 0).any():
            batch, places = batch.of_queries(places >= 0), places[places >= 0]
        pairs = self._qrels.salted(batch.keys, np.repeat(places, batch.lengths))
        self.take(places, settle(batch, pairs, self._policy, self._finder.find).batch)

    def take(self, places: Ints, batch: RankingBatch) -> None:
        """Take some whole judged queries that `settle` has prepared; from any thread."""
        if self.wanted is not None:
            own = self.wanted[places]
            batch, places = batch.of_queries(own), places[own]
        ranks = ranks_of(batch, np.arange(len(batch.scores)), by_id=self._policy.ties != "given").rank
        kept = np.flatnonzero(ranks <= self._depth)
        documents = batch.documents.at(kept).texts()  # copies, so that the batch can go
        self._parts.append((places[batch.owners()[kept]], ranks[kept], documents))

    def clear(self) -> None:
        """Forget what was taken, for a run that has to be read in another way."""
        self._parts.clear()

    def finish(self) -> Top:
        """Return what was kept."""
        none = np.empty(0, dtype=np.int64)
        places = np.concatenate([none, *(part[0] for part in self._parts)])
        ranks = np.concatenate([none, *(part[1] for part in self._parts)])
        order = np.lexsort((ranks, places))
        return Top(
            places[order], ranks[order], Slices.of(chain.from_iterable(part[2] for part in self._parts)).at(order)
        )
