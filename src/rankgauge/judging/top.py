"""
The first results of each judged query, and queries as samples, for what looks closely at some of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import chain
from typing import NamedTuple

import numpy as np

from rankgauge.columns import Flags, Ints, Qrels, RankingBatch, RunSource, Slices
from rankgauge.judging.ranking import settle
from rankgauge.judging.ranks import RepeatFinder, ranks_of
from rankgauge.policy import Policy
from rankgauge.samples import Expected, Output, Sample

__all__ = ["Top", "TopCollector", "read_queries"]


class Top(NamedTuple):
    """The first results of each judged query, in order of query and rank."""

    places: Ints  # the query of each row, as its place in the judgments
    ranks: Ints  # the rank of each row, from 1
    documents: Slices  # the document of each row

    def of_queries(self, first: int, last: int) -> list[tuple[int, int, bytes]]:
        """Return place, rank and document of every row of the queries from *first* up to, but not including, *last*."""
        rows = slice(*np.searchsorted(self.places, (first, last)).tolist())
        columns = (self.places[rows].tolist(), self.ranks[rows].tolist(), self.documents.at(rows).texts())
        return list(zip(*columns, strict=True))


class TopCollector:
    """Keeps the first results of each query, batch by batch; rankings are prepared and ordered as for scoring."""

    def __init__(self, qrels: Qrels, policy: Policy, depth: int, *, wanted: Flags | None = None) -> None:
        self.wanted = wanted  # whether each query of the judgments is kept; None for all
        self._qrels = qrels
        self._policy = policy
        self._depth = depth if policy.depth is None else min(depth, policy.depth)
        self._finder = RepeatFinder()
        self._parts: list[tuple[Ints, Ints, list[bytes]]] = []

    def add(self, batch: RankingBatch) -> None:
        """Take some whole queries as they were read."""
        places = self._qrels.places_of(batch.names)
        is_judged = places >= 0
        if not is_judged.all():
            batch, places = batch.of_queries(is_judged), places[is_judged]
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


def read_queries(qrels: Qrels, source: RunSource, wanted: Collection[str]) -> tuple[dict[str, Sample], set[str]]:
    """
    Return some judged queries of a run as samples, by id, and the ids of all queries that the run has.

    A sample scores as its query does (`tests/roads` holds that); one that the run lacks has no output. Where the lines
    of a query are not together, the run is read once more with them grouped, since filters have to see whole queries.
    """
    places = {name: place for place, name in enumerate(qrels.query_names) if name in wanted}
    keys = {qrels.queries[place]: name for name, place in places.items()}
    ids: dict[str, list[str | None]] = {}
    scores: dict[str, list[float | None]] = {}
    seen: set[str] = set()

    def read(batches: Iterable[RankingBatch]) -> bool:
        """Take the queries of a run; return False if one comes again."""
        for batch in batches:
            starts = batch.starts.tolist()
            for query, start, length in zip(batch.queries, starts, batch.lengths.tolist(), strict=True):
                name = keys.get(query)
                seen.add(query.decode("utf-8", "backslashreplace") if name is None else name)
                if name in ids:
                    return False
                if name is not None:
                    rows = np.arange(start, start + length)
                    ids[name] = [_text(document) for document in batch.documents.at(rows).texts()]
                    scores[name] = batch.scores[rows].tolist()
        return True

    if not read(batch for part in source.parts(1) for batch in part):
        ids.clear()
        read(source.grouped())
    ends = np.cumsum(qrels.lengths)
    samples: dict[str, Sample] = {}
    for name, place in places.items():
        own = slice(int(ends[place] - qrels.lengths[place]), int(ends[place]))
        gold = dict(zip(qrels.names[own], qrels.grades[own].tolist(), strict=True))
        output = Output(ids[name], scores=scores[name]) if name in ids else None
        expected = Expected(gold, graded=True, intents=_intents(qrels, own))
        samples[name] = Sample(name, expected=expected, output=output)
    return samples, seen


def _intents(qrels: Qrels, own: slice) -> dict[str, dict[str, float]] | None:
    """Return the grades of a query's documents by intent, whose names sort as the intents are numbered."""
    if qrels.intents is None:
        return None
    found: dict[str, dict[str, float]] = {}
    first, last = np.searchsorted(qrels.intents.item, (own.start, own.stop)).tolist()
    names = qrels.names[own]
    for row in range(first, last):
        by_intent = found.setdefault(names[int(qrels.intents.item[row]) - own.start], {})
        by_intent[f"{int(qrels.intents.intent[row]):09}"] = float(qrels.intents.grade[row])
    return found


def _text(document: bytes) -> str:
    return document.decode("utf-8", "surrogateescape")
